// Methods of Tensor that are functions of functions.hpp too: x.chunk(2) is tt::chunk(x, 2). (sort, argsort, topk and cumsum: algorithms.hpp.)
#pragma once
#include "tt/dispatch/functions.hpp"

namespace tt {

template <class> Tensor Tensor::narrow(int dim, SizeArgument start, SizeArgument length, SourceLine at) const { return tt::narrow(*this, dim, start, length, at); }
template <class> Tensor Tensor::movedim(const IntList& source, const IntList& destination, SourceLine at) const { return tt::movedim(*this, source, destination, at); }
template <class> Tensor Tensor::swapaxes(int axis0, int axis1, SourceLine at) const { return tt::swapaxes(*this, axis0, axis1, at); }
template <class> Tensor Tensor::squeeze(SourceLine at) const { return tt::squeeze(*this, {}, at); }
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
template <class V> Tensor& Tensor::index_put_(std::initializer_list<IndexItem> items, const V& value, SourceLine at) {
  detail::write_index(*this, std::span(items.begin(), items.size()), detail::as_tensor(value, detail::floating_with(DType::boolean, *this)), at);
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
template <class> Tensor Tensor::nansum(const IntList& dims, bool keepdim, SourceLine at) const { return tt::nansum(*this, dims, keepdim, at); }
template <class> Tensor Tensor::isnan(SourceLine at) const { return tt::isnan(*this, at); }
template <class> Tensor Tensor::isinf(SourceLine at) const { return tt::isinf(*this, at); }
template <class> Tensor Tensor::isfinite(SourceLine at) const { return tt::isfinite(*this, at); }
template <class> bool Tensor::equal(const Tensor& o, SourceLine at) const { return tt::equal(*this, o, at); }
template <class> bool Tensor::allclose(const Tensor& o, double rtol, double atol, bool equal_nan, SourceLine at) const { return tt::allclose(*this, o, rtol, atol, equal_nan, at); }
template <class L> Tensor Tensor::clamp_min(const L& low, SourceLine at) const { return tt::clamp_min(*this, low, at); }
template <class H> Tensor Tensor::clamp_max(const H& high, SourceLine at) const { return tt::clamp_max(*this, high, at); }

}  // namespace tt
