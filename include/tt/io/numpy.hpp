// NumPy's files as they are found: Tensors of the dtype and shape that a .npy file has, and of the names that a .npz file has.
//   tt::Tensor x = tt::load_npy("x.npy");             tt::save_npy("y.npy", x.t());
//   auto all = tt::load_npz("w.npz");                 all.at("fc.weight")               // a std::map
//   tt::save_npz("w.npz", {{"fc.weight", weight}, {"fc.bias", bias}});                  // numpy.load("w.npz")["fc.weight"]
// Every dtype of tt's, little-endian, in C or Fortran order; bf16 as ml_dtypes writes it. Structs by the names of their members:
// tt::save and tt::load of io/tensors.hpp.
#pragma once
#include <map>
#include <string>

#include "tt/io/tensors.hpp"

namespace tt {
namespace detail {

/// Well-formed by Unicode's table 3-7: no overlong sequence, no surrogate, nothing above U+10FFFF.
constexpr bool is_utf8(std::string_view text) {
  for (std::size_t k = 0; k < text.size();) {
    const auto byte = [&](std::size_t i) { return k + i < text.size() ? static_cast<unsigned char>(text[k + i]) : 0u; };
    const unsigned first = byte(0), second = byte(1);
    if (first >= 0x80 && (first < 0xc2 || first > 0xf4)) return false;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return false;
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return false;
    const std::size_t count = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t i = 1; i < count; ++i)
      if (byte(i) >> 6 != 2) return false;
    k += count;
  }
  return true;
}
static_assert(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") && !is_utf8("\xff") && !is_utf8("a\xc3") && !is_utf8("\xed\xa0\x80") && !is_utf8("\xc0\x80"));

/// A name for a .npz file's array, which Python reads too.
inline void check_npz_name(const char* path, const std::string& name, SourceLine at) {
  const auto fail = [&](const char* what) { TT_THROW(Error(Text("tt::save_npz: ") << path << ": " << what << at)); };
  if (name.empty()) fail("the name of a Tensor is empty.");
  if (name.size() > 65000) fail("the name of a Tensor has more than 65,000 bytes.");
  if (name.find('\0') != std::string::npos) fail("the name of a Tensor has a zero byte in it.");
  if (!is_utf8(name)) fail("the name of a Tensor is no UTF-8.");
}

}  // namespace detail

/// Reads a .npy file; the Tensor has its dtype and shape, and is contiguous also where the file is in Fortran order.
inline Tensor load_npy(FilePath path) {
  const detail::File file(std::fopen(path, "rb"));
  return detail::read_tensor(detail::stored_npy(file, path));
}
template <>
inline Tensor load_npy<Tensor>(FilePath path) {
  return load_npy(path);
}

/// Writes a Tensor, wherever it is, in C order; throws tt::Error naming the path when that fails, or the Tensor is undefined.
inline void save_npy(FilePath path, const Tensor& t, SourceLine at = here()) {
  detail::check_has_elements("tt::save_npy", path, Text(), t, at);
  const Tensor dense = detail::stored_form(t);
  const std::span<const char> bytes = detail::bytes_of_elements(dense, at);
  detail::write_npy(path, detail::npy_start(dense.dtype(), dense.impl().shape), bytes.data(), bytes.size());
}

/// All Tensors of a .npz file, by name, as numpy.savez and tt::save write them: stored, not compressed.
inline std::map<std::string, Tensor> load_npz(FilePath path) {
  const detail::NpzReader in(path, "tt::load_npz");
  std::map<std::string, Tensor> all;
  for (int k = 0; k < in.entries().size(); ++k) all[in.entries()[k].name] = detail::read_tensor(in.stored(k));
  return all;
}

/// Writes Tensors, wherever they are, each in C order and on its own, also where they share elements. Throws tt::Error naming the
/// path when that fails, and the name of a Tensor that is undefined.
inline void save_npz(FilePath path, const std::map<std::string, Tensor>& tensors, SourceLine at = here()) {
  for (const auto& [name, t] : tensors) {
    detail::check_npz_name(path, name, at);
    detail::check_has_elements("tt::save_npz", path, Text(name.c_str()), t, at);
  }
  detail::NpzWriter out(path, "tt::save_npz");
  for (const auto& [name, t] : tensors) detail::add_tensor(out, name.c_str(), t, at);
  out.finish();
}

}  // namespace tt
