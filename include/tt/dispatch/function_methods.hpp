// Methods of Tensor that are also functions of functions.hpp: x.chunk(2) is tt::chunk(x, 2). (sort, argsort, topk and cumsum: algorithms.hpp.)
#pragma once
#include "tt/dispatch/dtype_arguments.hpp"

namespace tt {

template <class> auto Tensor::options() const { return detail::on_device(dtype(), device()); }
template <class> Tensor Tensor::narrow(int dim, SizeArgument start, SizeArgument length, SourceLine at) const { return tt::narrow(*this, dim, start, length, at); }
template <class> Tensor Tensor::movedim(const IntList& source, const IntList& destination, SourceLine at) const { return tt::movedim(*this, source, destination, at); }
template <class> Tensor Tensor::swapaxes(int axis0, int axis1, SourceLine at) const { return tt::swapaxes(*this, axis0, axis1, at); }
template <class> Tensor Tensor::squeeze(CallLine at) const { return tt::squeeze(*this, {}, at); }
template <class> Tensor Tensor::flatten(int start_dim, int end_dim, SourceLine at) const { return tt::flatten(*this, start_dim, end_dim, at); }
template <class> Tensor Tensor::unflatten(int dim, const IntList& sizes, SourceLine at) const { return tt::unflatten(*this, dim, sizes, at); }
template <class> Tensor Tensor::diagonal(int offset, int dim1, int dim2, SourceLine at) const { return tt::diagonal(*this, offset, dim1, dim2, at); }
template <class> Tensor Tensor::expand_as(const Tensor& o, SourceLine at) const { return expand(o.shape(at), at); }
template <class> Tensor Tensor::reshape_as(const Tensor& o, SourceLine at) const { return reshape(o.shape(at), at); }
template <class> Tensor Tensor::view_as(const Tensor& o, SourceLine at) const { return view(o.shape(at), at); }
template <class> Tensor Tensor::mT(SourceLine at) const { return transpose(-2, -1, at); }
template <class> auto Tensor::split(std::int64_t size, int dim, SourceLine at) const { return tt::split(*this, size, dim, at); }
template <class> auto Tensor::split(const IntList& sizes, int dim, SourceLine at) const { return tt::split(*this, sizes, dim, at); }
template <class> auto Tensor::chunk(int chunks, int dim, SourceLine at) const { return tt::chunk(*this, chunks, dim, at); }
template <class> auto Tensor::unbind(int dim, SourceLine at) const { return tt::unbind(*this, dim, at); }
template <class> Tensor Tensor::repeat(const IntList& repeats, SourceLine at) const { return tt::repeat(*this, repeats, at); }
template <class> Tensor Tensor::tile(const IntList& dims, SourceLine at) const { return tt::tile(*this, dims, at); }
template <class> Tensor Tensor::repeat_interleave(SizeArgument repeats, int dim, SourceLine at) const { return tt::repeat_interleave(*this, repeats, dim, at); }
template <class> Tensor Tensor::flip(const IntList& dims, SourceLine at) const { return tt::flip(*this, dims, at); }
template <class> Tensor Tensor::roll(const IntList& shifts, const IntList& dims, SourceLine at) const { return tt::roll(*this, shifts, dims, at); }

template <class V> Tensor Tensor::masked_fill(const Tensor& mask, const V& value, SourceLine at) const { return tt::masked_fill(*this, mask, value, at); }
template <class> Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source, SourceLine at) const { return tt::masked_scatter(*this, mask, source, at); }
template <class S> Tensor Tensor::scatter(int dim, const Tensor& index, const S& src, SourceLine at) const { return tt::scatter(*this, dim, index, src, at); }
template <class> Tensor Tensor::scatter_add(int dim, const Tensor& index, const Tensor& src, SourceLine at) const { return tt::scatter_add(*this, dim, index, src, at); }
template <class> Tensor Tensor::index_add(int dim, const Tensor& index, const Tensor& source, SourceLine at) const { return tt::index_add(*this, dim, index, source, at); }
template <class> Tensor Tensor::index_copy(int dim, const Tensor& index, const Tensor& source, SourceLine at) const { return tt::index_copy(*this, dim, index, source, at); }
template <class> Tensor Tensor::index(std::initializer_list<IndexItem> items, SourceLine at) const { return tt::index(*this, std::span(items.begin(), items.size()), at); }
template <class V> Tensor& Tensor::index_put_(std::initializer_list<IndexItem> items, const V& value, bool accumulate, SourceLine at) {
  detail::write_index(*this, std::span(items.begin(), items.size()), detail::TensorOperand(value, at), accumulate, at);
  return *this;
}
template <class> Tensor Tensor::index_put(std::initializer_list<Tensor> indices, const Tensor& values, bool accumulate, SourceLine at) const {
  return tt::index_put(*this, std::span(indices.begin(), indices.size()), values, accumulate, at);
}
template <class> Tensor Tensor::take(const Tensor& index, SourceLine at) const { return tt::take(*this, index, at); }

template <class> Tensor Tensor::prod(SourceLine at) const { return tt::prod(*this, at); }
template <class> Tensor Tensor::prod(int dim, bool keepdim, SourceLine at) const { return tt::prod(*this, dim, keepdim, at); }
template <class> Tensor Tensor::cumprod(int dim, SourceLine at) const { return tt::cumprod(*this, dim, at); }
template <class> Tensor Tensor::median(SourceLine at) const { return tt::median(*this, at); }
template <class> MinMaxResult Tensor::median(int dim, bool keepdim, SourceLine at) const { return tt::median(*this, dim, keepdim, at); }
template <class Q> Tensor Tensor::quantile(const Q& q, SourceLine at) const { return tt::quantile(*this, q, {}, false, "linear", at); }
template <class Q> Tensor Tensor::quantile(const Q& q, int dim, bool keepdim, const char* interpolation, SourceLine at) const { return tt::quantile(*this, q, dim, keepdim, interpolation, at); }
template <class Q> Tensor Tensor::nanquantile(const Q& q, SourceLine at) const { return tt::nanquantile(*this, q, {}, false, "linear", at); }
template <class Q> Tensor Tensor::nanquantile(const Q& q, int dim, bool keepdim, const char* interpolation, SourceLine at) const { return tt::nanquantile(*this, q, dim, keepdim, interpolation, at); }
template <class> bool Tensor::is_same_size(const Tensor& o, SourceLine at) const { return tt::is_same_size(*this, o, at); }
template <class> Tensor Tensor::nansum(const IntList& dims, bool keepdim, SourceLine at) const { return tt::nansum(*this, dims, keepdim, at); }
template <class> Tensor Tensor::isnan(SourceLine at) const { return tt::isnan(*this, at); }
template <class> Tensor Tensor::isinf(SourceLine at) const { return tt::isinf(*this, at); }
template <class> Tensor Tensor::isfinite(SourceLine at) const { return tt::isfinite(*this, at); }
template <class> bool Tensor::equal(const Tensor& o, SourceLine at) const { return tt::equal(*this, o, at); }
template <class> bool Tensor::allclose(const Tensor& o, double rtol, double atol, bool equal_nan, SourceLine at) const { return tt::allclose(*this, o, rtol, atol, equal_nan, at); }
template <class L> Tensor Tensor::clamp(const L& low, SourceLine at) const { return tt::clamp_min(*this, low, at); }
template <class L> Tensor Tensor::clamp_min(const L& low, SourceLine at) const { return tt::clamp_min(*this, low, at); }
template <class H> Tensor Tensor::clamp_max(const H& high, SourceLine at) const { return tt::clamp_max(*this, high, at); }

template <class> Tensor Tensor::acos(SourceLine at) const { return tt::acos(*this, at); }
template <class> Tensor Tensor::acosh(SourceLine at) const { return tt::acosh(*this, at); }
template <class> Tensor Tensor::asin(SourceLine at) const { return tt::asin(*this, at); }
template <class> Tensor Tensor::asinh(SourceLine at) const { return tt::asinh(*this, at); }
template <class> Tensor Tensor::atan(SourceLine at) const { return tt::atan(*this, at); }
template <class> Tensor Tensor::atanh(SourceLine at) const { return tt::atanh(*this, at); }
template <class> Tensor Tensor::cosh(SourceLine at) const { return tt::cosh(*this, at); }
template <class> Tensor Tensor::sinh(SourceLine at) const { return tt::sinh(*this, at); }
template <class> Tensor Tensor::deg2rad(SourceLine at) const { return tt::deg2rad(*this, at); }
template <class> Tensor Tensor::rad2deg(SourceLine at) const { return tt::rad2deg(*this, at); }
template <class> Tensor Tensor::digamma(SourceLine at) const { return tt::digamma(*this, at); }
template <class> Tensor Tensor::lgamma(SourceLine at) const { return tt::lgamma(*this, at); }
template <class> Tensor Tensor::erfc(SourceLine at) const { return tt::erfc(*this, at); }
template <class> Tensor Tensor::erfinv(SourceLine at) const { return tt::erfinv(*this, at); }
template <class> Tensor Tensor::frac(SourceLine at) const { return tt::frac(*this, at); }
template <class> Tensor Tensor::i0(SourceLine at) const { return tt::i0(*this, at); }
template <class> Tensor Tensor::log10(SourceLine at) const { return tt::log10(*this, at); }
template <class> Tensor Tensor::sinc(SourceLine at) const { return tt::sinc(*this, at); }
template <class> Tensor Tensor::logit(SourceLine at) const { return tt::logit(*this, at); }
template <class> Tensor Tensor::bitwise_not(SourceLine at) const { return tt::bitwise_not(*this, at); }
template <class> Tensor Tensor::absolute(SourceLine at) const { return tt::absolute(*this, at); }
template <class> Tensor Tensor::arccos(SourceLine at) const { return tt::arccos(*this, at); }
template <class> Tensor Tensor::arccosh(SourceLine at) const { return tt::arccosh(*this, at); }
template <class> Tensor Tensor::arcsin(SourceLine at) const { return tt::arcsin(*this, at); }
template <class> Tensor Tensor::arcsinh(SourceLine at) const { return tt::arcsinh(*this, at); }
template <class> Tensor Tensor::arctan(SourceLine at) const { return tt::arctan(*this, at); }
template <class> Tensor Tensor::arctanh(SourceLine at) const { return tt::arctanh(*this, at); }
template <class> Tensor Tensor::fix(SourceLine at) const { return tt::fix(*this, at); }
template <class> Tensor Tensor::negative(SourceLine at) const { return tt::negative(*this, at); }
template <class> Tensor Tensor::positive(SourceLine at) const { return tt::positive(*this, at); }
template <class> Tensor Tensor::sgn(SourceLine at) const { return tt::sgn(*this, at); }
template <class> Tensor Tensor::isposinf(SourceLine at) const { return tt::isposinf(*this, at); }
template <class> Tensor Tensor::isneginf(SourceLine at) const { return tt::isneginf(*this, at); }
template <class> Tensor Tensor::signbit(SourceLine at) const { return tt::signbit(*this, at); }
template <class B> Tensor Tensor::atan2(const B& o, SourceLine at) const { return tt::atan2(*this, o, at); }
template <class B> Tensor Tensor::copysign(const B& o, SourceLine at) const { return tt::copysign(*this, o, at); }
template <class B> Tensor Tensor::fmax(const B& o, SourceLine at) const { return tt::fmax(*this, o, at); }
template <class B> Tensor Tensor::fmin(const B& o, SourceLine at) const { return tt::fmin(*this, o, at); }
template <class B> Tensor Tensor::fmod(const B& o, SourceLine at) const { return tt::fmod(*this, o, at); }
template <class B> Tensor Tensor::remainder(const B& o, SourceLine at) const { return tt::remainder(*this, o, at); }
template <class B> Tensor Tensor::floor_divide(const B& o, SourceLine at) const { return tt::floor_divide(*this, o, at); }
template <class B> Tensor Tensor::heaviside(const B& o, SourceLine at) const { return tt::heaviside(*this, o, at); }
template <class B> Tensor Tensor::hypot(const B& o, SourceLine at) const { return tt::hypot(*this, o, at); }
template <class B> Tensor Tensor::ldexp(const B& o, SourceLine at) const { return tt::ldexp(*this, o, at); }
template <class B> Tensor Tensor::logaddexp(const B& o, SourceLine at) const { return tt::logaddexp(*this, o, at); }
template <class B> Tensor Tensor::logaddexp2(const B& o, SourceLine at) const { return tt::logaddexp2(*this, o, at); }
template <class B> Tensor Tensor::nextafter(const B& o, SourceLine at) const { return tt::nextafter(*this, o, at); }
template <class B> Tensor Tensor::xlogy(const B& o, SourceLine at) const { return tt::xlogy(*this, o, at); }
template <class B> Tensor Tensor::logical_xor(const B& o, SourceLine at) const { return tt::logical_xor(*this, o, at); }
template <class B> Tensor Tensor::bitwise_and(const B& o, SourceLine at) const { return tt::bitwise_and(*this, o, at); }
template <class B> Tensor Tensor::bitwise_or(const B& o, SourceLine at) const { return tt::bitwise_or(*this, o, at); }
template <class B> Tensor Tensor::bitwise_xor(const B& o, SourceLine at) const { return tt::bitwise_xor(*this, o, at); }
template <class B> Tensor Tensor::arctan2(const B& o, SourceLine at) const { return tt::arctan2(*this, o, at); }
template <class B> Tensor Tensor::divide(const B& o, SourceLine at) const { return tt::divide(*this, o, at); }
template <class B> Tensor Tensor::greater(const B& o, SourceLine at) const { return tt::greater(*this, o, at); }
template <class B> Tensor Tensor::greater_equal(const B& o, SourceLine at) const { return tt::greater_equal(*this, o, at); }
template <class B> Tensor Tensor::less(const B& o, SourceLine at) const { return tt::less(*this, o, at); }
template <class B> Tensor Tensor::less_equal(const B& o, SourceLine at) const { return tt::less_equal(*this, o, at); }
template <class B> Tensor Tensor::multiply(const B& o, SourceLine at) const { return tt::multiply(*this, o, at); }
template <class B> Tensor Tensor::not_equal(const B& o, SourceLine at) const { return tt::not_equal(*this, o, at); }
template <class B> Tensor Tensor::subtract(const B& o, SourceLine at) const { return tt::subtract(*this, o, at); }
template <class B> Tensor Tensor::true_divide(const B& o, SourceLine at) const { return tt::true_divide(*this, o, at); }
template <class B> Tensor Tensor::bitwise_left_shift(const B& o, SourceLine at) const { return tt::bitwise_left_shift(*this, o, at); }
template <class B> Tensor Tensor::bitwise_right_shift(const B& o, SourceLine at) const { return tt::bitwise_right_shift(*this, o, at); }
template <class> Tensor Tensor::gcd(const Tensor& o, SourceLine at) const { return tt::gcd(*this, o, at); }
template <class> Tensor Tensor::lcm(const Tensor& o, SourceLine at) const { return tt::lcm(*this, o, at); }
template <class B, class A> requires std::is_arithmetic_v<A> Tensor Tensor::add(const B& o, A alpha, SourceLine at) const { return tt::add(*this, o, alpha, at); }
template <class B, class A> requires std::is_arithmetic_v<A> Tensor Tensor::sub(const B& o, A alpha, SourceLine at) const { return tt::sub(*this, o, alpha, at); }
template <class A> requires std::is_arithmetic_v<A> Tensor& Tensor::add_(const Tensor& o, A alpha, SourceLine at) { return add_(detail::scaled_operand(*this, o, alpha, "add_", at), at); }
template <NumberOrSize B, class A> requires std::is_arithmetic_v<A> Tensor& Tensor::add_(B o, A alpha, SourceLine at) { return add_(detail::scaled_operand(*this, o, alpha, "add_", at), at); }
template <NumberOrSize B, class A> requires std::is_arithmetic_v<A> Tensor& Tensor::sub_(B o, A alpha, SourceLine at) { return sub_(detail::scaled_operand(*this, o, alpha, "sub_", at), at); }
template <class A> requires std::is_arithmetic_v<A> Tensor& Tensor::sub_(const Tensor& o, A alpha, SourceLine at) { return sub_(detail::scaled_operand(*this, o, alpha, "sub_", at), at); }
template <class> Tensor Tensor::igamma(const Tensor& o, SourceLine at) const { return tt::igamma(*this, o, at); }
template <class> Tensor Tensor::igammac(const Tensor& o, SourceLine at) const { return tt::igammac(*this, o, at); }
template <class B> Tensor Tensor::float_power(const B& exponent, SourceLine at) const { return tt::float_power(*this, exponent, at); }
template <class W> Tensor Tensor::lerp(const Tensor& end, const W& weight, SourceLine at) const { return tt::lerp(*this, end, weight, at); }
template <class V> Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, V value, SourceLine at) const { return tt::addcmul(*this, a, b, value, at); }
template <class> Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, double value, SourceLine at) const { return tt::addcdiv(*this, a, b, value, at); }
template <class L, class H> Tensor Tensor::clip(const L& low, const H& high, SourceLine at) const { return tt::clip(*this, low, high, at); }
template <class> Tensor Tensor::nan_to_num(double nan, SourceLine at) const { return tt::nan_to_num(*this, nan, {}, {}, at); }
template <class> Tensor Tensor::nan_to_num(double nan, double posinf, double neginf, SourceLine at) const { return tt::nan_to_num(*this, nan, posinf, neginf, at); }
template <class> Tensor Tensor::hardshrink(double lambd, SourceLine at) const { return tt::hardshrink(*this, lambd, at); }
template <class> Tensor Tensor::prelu(const Tensor& weight, SourceLine at) const { return tt::prelu(*this, weight, at); }
template <class> Tensor Tensor::isclose(const Tensor& o, double rtol, double atol, bool equal_nan, SourceLine at) const { return tt::isclose(*this, o, IscloseOptions{rtol, atol, equal_nan}, at); }
template <class> Tensor Tensor::polygamma(int n, SourceLine at) const { return tt::polygamma(n, *this, at); }
template <class> Tensor Tensor::mvlgamma(int p, SourceLine at) const { return tt::mvlgamma(*this, p, at); }
template <class> auto Tensor::frexp(SourceLine at) const { return tt::frexp(*this, at); }
template <class> Tensor Tensor::half(SourceLine at) const { return to(DType::f16, at); }
template <class> Tensor Tensor::bfloat16(SourceLine at) const { return to(DType::bf16, at); }
template <class> Tensor Tensor::type_as(const Tensor& o, SourceLine at) const { return to(o.dtype(), at).to(o.device(), false, at); }
template <class> Tensor Tensor::broadcast_to(const IntList& size, SourceLine at) const { return expand(size, at); }
template <class> Tensor Tensor::as_strided(const IntList& size, const IntList& stride, SourceLine at) const { return tt::as_strided(*this, size, stride, {}, at); }
template <class> Tensor Tensor::as_strided(const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at) const { return tt::as_strided(*this, size, stride, storage_offset, at); }
template <class> Tensor Tensor::ravel(SourceLine at) const { return tt::ravel(*this, at); }
template <class> Tensor Tensor::angle(SourceLine at) const { return tt::angle(*this, at); }
template <class> Tensor Tensor::as_strided_scatter(const Tensor& src, const IntList& size, const IntList& stride, SourceLine at) const { return tt::as_strided_scatter(*this, src, size, stride, {}, at); }
template <class> Tensor Tensor::as_strided_scatter(const Tensor& src, const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at) const {
  return tt::as_strided_scatter(*this, src, size, stride, storage_offset, at);
}
template <class> Tensor Tensor::fliplr(SourceLine at) const { return tt::fliplr(*this, at); }
template <class> Tensor Tensor::flipud(SourceLine at) const { return tt::flipud(*this, at); }
template <class> Tensor Tensor::swapdims(int dim0, int dim1, SourceLine at) const { return tt::swapdims(*this, dim0, dim1, at); }
template <class> Tensor Tensor::moveaxis(const IntList& source, const IntList& destination, SourceLine at) const { return tt::moveaxis(*this, source, destination, at); }
template <class> Tensor Tensor::adjoint(SourceLine at) const { return transpose(-2, -1, at); }
template <class> Tensor Tensor::mH(SourceLine at) const { return transpose(-2, -1, at); }
template <class> Tensor Tensor::byte(SourceLine at) const { return to(DType::u8, at); }
template <class> Tensor Tensor::conj(SourceLine) const { return *this; }
template <class> Tensor Tensor::real(SourceLine) const { return *this; }
template <class> Tensor Tensor::resolve_conj(SourceLine) const { return *this; }
template <class> Tensor Tensor::resolve_neg(SourceLine) const { return *this; }
template <class> Tensor Tensor::conj_physical(SourceLine at) const { return clone(at); }
template <class> Tensor Tensor::isreal(SourceLine at) const { return tt::isreal(*this, at); }
template <class> Tensor Tensor::narrow_copy(int dim, SizeArgument start, SizeArgument length, SourceLine at) const { return tt::narrow_copy(*this, dim, start, length, at); }
template <class> auto Tensor::unsafe_chunk(int chunks, int dim, SourceLine at) const { return tt::unsafe_chunk(*this, chunks, dim, at); }
template <class> auto Tensor::unsafe_split(std::int64_t split_size, int dim, SourceLine at) const { return tt::unsafe_split(*this, split_size, dim, at); }
template <class> Tensor Tensor::new_empty_strided(const IntList& size, const IntList& stride, SourceLine at) const { return tt::empty_strided(size, stride, detail::on_device(dtype(), device()), at); }
template <class> auto Tensor::geqrf(SourceLine at) const { return linalg::geqrf(*this, at); }
template <class> auto Tensor::histogram(std::int64_t bins, SourceLine at) const { return tt::histogram(*this, bins, 0, 0, {}, false, at); }
template <class> auto Tensor::lu(SourceLine at) const { return linalg::lu_factor(*this, at); }
template <class> Tensor Tensor::lu_solve(const Tensor& LU_data, const Tensor& LU_pivots, SourceLine at) const { return tt::lu_solve(*this, LU_data, LU_pivots, at); }
template <class> Tensor Tensor::orgqr(const Tensor& tau, SourceLine at) const { return tt::orgqr(*this, tau, at); }
template <class> Tensor Tensor::ormqr(const Tensor& tau, const Tensor& other, bool left, bool transpose, SourceLine at) const { return tt::ormqr(*this, tau, other, left, transpose, at); }
template <class> auto Tensor::qr(bool some, SourceLine at) const { return linalg::qr(*this, some ? "reduced" : "complete", at); }
template <class> auto Tensor::svd(bool some, SourceLine at) const { return tt::svd(*this, some, at); }
template <class> auto Tensor::triangular_solve(const Tensor& a, bool upper, bool transpose, bool unitriangular, SourceLine at) const { return tt::triangular_solve(*this, a, upper, transpose, unitriangular, at); }
template <class> Tensor Tensor::diag(int diagonal, SourceLine at) const { return tt::diag(*this, diagonal, at); }
template <class> Tensor Tensor::diagflat(int offset, SourceLine at) const { return tt::diagflat(*this, offset, at); }
template <class> Tensor Tensor::diag_embed(int offset, int dim1, int dim2, SourceLine at) const { return tt::diag_embed(*this, offset, dim1, dim2, at); }
template <class> Tensor Tensor::rot90(int k, const IntList& dims, SourceLine at) const { return tt::rot90(*this, k, dims, at); }
template <std::integral I> auto Tensor::hsplit(I sections, SourceLine at) const { return tt::hsplit(*this, sections, at); }
template <class> auto Tensor::hsplit(const IntList& indices, SourceLine at) const { return tt::hsplit(*this, indices, at); }
template <std::integral I> auto Tensor::vsplit(I sections, SourceLine at) const { return tt::vsplit(*this, sections, at); }
template <class> auto Tensor::vsplit(const IntList& indices, SourceLine at) const { return tt::vsplit(*this, indices, at); }
template <std::integral I> auto Tensor::dsplit(I sections, SourceLine at) const { return tt::dsplit(*this, sections, at); }
template <class> auto Tensor::dsplit(const IntList& indices, SourceLine at) const { return tt::dsplit(*this, indices, at); }
template <std::integral I> auto Tensor::tensor_split(I sections, int dim, SourceLine at) const { return tt::tensor_split(*this, detail::saturated<int>(sections), dim, at); }
template <class> auto Tensor::tensor_split(const IntList& indices, int dim, SourceLine at) const { return tt::tensor_split(*this, indices, dim, at); }
template <class> auto Tensor::split_with_sizes(const IntList& split_sizes, int dim, SourceLine at) const { return tt::split_with_sizes(*this, split_sizes, dim, at); }
template <class> Tensor Tensor::select_scatter(const Tensor& src, int dim, SizeArgument index, SourceLine at) const { return tt::select_scatter(*this, src, dim, index, at); }
template <class> Tensor Tensor::diagonal_scatter(const Tensor& src, int offset, int dim1, int dim2, SourceLine at) const { return tt::diagonal_scatter(*this, src, offset, dim1, dim2, at); }
template <class> Tensor Tensor::slice_scatter(const Tensor& src, int dim, SizeArgument start, SizeArgument end, SizeArgument step, SourceLine at) const { return tt::slice_scatter(*this, src, dim, start, end, step, at); }
template <class> Tensor Tensor::sum_to_size(const IntList& size, SourceLine at) const { return tt::sum_to_size(*this, size, at); }
template <class> Tensor Tensor::new_zeros(const IntList& size, SourceLine at) const { return tt::zeros(size, detail::on_device(dtype(), device()), at); }
template <class> Tensor Tensor::new_ones(const IntList& size, SourceLine at) const { return tt::ones(size, detail::on_device(dtype(), device()), at); }
template <class> Tensor Tensor::new_empty(const IntList& size, SourceLine at) const { return tt::empty(size, detail::on_device(dtype(), device()), at); }
template <class V> Tensor Tensor::new_full(const IntList& size, const V& value, SourceLine at) const { return tt::full(size, value, detail::on_device(dtype(), device()), at); }
template <std::same_as<DType> D> Tensor Tensor::new_zeros(const IntList& size, D dtype, SourceLine at) const { return tt::zeros(size, detail::on_device(dtype, device()), at); }
template <std::same_as<DType> D> Tensor Tensor::new_ones(const IntList& size, D dtype, SourceLine at) const { return tt::ones(size, detail::on_device(dtype, device()), at); }
template <std::same_as<DType> D> Tensor Tensor::new_empty(const IntList& size, D dtype, SourceLine at) const { return tt::empty(size, detail::on_device(dtype, device()), at); }
template <class V, std::same_as<DType> D> Tensor Tensor::new_full(const IntList& size, const V& value, D dtype, SourceLine at) const { return tt::full(size, value, detail::on_device(dtype, device()), at); }
template <class> Tensor Tensor::mm(const Tensor& o, SourceLine at) const { return tt::mm(*this, o, at); }
template <class> Tensor Tensor::bmm(const Tensor& o, SourceLine at) const { return tt::bmm(*this, o, at); }
template <class> Tensor Tensor::mv(const Tensor& o, SourceLine at) const { return tt::mv(*this, o, at); }
template <class> Tensor Tensor::dot(const Tensor& o, SourceLine at) const { return tt::dot(*this, o, at); }
template <class> Tensor Tensor::vdot(const Tensor& o, SourceLine at) const { return tt::vdot(*this, o, at); }
template <class> Tensor Tensor::inner(const Tensor& o, SourceLine at) const { return tt::inner(*this, o, at); }
template <class> Tensor Tensor::outer(const Tensor& o, SourceLine at) const { return tt::outer(*this, o, at); }
template <class> Tensor Tensor::ger(const Tensor& o, SourceLine at) const { return tt::ger(*this, o, at); }
template <class> Tensor Tensor::kron(const Tensor& o, SourceLine at) const { return tt::kron(*this, o, at); }
template <class> Tensor Tensor::cross(const Tensor& o, SourceLine at) const { return tt::cross(*this, o, {}, at); }
template <class> Tensor Tensor::cross(const Tensor& o, int dim, SourceLine at) const { return tt::cross(*this, o, dim, at); }
template <class> Tensor Tensor::addmm(const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) const { return tt::addmm(*this, a, b, beta, alpha, at); }
template <class> Tensor Tensor::addmv(const Tensor& a, const Tensor& v, double beta, double alpha, SourceLine at) const { return tt::addmv(*this, a, v, beta, alpha, at); }
template <class> Tensor Tensor::addr(const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) const { return tt::addr(*this, a, b, beta, alpha, at); }
template <class> Tensor Tensor::addbmm(const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) const { return tt::addbmm(*this, a, b, beta, alpha, at); }
template <class> Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) const { return tt::baddbmm(*this, a, b, beta, alpha, at); }
template <class> Tensor Tensor::det(SourceLine at) const { return tt::det(*this, at); }
template <class> Tensor Tensor::logdet(SourceLine at) const { return tt::logdet(*this, at); }
template <class> Tensor Tensor::inverse(SourceLine at) const { return tt::inverse(*this, at); }
template <class> Tensor Tensor::matrix_exp(SourceLine at) const { return tt::matrix_exp(*this, at); }
template <class> Tensor Tensor::corrcoef(SourceLine at) const { return tt::corrcoef(*this, at); }
template <class> Tensor Tensor::trace(SourceLine at) const { return tt::trace(*this, at); }
template <class> auto Tensor::slogdet(SourceLine at) const { return tt::slogdet(*this, at); }
template <class> Tensor Tensor::pinverse(double rcond, SourceLine at) const { return tt::pinverse(*this, rcond, at); }
template <class> Tensor Tensor::matrix_power(int n, SourceLine at) const { return tt::matrix_power(*this, n, at); }
template <class> Tensor Tensor::cholesky(bool upper, SourceLine at) const { return tt::cholesky(*this, upper, at); }
template <class> Tensor Tensor::cholesky_inverse(bool upper, SourceLine at) const { return tt::cholesky_inverse(*this, upper, at); }
template <class> Tensor Tensor::cholesky_solve(const Tensor& l, bool upper, SourceLine at) const { return tt::cholesky_solve(*this, l, upper, at); }
template <class> Tensor Tensor::cov(int correction, SourceLine at) const { return tt::cov(*this, correction, {}, {}, at); }
template <class> Tensor Tensor::cov(int correction, const Tensor& fweights, const Tensor& aweights, SourceLine at) const { return tt::cov(*this, correction, fweights, aweights, at); }
template <class> Tensor Tensor::norm(double p, const IntList& dim, bool keepdim, SourceLine at) const { return tt::norm(*this, p, dim, keepdim, at); }
template <class> Tensor Tensor::dist(const Tensor& o, double p, SourceLine at) const { return tt::dist(*this, o, p, at); }
template <class> Tensor Tensor::renorm(double p, int dim, double maxnorm, SourceLine at) const { return tt::renorm(*this, p, dim, maxnorm, at); }
template <class> auto Tensor::aminmax(SourceLine at) const { return tt::aminmax(*this, {}, false, at); }
template <class> auto Tensor::aminmax(int dim, bool keepdim, SourceLine at) const { return tt::aminmax(*this, dim, keepdim, at); }
template <class> MinMaxResult Tensor::cummax(int dim, SourceLine at) const { return tt::cummax(*this, dim, at); }
template <class> MinMaxResult Tensor::cummin(int dim, SourceLine at) const { return tt::cummin(*this, dim, at); }
template <class> Tensor Tensor::logcumsumexp(int dim, SourceLine at) const { return tt::logcumsumexp(*this, dim, at); }
template <class> MinMaxResult Tensor::kthvalue(std::int64_t k, int dim, bool keepdim, SourceLine at) const { return tt::kthvalue(*this, k, dim, keepdim, at); }
template <class> MinMaxResult Tensor::mode(int dim, bool keepdim, SourceLine at) const { return tt::mode(*this, dim, keepdim, at); }
template <class> Tensor Tensor::nanmean(const IntList& dims, bool keepdim, SourceLine at) const { return tt::nanmean(*this, dims, keepdim, at); }
template <class> Tensor Tensor::nanmedian(SourceLine at) const { return tt::nanmedian(*this, at); }
template <class> MinMaxResult Tensor::nanmedian(int dim, bool keepdim, SourceLine at) const { return tt::nanmedian(*this, dim, keepdim, at); }
template <class> Tensor Tensor::diff(int n, int dim, SourceLine at) const { return tt::diff(*this, n, dim, {}, {}, at); }
template <class> Tensor Tensor::diff(int n, int dim, const Tensor& prepend, const Tensor& append, SourceLine at) const { return tt::diff(*this, n, dim, prepend, append, at); }
template <class> Tensor Tensor::histc(std::int64_t bins, double min, double max, SourceLine at) const { return tt::histc(*this, bins, min, max, at); }
template <class> Tensor Tensor::bincount(SourceLine at) const { return tt::bincount(*this, {}, 0, at); }
template <class> Tensor Tensor::bincount(const Tensor& weights, std::int64_t minlength, SourceLine at) const { return tt::bincount(*this, weights, minlength, at); }
template <class> Tensor Tensor::msort(SourceLine at) const { return tt::msort(*this, at); }
template <class> auto Tensor::unique(bool sorted, bool return_inverse, bool return_counts, SourceLine at) const { return tt::unique(*this, sorted, return_inverse, return_counts, at); }
template <class> auto Tensor::unique_consecutive(bool return_inverse, bool return_counts, SourceLine at) const { return tt::unique_consecutive(*this, return_inverse, return_counts, {}, at); }
template <class> auto Tensor::unique_consecutive(bool return_inverse, bool return_counts, int dim, SourceLine at) const { return tt::unique_consecutive(*this, return_inverse, return_counts, dim, at); }
template <class> Tensor Tensor::take_along_dim(const Tensor& index, int dim, SourceLine at) const { return tt::take_along_dim(*this, index, dim, at); }
template <class V> Tensor Tensor::index_fill(int dim, const Tensor& index, const V& value, SourceLine at) const { return tt::index_fill(*this, dim, index, value, at); }
template <class> Tensor Tensor::index_reduce(int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self, SourceLine at) const { return tt::index_reduce(*this, dim, index, source, reduce, include_self, at); }
template <class> Tensor Tensor::scatter_reduce(int dim, const Tensor& index, const Tensor& src, ScatterReduction reduce, bool include_self, SourceLine at) const { return tt::scatter_reduce(*this, dim, index, src, reduce, include_self, at); }
template <class> Tensor Tensor::put(const Tensor& index, const Tensor& source, bool accumulate, SourceLine at) const { return tt::put(*this, index, source, accumulate, at); }
template <class> Tensor Tensor::argwhere(SourceLine at) const { return tt::argwhere(*this, at); }
template <class> Tensor Tensor::nonzero_static(SizeArgument size, std::int64_t fill_value, SourceLine at) const { return tt::nonzero_static(*this, size, fill_value, at); }
template <class> Tensor Tensor::bernoulli(SourceLine at) const { return tt::bernoulli(*this, default_generator(), at); }
template <class> Tensor Tensor::multinomial(std::int64_t num_samples, bool replacement, SourceLine at) const { return tt::multinomial(*this, num_samples, replacement, default_generator(), at); }

// ---- forms with other arguments, see function_forms.hpp
template <class> Tensor Tensor::to(Device device, DType dtype, bool non_blocking, bool copy, SourceLine at) const {
  const Tensor r = to(dtype, at).to(device, non_blocking, at);
  return copy && r.is_same(*this) ? clone(at) : r;
}
template <std::same_as<TensorOptions> O> Tensor Tensor::to(const O& options, bool non_blocking, bool copy, SourceLine at) const { return to(detail::beside(*this, options).device, options.dtype.or_else(dtype()), non_blocking, copy, at); }
template <std::same_as<DType> D> Tensor Tensor::view(D dtype, SourceLine at) const { return detail::viewed_as(*this, dtype, at); }
template <class> Tensor Tensor::narrow(int dim, const Tensor& start, SizeArgument length, SourceLine at) const { return tt::narrow(*this, dim, start, length, at); }
template <class> Tensor Tensor::squeeze(const IntList& dim, SourceLine at) const { return dim.size() ? tt::squeeze(*this, dim, at) : *this; }
template <class> Tensor Tensor::repeat_interleave(SizeArgument repeats, SourceLine at) const { return tt::repeat_interleave(*this, repeats, {}, at); }
template <class> Tensor Tensor::repeat_interleave(const Tensor& repeats, SourceLine at) const { return tt::repeat_interleave(*this, repeats, {}, at); }
template <class> Tensor Tensor::repeat_interleave(const Tensor& repeats, int dim, SourceLine at) const { return tt::repeat_interleave(*this, repeats, dim, at); }
template <class R> Tensor Tensor::repeat_interleave(const R& repeats, int dim, std::int64_t output_size, SourceLine at) const { return tt::repeat_interleave(*this, repeats, dim, output_size, at); }
template <std::same_as<Tensor> T> auto Tensor::tensor_split(const T& indices_or_sections, int dim, SourceLine at) const { return tt::tensor_split(*this, indices_or_sections, dim, at); }
template <class S> Tensor Tensor::scatter(int dim, const Tensor& index, const S& src, std::string_view reduce, SourceLine at) const { return tt::scatter(*this, dim, index, src, reduce, at); }
template <class> Tensor Tensor::scatter_reduce(int dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self, SourceLine at) const { return tt::scatter_reduce(*this, dim, index, src, reduce, include_self, at); }
template <class> Tensor Tensor::index_reduce(int dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self, SourceLine at) const { return tt::index_reduce(*this, dim, index, source, reduce, include_self, at); }
template <class A> requires std::is_arithmetic_v<A> Tensor Tensor::index_add(int dim, const Tensor& index, const Tensor& source, A alpha, SourceLine at) const { return tt::index_add(*this, dim, index, source, alpha, at); }
template <class L> requires std::convertible_to<const L&, std::span<const Tensor>> Tensor Tensor::index(const L& indices, SourceLine at) const { return tt::index(*this, TensorSpan(indices), at); }
template <class L> requires std::convertible_to<const L&, std::span<const Tensor>> Tensor Tensor::index_put(const L& indices, const Tensor& values, bool accumulate, SourceLine at) const { return tt::index_put(*this, indices, values, accumulate, at); }
template <class> Tensor Tensor::take_along_dim(const Tensor& index, SourceLine at) const { return tt::take_along_dim(*this, index, at); }
template <std::integral N> Tensor Tensor::round(N decimals, SourceLine at) const { return tt::round(*this, decimals, at); }
template <class B> Tensor Tensor::div(const B& o, std::string_view rounding_mode, SourceLine at) const { return tt::div(*this, o, rounding_mode, at); }
template <class B> Tensor Tensor::divide(const B& o, std::string_view rounding_mode, SourceLine at) const { return tt::div(*this, o, rounding_mode, at); }
template <class B, class A> requires std::is_arithmetic_v<A> Tensor Tensor::subtract(const B& o, A alpha, SourceLine at) const { return tt::sub(*this, o, alpha, at); }
template <class> Tensor Tensor::logit(double eps, SourceLine at) const { return tt::logit(*this, eps, at); }
template <class L> Tensor Tensor::clip(const L& low, SourceLine at) const { return tt::clamp_min(*this, low, at); }
template <class> Tensor Tensor::nan_to_num(double nan, double posinf, SourceLine at) const { return tt::nan_to_num(*this, nan, posinf, {}, at); }
template <class> Tensor Tensor::cov(int correction, const Tensor& fweights, SourceLine at) const { return tt::cov(*this, correction, fweights, {}, at); }
template <class> Tensor Tensor::diff(int n, int dim, const Tensor& prepend, SourceLine at) const { return tt::diff(*this, n, dim, prepend, {}, at); }
template <class> auto Tensor::histogram(SourceLine at) const { return tt::histogram(*this, at); }
template <class> auto Tensor::histogram(const Tensor& bins, SourceLine at) const { return tt::histogram(*this, bins, {}, false, at); }
template <class R> auto Tensor::histogram(std::int64_t bins, const R& range, SourceLine at) const { return tt::histogram(*this, bins, range, {}, false, at); }
template <class> auto Tensor::histogram(const Tensor& bins, const Tensor& weight, bool density, SourceLine at) const { return tt::histogram(*this, bins, weight, density, at); }
template <class R> auto Tensor::histogram(std::int64_t bins, const R& range, const Tensor& weight, bool density, SourceLine at) const { return tt::histogram(*this, bins, range, weight, density, at); }
template <std::same_as<TensorOptions> O> Tensor Tensor::new_zeros(const IntList& size, const O& o, SourceLine at) const { return tt::zeros(size, detail::beside(*this, o), at); }
template <std::same_as<TensorOptions> O> Tensor Tensor::new_ones(const IntList& size, const O& o, SourceLine at) const { return tt::ones(size, detail::beside(*this, o), at); }
template <std::same_as<TensorOptions> O> Tensor Tensor::new_empty(const IntList& size, const O& o, SourceLine at) const { return tt::empty(size, detail::beside(*this, o), at); }
template <class V, std::same_as<TensorOptions> O> Tensor Tensor::new_full(const IntList& size, const V& value, const O& o, SourceLine at) const { return tt::full(size, value, detail::beside(*this, o), at); }
template <std::same_as<TensorOptions> O> Tensor Tensor::new_empty_strided(const IntList& size, const IntList& stride, const O& o, SourceLine at) const { return tt::empty_strided(size, stride, detail::beside(*this, o), at); }
template <std::same_as<DType> D> Tensor Tensor::new_empty_strided(const IntList& size, const IntList& stride, D dtype, SourceLine at) const { return tt::empty_strided(size, stride, detail::on_device(dtype, device()), at); }
template <std::same_as<bool> B> auto Tensor::sort(B stable, int dim, bool descending, SourceLine at) const { return tt::sort(*this, stable, dim, descending, at); }
template <std::same_as<bool> B> Tensor Tensor::argsort(B stable, int dim, bool descending, SourceLine at) const { return tt::argsort(*this, stable, dim, descending, at); }

}  // namespace tt
