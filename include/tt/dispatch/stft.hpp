// Short-time Fourier transforms of consecutive parts of a signal, and their inverse (torch.stft, torch.istft). Complex values are pairs, a last axis of 2.
//   Tensor s = tt::stft(signal, 512, {.hop_length = 128, .window = tt::windows::hann(512, false)});   tt::istft(s, 512, {...});
#pragma once
#include "tt/dispatch/fft.hpp"

namespace tt {

/// Defaults: parts n_fft / 4 apart, a window of n_fft ones.
struct StftOptions {
  Optional<std::int64_t> hop_length{}, win_length{};
  Tensor window{};                      ///< of win_length elements; centred in n_fft
  bool center = true;                   ///< parts are centred at multiples of hop_length: n_fft / 2 elements of padding on both sides
  PadMode pad_mode = PadMode::reflect;  ///< of that padding
  bool normalized = false;              ///< divided by the root of n_fft
  bool onesided = true;                 ///< only frequencies up to n_fft / 2
};
struct IstftOptions {
  Optional<std::int64_t> hop_length{}, win_length{};
  Tensor window{};
  bool center = true, normalized = false, onesided = true;
  Optional<std::int64_t> length{};      ///< of the signal; default: to the end of the parts
};

namespace detail {
/// The window of a part, padded with zeros to n_fft.
template <class = void>
Tensor window_of_part(const char* op, const Tensor& given, Optional<std::int64_t> win_length, std::int64_t n_fft, const Tensor& like, SourceLine at) {
  const std::int64_t length = win_length.given ? win_length.value : n_fft;
  if (length <= 0 || length > n_fft) TT_THROW(Error(Text("tt::") << op << ": a window of " << length << " elements for parts of " << n_fft << "." << at));
  if (given.defined() && (given.dim() != 1 || given.size(0) != length)) TT_THROW(Error(Text("tt::") << op << ": the window's shape is " << given.shape() << ", not (" << length << ")." << at));
  const Tensor w = given.defined() ? given : ones({length}, on_device(like.dtype(), like.device()), at);
  const std::int64_t left = (n_fft - length) / 2;
  return length == n_fft ? w : pad(w, IntList{left, n_fft - length - left}, PadMode::constant, 0, at);
}
template <class = void>
std::int64_t hop_of(const char* op, Optional<std::int64_t> hop_length, std::int64_t n_fft, SourceLine at) {
  const std::int64_t hop = hop_length.given ? hop_length.value : n_fft / 4;
  if (hop <= 0) TT_THROW(Error(Text("tt::") << op << ": parts are " << hop << " elements apart." << at));
  return hop;
}
}  // namespace detail

/// Of real signals (n) or (B, n): (n_fft / 2 + 1 frequencies, parts, 2) or (B, ...). Throws Error for other ranks and dtypes, and lengths that do not fit.
template <class = void>
Tensor stft(const Tensor& input, std::int64_t n_fft, const StftOptions& o = {}, SourceLine at = here()) {
  if (input.dim() < 1 || input.dim() > 2 || !is_floating(input.dtype())) TT_THROW(Error(Text("tt::stft: of signals (n) or (B, n) of floating numbers, not ") << name(input.dtype()) << ' ' << input.shape() << "." << at));
  if (n_fft <= 0) TT_THROW(Error(Text("tt::stft: parts of ") << n_fft << " elements." << at));
  const std::int64_t hop = detail::hop_of("stft", o.hop_length, n_fft, at);
  const Tensor window = detail::window_of_part("stft", o.window, o.win_length, n_fft, input, at);
  Tensor x = input.dim() == 1 ? input.unsqueeze(0, at) : input;
  if (o.center) x = pad(x.unsqueeze(1, at), IntList{n_fft / 2, n_fft / 2}, o.pad_mode, 0, at).select(1, 0, at);
  if (std::int64_t{x.size(1, at)} < n_fft) TT_THROW(Error(Text("tt::stft: parts of ") << n_fft << " elements in a signal of " << x.size(1, at) << "." << at));
  const Tensor parts = x.unfold(1, n_fft, hop, at) * window;
  const char* const norm = o.normalized ? "ortho" : "backward";
  const Tensor y = (o.onesided ? fft::rfft(parts, {}, -1, norm, at) : fft::fft(stack({parts, zeros_like(parts)}, -1, at), {}, -1, norm, at)).transpose(1, 2, at);
  return input.dim() == 1 ? y.select(0, 0, at) : y;
}
/// The inverse of stft: (frequencies, parts, 2) or (B, ...) to (n) or (B, n). Overlapping parts are added and divided by the sum of the squared windows. Throws
/// Error where that sum is 0.
template <class = void>
Tensor istft(const Tensor& input, std::int64_t n_fft, const IstftOptions& o = {}, SourceLine at = here()) {
  if (input.dim() < 3 || input.dim() > 4 || input.size(-1, at) != 2 || !is_floating(input.dtype())) TT_THROW(Error(Text("tt::istft: of (frequencies, parts, 2) or (B, ...), not ") << name(input.dtype()) << ' ' << input.shape() << "." << at));
  const std::int64_t hop = detail::hop_of("istft", o.hop_length, n_fft, at), frequencies = o.onesided ? n_fft / 2 + 1 : n_fft;
  if (n_fft <= 0 || input.size(-3, at) != frequencies) TT_THROW(Error(Text("tt::istft: ") << input.size(-3, at) << " frequencies, of parts of " << n_fft << " elements there are " << frequencies << "." << at));
  if (input.size(-2, at) == 0) TT_THROW(Error(Text("tt::istft: there are no parts: shape is ") << input.shape() << "." << at));
  if (o.length.given && o.length.value <= 0) TT_THROW(Error(Text("tt::istft: a signal of ") << o.length.value << " elements." << at));
  const Tensor window = detail::window_of_part("istft", o.window, o.win_length, n_fft, input, at);
  const Tensor x = (input.dim() == 3 ? input.unsqueeze(0, at) : input).transpose(1, 2, at);
  const char* const norm = o.normalized ? "ortho" : "backward";
  const Tensor parts = fft::irfft(o.onesided ? x : x.slice(2, 0, n_fft / 2 + 1, 1, at), n_fft, -1, norm, at) * window;  // the signal is real: the other half is not looked at
  const std::int64_t batch = parts.size(0, at), count = parts.size(1, at), all = n_fft + hop * (count - 1);
  const Tensor places = (arange(count).unsqueeze(1, at) * hop + arange(n_fft)).reshape({count * n_fft}, at).to(input.device(), false, at);
  const Tensor sum = index_add(zeros({batch, all}, detail::on_device(parts.dtype(), parts.device()), at), 1, places, parts.reshape({batch, count * n_fft}, at), at);
  const Tensor weight = index_add(zeros({all}, detail::on_device(parts.dtype(), parts.device()), at), 0, places, (window * window).expand({count, n_fft}, at).reshape({count * n_fft}, at), at);
  const std::int64_t begin = o.center ? n_fft / 2 : 0, reach = o.length.given ? begin + o.length.value : o.center ? all - n_fft / 2 : all, end = reach < all ? reach : all;
  const Tensor y = sum.slice(1, begin, end, 1, at), w = weight.slice(0, begin, end, 1, at);
  if (w.numel(at) > 0 && w.detach().amin({}, false, at).template item<double>(at) < 1e-11) TT_THROW(Error(Text("tt::istft: there are elements that no window shows.") << at));
  Tensor r = y / w;
  if (reach > end) r = pad(r, IntList{0, reach - end}, PadMode::constant, 0, at);
  return input.dim() == 3 ? r.select(0, 0, at) : r;
}

namespace detail {
inline int register_stft() {
  register_function("stft", "Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, constant|reflect|replicate|circular pad_mode=reflect, "
                    "bool normalized=False, bool? onesided=None, bool? return_complex=None",
                    [](const Tensor& x, std::int64_t n, Optional<std::int64_t> hop, Optional<std::int64_t> win, const Tensor& window, bool center, int mode, bool normalized, Optional<bool> onesided, Optional<bool>, SourceLine at) {
                      return stft(x, n, {hop, win, window, center, static_cast<PadMode>(mode), normalized, !onesided.given || onesided.value}, at);
                    });
  register_function("istft", "Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False",
                    [](const Tensor& x, std::int64_t n, Optional<std::int64_t> hop, Optional<std::int64_t> win, const Tensor& window, bool center, bool normalized, Optional<bool> onesided, Optional<std::int64_t> length, bool complex, SourceLine at) {
                      if (complex) TT_THROW(Error(Text("tt::istft: of complex signals there are none.") << at));
                      return istft(x, n, {hop, win, window, center, normalized, !onesided.given || onesided.value, length}, at);
                    });
  return 0;
}
inline const int stft_registered = register_stft();
}  // namespace detail

}  // namespace tt
