// Fourier transforms, by kissfft: Debian's libkissfft-dev, whose header is included; nothing is linked. Names, arguments, defaults and
// scales are torch.fft's and numpy.fft's. A complex Tensor is a real one with a last axis of 2, {real part, imaginary part}, as
// torch.view_as_real gives it; `dim` does not count that axis.
//   Tensor spectrum = tt::fft::rfft(signal);             // (..., n) to (..., n / 2 + 1, 2)
//   Tensor again = tt::fft::irfft(spectrum, 100);        // and back: 100 is n, as n / 2 + 1 does not say whether it is odd
//   Tensor z = tt::complex(re, im), w = tt::fft::fft(z);  // (..., n, 2) to (..., n, 2)
// On Tensors of f32 and f64, computed in f64; differentiable (any order), captured as calls, also by name: tt::call("fft.rfft", {x}).
// The time of a length grows with its large prime factors.
#pragma once
#if !__has_include(<kissfft/kissfft.hh>)
#error "tt/dispatch/fft.hpp needs kissfft/kissfft.hh: install libkissfft-dev"
#endif
#include <cmath>
#include <cstddef>
#include <kissfft/kissfft.hh>
#include <vector>

#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/functions.hpp"
#include "tt/dispatch/index_kernels.hpp"

namespace tt {

/// Real and imaginary parts as one complex Tensor, with a last axis of 2.
inline Tensor complex(const Tensor& real, const Tensor& imag, SourceLine at = here()) { return stack({real, imag}, -1, at); }

namespace fft {
namespace detail {

using Number = std::complex<double>;

/// The transform of one length, kept for the thread's next call: one for each direction, as kissfft 131 does not record a change of direction.
inline const kissfft<double>& plan_of(std::int64_t n, bool inverse) {
  thread_local kissfft<double> forward(1, false), backward(1, true);
  kissfft<double>& plan = inverse ? backward : forward;
  plan.assign(static_cast<std::size_t>(n), inverse);
  return plan;
}
/// Calls f(elements of a row, room for their results) for each row; both have the dtype of the call.
template <class F>
void each_row(Call& c, const Tensor& rows, std::int64_t given, std::int64_t made, const F& f) {
  const std::int64_t count = given > 0 ? rows.impl().numel / given : 0;
  with_dtype(rows.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      for (std::int64_t k = 0; k < count; ++k) f(rows.data_ptr<T>() + k * given, c.result[0].data_ptr<T>() + k * made);
  });
}
inline SizeOption last_size(const Tensor& t) { return t.impl().shape.code[t.dim() - 1]; }
inline SizeOption last_size(const Sym& t) {
  SizeOption n;
  n.extent = t.shape()[t.shape().rank - 1];
  return n;
}
/// A shape with `last` in place of its last `left_out` axes.
inline Shape with_last(const Shape& s, int left_out, std::initializer_list<Extent> last) {
  Shape r;
  for (int k = 0; k < s.rank - left_out; ++k) r.push_back(s[k]);
  for (const Extent n : last) r.push_back(n);
  return r;
}
template <class P>
void write_pair(P* to, const Number& z) {
  to[0] = static_cast<P>(z.real());
  to[1] = static_cast<P>(z.imag());
}

/// The sums over k of x[k] exp(-+2 pi i k t / n), for rows of n pairs. The conjugate transpose is the other direction.
struct Dft {
  struct Options {
    bool inverse = false;
  };
  static constexpr OpInfo info{.name = "_dft", .arguments = "input"};
  static constexpr Batching batching = Batching::in_front;
  static Sym like(const Sym& x, const Options&) { return x; }
  static void kernel(Call& c, const Options& o) {
    const Tensor x = c[0].contiguous(c.at);
    const Shape s = x.impl().shape;
    c.result[0] = Tensor(x.dtype(), s, x.device());
    if (x.is_meta()) return;
    const std::int64_t n = s.code[s.rank - 2];
    std::vector<Number> in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n));
    const auto& plan = plan_of(n, o.inverse);
    each_row(c, x, 2 * n, 2 * n, [&](const auto* from, auto* to) {
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = Number(from[2 * k], from[2 * k + 1]);
      plan.transform(in.data(), out.data());
      for (std::size_t k = 0; k < in.size(); ++k) write_pair(to + 2 * k, out[k]);
    });
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<Dft>(s.at, {!o.inverse}, s.gradient[0]); }
};
struct HalfToReal;
/// The first n / 2 + 1 sums of rows of n reals: the others are their conjugates.
template <class = void>
struct RealToHalf {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "_dft_real_to_half", .arguments = "input"};
  static constexpr Batching batching = Batching::in_front;
  static Sym like(const Sym& x, const Options&) {
    return tt::detail::symbol_like(x, x.dtype(), with_last(x.shape(), 1, {floor_div(last_size(x).extent, 2) + 1, 2}));
  }
  static void kernel(Call& c, const Options&) {
    const Tensor x = c[0].contiguous(c.at);
    const Shape s = x.impl().shape;
    const std::int64_t n = s.code[s.rank - 1], half = n / 2 + 1;
    c.result[0] = Tensor(x.dtype(), with_last(s, 1, {half, 2}), x.device());
    if (x.is_meta()) return;
    const bool even = n % 2 == 0;  // two reals as one complex number
    std::vector<double> reals(static_cast<std::size_t>(n));
    std::vector<Number> in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n) + 1);
    const auto& plan = plan_of(even ? n / 2 : n, false);
    each_row(c, x, n, 2 * half, [&](const auto* from, auto* to) {
      if (even) {
        std::copy(from, from + n, reals.begin());
        plan.transform_real(reals.data(), out.data());
        out[static_cast<std::size_t>(n / 2)] = out[0].imag();  // the last of the sums is real, and kept there
        out[0] = out[0].real();
      } else {
        std::copy(from, from + n, in.begin());
        plan.transform(in.data(), out.data());
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(half); ++k) write_pair(to + 2 * k, out[k]);
    });
  }
  static void derivative(const auto& s, const Options&) {
    s.out[0] = call_with<HalfToReal>(s.at, {last_size(s.argument[0])}, s.gradient[0]);
  }
};
/// RealToHalf transposed: the real parts of n inverse sums, over the first n / 2 + 1 pairs alone.
struct HalfToReal {
  struct Options {
    SizeOption n;
  };
  static constexpr OpInfo info{.name = "_dft_half_to_real", .arguments = "input, .n"};
  static constexpr Batching batching = Batching::in_front;
  static Sym like(const Sym& x, const Options& o) { return tt::detail::symbol_like(x, x.dtype(), with_last(x.shape(), 2, {o.n.extent})); }
  static void kernel(Call& c, const Options& o) {
    const Tensor x = c[0].contiguous(c.at);
    const Shape s = x.impl().shape;
    const std::int64_t n = o.n.extent.code, half = s.code[s.rank - 2];
    c.result[0] = Tensor(x.dtype(), with_last(s, 2, {n}), x.device());
    if (x.is_meta()) return;
    std::vector<Number> in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n));
    const auto& plan = plan_of(n, true);
    each_row(c, x, 2 * half, n, [&](const auto* from, auto* to) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(half); ++k) in[k] = Number(from[2 * k], from[2 * k + 1]);
      plan.transform(in.data(), out.data());
      for (std::size_t k = 0; k < out.size(); ++k) to[k] = static_cast<std::remove_reference_t<decltype(*to)>>(out[k].real());
    });
  }
  static void derivative(const auto& s, const Options&) { s.out[0] = call_with<RealToHalf<>>(s.at, {}, s.gradient[0]); }
};

/// The operand of a transform, cut or filled with zeros to length n along its axis.
struct Signal {
  Tensor x;
  int axis;
  std::int64_t n;
};
inline Signal signal_of(const Tensor& given, Optional<std::int64_t> n, int dim, bool complex, const char* name, SourceLine at, std::int64_t stored = 0) {
  Tensor x = is_floating(given.dtype()) ? given : given.to(DType::f32, at);
  if (compute_dtype(x.dtype()) != x.dtype()) TT_THROW(Error(Text("tt::fft::") << name << ": dtype is not accepted: " << tt::name(x.dtype()) << "." << at));
  const int axes = x.dim() - (complex ? 1 : 0);
  if (axes < 1 || (complex && x.size(-1, at) != 2))
    TT_THROW(Error(Text("tt::fft::") << name << ": a " << (complex ? "complex signal is real with a last axis of 2" : "signal has an axis") << ", and this is of shape " << x.shape() << "." << at));
  if (dim < -axes || dim >= axes) TT_THROW(Error(Text("tt::fft::") << name << ": axis " << dim << " is none of " << axes << " of shape " << x.shape() << "." << at));
  const int axis = dim < 0 ? dim + axes : dim;
  const std::int64_t have = x.size(axis, at);
  // Of the sums of a real signal of length n, n / 2 + 1 are stored.
  const std::int64_t length = n.given ? n.value : stored ? 2 * (have - 1) : have, want = stored ? length / 2 + 1 : length;
  if (length < 1) TT_THROW(Error(Text("tt::fft::") << name << ": a signal of " << length << " values." << at));
  if (want < have) x = x.slice(axis, 0, want, 1, at);
  if (want > have) {
    IntList sizes;
    for (int k = 0; k < x.dim(); ++k) sizes.push_back(k == axis ? Size(want - have) : x.size(k, at));
    x = cat({x, zeros(sizes, TensorOptions{.dtype = x.dtype(), .device = x.device()}, at)}, axis, at);
  }
  return {x, axis, length};
}
inline Tensor scaled(const Tensor& y, std::int64_t n, bool inverse, std::string_view norm, const char* name, SourceLine at) {
  const double count = static_cast<double>(n);
  if (norm == "ortho") return y / std::sqrt(count);
  if (norm == (inverse ? "backward" : "forward")) return y / count;
  if (norm != "backward" && norm != "forward") TT_THROW(Error(Text("tt::fft::") << name << ": the norm is none of backward, ortho, forward." << at));
  return y;
}
inline Tensor one(const Tensor& given, Optional<std::int64_t> n, int dim, std::string_view norm, bool inverse, const char* name, SourceLine at) {
  const Signal s = signal_of(given, n, dim, true, name, at);
  const int last = s.x.dim() - 2;
  const Tensor y = call_with<Dft>(at, {inverse}, s.x.transpose(s.axis, last, at));
  return scaled(y.transpose(s.axis, last, at), s.n, inverse, norm, name, at);
}
inline Tensor conjugate(const Tensor& z, SourceLine at) { return z * tensor({1.0, -1.0}, TensorOptions{.dtype = z.dtype(), .device = z.device()}, at); }
inline std::string_view other(std::string_view norm) { return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm; }

/// Axes and lengths of a transform over several.
struct Axes {
  std::vector<int> dim;
  std::vector<Optional<std::int64_t>> n;
};
inline Axes axes_of(const Tensor& x, const IntList& s, const IntList& dim, bool complex, const char* name, SourceLine at) {
  const int axes = x.dim() - (complex ? 1 : 0);
  Axes a;
  if (s.size() > 0 && dim.size() > 0 && s.size() != dim.size()) TT_THROW(Error(Text("tt::fft::") << name << ": " << s.size() << " lengths for " << dim.size() << " axes." << at));
  const int count = dim.size() > 0 ? dim.size() : s.size() > 0 ? s.size() : axes;
  for (int k = 0; k < count; ++k) {
    a.dim.push_back(dim.size() > 0 ? static_cast<int>(std::int64_t{dim[k]}) : axes - count + k);
    a.n.push_back(s.size() > 0 && std::int64_t{s[k]} >= 0 ? Optional<std::int64_t>(std::int64_t{s[k]}) : Optional<std::int64_t>());
  }
  return a;
}
}  // namespace detail

// ---- of complex signals, (..., n, 2): along `dim`, cut or filled with zeros to length n. norm, the divisor: "backward": n for the inverse;
// "ortho": sqrt(n) for both; "forward": n for the forward transform. Throw Error for other shapes, dtypes and norms.
inline Tensor fft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) { return detail::one(input, n, dim, norm, false, "fft", at); }
inline Tensor ifft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) { return detail::one(input, n, dim, norm, true, "ifft", at); }
// ---- of real signals, (..., n), to half of their sums, (..., n / 2 + 1, 2), as the others are conjugates; and back
inline Tensor rfft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Signal s = detail::signal_of(input, n, dim, false, "rfft", at);
  const int last = s.x.dim() - 1;
  const Tensor y = call_with<detail::RealToHalf<>>(at, {}, s.x.transpose(s.axis, last, at));
  return detail::scaled(y.transpose(s.axis, last, at), s.n, false, norm, "rfft", at);
}
inline Tensor irfft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Signal s = detail::signal_of(input, n, dim, true, "irfft", at, 1);
  const int last = s.x.dim() - 2;
  const Tensor place = arange(s.x.size(s.axis, at)), twice = tt::logical_and(place > 0, place * 2 != s.n, at).to(s.x.dtype(), at) + 1;  // 2 if also for their conjugates
  const Tensor y = call_with<detail::HalfToReal>(at, {s.n}, s.x.transpose(s.axis, last, at) * twice.to(s.x.device(), false, at).unsqueeze(-1, at));
  return detail::scaled(y.transpose(s.axis, last, at), s.n, true, norm, "irfft", at);
}
/// From half of a Hermitian symmetric signal, (..., n / 2 + 1, 2), to its sums, which are real; and back.
inline Tensor hfft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) { return irfft(detail::conjugate(input, at), n, dim, detail::other(norm), at); }
inline Tensor ihfft(const Tensor& input, Optional<std::int64_t> n = {}, int dim = -1, std::string_view norm = "backward", SourceLine at = here()) { return detail::conjugate(rfft(input, n, dim, detail::other(norm), at), at); }

// ---- over several axes: those in `dim`, else the last s.size(), else all. A length of -1: that of the operand.
inline Tensor fftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Axes a = detail::axes_of(input, s, dim, true, "fftn", at);
  Tensor x = input;
  for (std::size_t k = a.dim.size(); k-- > 0;) x = fft(x, a.n[k], a.dim[k], norm, at);
  return x;
}
inline Tensor ifftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Axes a = detail::axes_of(input, s, dim, true, "ifftn", at);
  Tensor x = input;
  for (std::size_t k = a.dim.size(); k-- > 0;) x = ifft(x, a.n[k], a.dim[k], norm, at);
  return x;
}
inline Tensor rfftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Axes a = detail::axes_of(input, s, dim, false, "rfftn", at);
  if (a.dim.empty()) TT_THROW(Error(Text("tt::fft::rfftn: there is no axis.") << at));
  Tensor x = rfft(input, a.n.back(), a.dim.back(), norm, at);
  for (std::size_t k = a.dim.size() - 1; k-- > 0;) x = fft(x, a.n[k], a.dim[k], norm, at);
  return x;
}
inline Tensor irfftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) {
  const detail::Axes a = detail::axes_of(input, s, dim, true, "irfftn", at);
  if (a.dim.empty()) TT_THROW(Error(Text("tt::fft::irfftn: there is no axis.") << at));
  Tensor x = input;
  for (std::size_t k = 0; k + 1 < a.dim.size(); ++k) x = ifft(x, a.n[k], a.dim[k], norm, at);
  return irfft(x, a.n.back(), a.dim.back(), norm, at);
}
inline Tensor fft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return fftn(input, s, dim, norm, at); }
inline Tensor ifft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return ifftn(input, s, dim, norm, at); }
inline Tensor rfft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return rfftn(input, s, dim, norm, at); }
inline Tensor irfft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return irfftn(input, s, dim, norm, at); }
/// From half of a signal that is Hermitian symmetric along all of the axes to its sums, which are real; and back.
inline Tensor hfftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) { return irfftn(detail::conjugate(input, at), s, dim, detail::other(norm), at); }
inline Tensor ihfftn(const Tensor& input, const IntList& s = {}, const IntList& dim = {}, std::string_view norm = "backward", SourceLine at = here()) { return detail::conjugate(rfftn(input, s, dim, detail::other(norm), at), at); }
inline Tensor hfft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return hfftn(input, s, dim, norm, at); }
inline Tensor ihfft2(const Tensor& input, const IntList& s = {}, const IntList& dim = {-2, -1}, std::string_view norm = "backward", SourceLine at = here()) { return ihfftn(input, s, dim, norm, at); }

/// The frequencies of n sums in cycles per unit, for samples d units apart: 0, 1, ..., -2, -1 over n d. rfftfreq: of the n / 2 + 1 sums of a
/// real signal, 0, 1, ... over n d.
inline Tensor fftfreq(std::int64_t n, double d = 1, TensorOptions o = {}, SourceLine at = here()) {
  const Tensor k = arange(n), place = tt::where(k < (n + 1) / 2, k, k - n, at);
  return (place.to(DType::f64, at) / (static_cast<double>(n) * d)).to(o.dtype, at);
}
inline Tensor rfftfreq(std::int64_t n, double d = 1, TensorOptions o = {}, SourceLine at = here()) { return (arange(n / 2 + 1).to(DType::f64, at) / (static_cast<double>(n) * d)).to(o.dtype, at); }
/// Shifts frequency 0 to the middle of these axes (default: all), and back. The last axis of a complex Tensor counts: name the others.
inline Tensor fftshift(const Tensor& input, IntList dim = {}, SourceLine at = here());
inline Tensor ifftshift(const Tensor& input, IntList dim = {}, SourceLine at = here());

namespace detail {
inline Tensor shifted(const Tensor& x, IntList dim, bool back, SourceLine at) {
  IntList by;
  if (dim.size() == 0)
    for (int k = 0; k < x.dim(); ++k) dim.push_back(k);
  for (int k = 0; k < dim.size(); ++k) {
    const std::int64_t n = x.size(static_cast<int>(std::int64_t{dim[k]}), at);
    by.push_back(back ? (n + 1) / 2 : n / 2);
  }
  return roll(x, by, dim, at);
}
template <auto F>
void register_along(const char* name) {
  register_function(name, "Tensor input, int? n=None, int dim=-1, str? norm=None", [](const Tensor& x, Optional<std::int64_t> n, int dim, const BoxedValue& norm, SourceLine at) {
    return F(x, n, dim, norm.is_none() ? "backward" : norm.text(), at);
  });
}
template <auto F>
void register_over(const char* name, const char* schema = "Tensor input, int[]? s=None, int[]? dim=None, str? norm=None") {
  register_function(name, schema, [](const Tensor& x, const IntList& s, const IntList& dim, const BoxedValue& norm, SourceLine at) {
    return F(x, s, dim, norm.is_none() ? "backward" : norm.text(), at);
  });
}
inline int register_names() {
  register_along<&tt::fft::fft>("fft_fft");
  register_along<&tt::fft::ifft>("fft_ifft");
  register_along<&tt::fft::rfft>("fft_rfft");
  register_along<&tt::fft::irfft>("fft_irfft");
  register_along<&tt::fft::hfft>("fft_hfft");
  register_along<&tt::fft::ihfft>("fft_ihfft");
  register_over<&tt::fft::fftn>("fft_fftn");
  register_over<&tt::fft::ifftn>("fft_ifftn");
  register_over<&tt::fft::rfftn>("fft_rfftn");
  register_over<&tt::fft::irfftn>("fft_irfftn");
  register_over<&tt::fft::hfftn>("fft_hfftn");
  register_over<&tt::fft::ihfftn>("fft_ihfftn");
  constexpr const char* planes = "Tensor input, int[]? s=None, int[] dim=[-2,-1], str? norm=None";
  register_over<&tt::fft::fft2>("fft_fft2", planes);
  register_over<&tt::fft::ifft2>("fft_ifft2", planes);
  register_over<&tt::fft::rfft2>("fft_rfft2", planes);
  register_over<&tt::fft::irfft2>("fft_irfft2", planes);
  register_over<&tt::fft::hfft2>("fft_hfft2", planes);
  register_over<&tt::fft::ihfft2>("fft_ihfft2", planes);
  register_function("fft_fftshift", "Tensor input, int[]? dim=None", [](const Tensor& x, const IntList& dim, SourceLine at) { return shifted(x, dim, false, at); });
  register_function("fft_ifftshift", "Tensor input, int[]? dim=None", [](const Tensor& x, const IntList& dim, SourceLine at) { return shifted(x, dim, true, at); });
  return 0;
}
inline const int registered = register_names();
}  // namespace detail

inline Tensor fftshift(const Tensor& input, IntList dim, SourceLine at) { return detail::shifted(input, dim, false, at); }
inline Tensor ifftshift(const Tensor& input, IntList dim, SourceLine at) { return detail::shifted(input, dim, true, at); }

}  // namespace fft
}  // namespace tt
