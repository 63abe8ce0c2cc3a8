// NumPy's .npy files (format 1.0 and 2.0, little-endian, C order), read and written.
//   tt::save_npy("w.npy", w);   auto w = tt::load_npy<tt::Array<float, 64, 32>>("w.npy");
// Format: numpy.org, numpy.lib.format.
#pragma once
#include <cstdio>
#include <cstring>

#include "tt/core/array.hpp"

namespace tt {
namespace detail {

struct File {
  std::FILE* f;
  explicit File(std::FILE* file) : f(file) {}
  File(const File&) = delete;
  ~File() {
    if (f) std::fclose(f);
  }
};

constexpr const char* npy_descr(DType d) {
  switch (d) {
    case DType::boolean: return "|b1";
    case DType::i32: return "<i4";
    case DType::i64: return "<i8";
    case DType::f32: return "<f4";
    case DType::f64: break;
  }
  return "<f8";
}

[[noreturn]] inline void npy_fail(const char* path, const char* what) {
  TT_THROW(Error(Text("tt::load_npy: ") << path << ": " << what));
}

struct NpyHeader {
  DType dtype = DType::f32;
  int rank = 0;
  std::int64_t extent[max_rank] = {};
};

/// The value after 'key': in the header's Python dict, or null.
inline const char* npy_value(const char* header, const char* key) {
  const char* p = std::strstr(header, key);
  if (!p) return nullptr;
  p += std::strlen(key);
  while (*p == '\'' || *p == '"' || *p == ' ' || *p == ':') ++p;
  return p;
}

inline NpyHeader read_npy_header(std::FILE* f, const char* path) {
  unsigned char start[10];
  if (std::fread(start, 1, 10, f) != 10) npy_fail(path, "the file ends in its header.");
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) npy_fail(path, "this is no .npy file (wrong magic).");
  std::size_t length = start[8] + 256u * start[9];
  if (start[6] == 2) {
    unsigned char more[2];
    if (std::fread(more, 1, 2, f) != 2) npy_fail(path, "the file ends in its header.");
    length += 65536u * more[0] + 16777216u * more[1];
  } else if (start[6] != 1) {
    npy_fail(path, "this version of the .npy format is not known.");
  }
  if (length > 65535) npy_fail(path, "the header is too long.");
  Vec<char> header(static_cast<int>(length) + 1, '\0');
  if (std::fread(header.begin(), 1, length, f) != length)
    npy_fail(path, "the file ends in its header.");
  NpyHeader h;
  const char* descr = npy_value(header.begin(), "'descr'");
  bool known = false;
  for (int d = 0; descr && d < dtype_count; ++d)
    if (std::strncmp(descr, npy_descr(static_cast<DType>(d)), 3) == 0) {
      h.dtype = static_cast<DType>(d);
      known = true;
    }
  if (!known) npy_fail(path, "its dtype is not one of bool, int32, int64, float32, float64.");
  const char* order = npy_value(header.begin(), "'fortran_order'");
  if (!order || std::strncmp(order, "False", 5) != 0)
    npy_fail(path, "the elements are not in C order.");
  const char* p = npy_value(header.begin(), "'shape'");
  if (!p || *p != '(') npy_fail(path, "the header gives no shape.");
  std::int64_t size = 1;
  for (++p; *p && *p != ')';) {
    if (*p < '0' || *p > '9') {
      ++p;
      continue;
    }
    if (h.rank == max_rank) npy_fail(path, "it has too many axes.");
    std::int64_t n = 0;
    for (; *p >= '0' && *p <= '9'; ++p) {
      if (n > (std::int64_t{1} << 40)) npy_fail(path, "an extent is too large.");
      n = n * 10 + (*p - '0');
    }
    if (n > 0 && size > (std::int64_t{1} << 40) / n) npy_fail(path, "its size is too large.");
    size *= n;
    h.extent[h.rank++] = n;
  }
  return h;
}

}  // namespace detail

/// Writes an Array; throws tt::Error naming the path when that fails.
template <class T, std::int64_t... E>
void save_npy(const char* path, const Array<T, E...>& a) {
  const detail::File file(std::fopen(path, "wb"));
  Text header;
  header << "{'descr': '" << detail::npy_descr(dtype_of<T>)
         << "', 'fortran_order': False, 'shape': " << a.shape() << ", }";
  while ((10 + header.size() + 1) % 64 != 0) header << ' ';
  header << '\n';
  const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0,
                                   static_cast<unsigned char>(header.size() % 256),
                                   static_cast<unsigned char>(header.size() / 256)};
  const std::size_t n = static_cast<std::size_t>(a.size());
  const bool written = file.f && std::fwrite(start, 1, 10, file.f) == 10 &&
                       std::fwrite(header.begin(), 1, static_cast<std::size_t>(header.size()),
                                   file.f) == static_cast<std::size_t>(header.size()) &&
                       std::fwrite(a.data(), sizeof(T), n, file.f) == n &&
                       std::fflush(file.f) == 0;
  if (!written) TT_THROW(Error(Text("tt::save_npy: ") << path << ": cannot be written."));
}

/// Reads a file into an Array type A, whose dtype and static extents it must have.
template <class A>
A load_npy(const char* path) {
  const detail::File file(std::fopen(path, "rb"));
  if (!file.f) detail::npy_fail(path, "cannot be opened.");
  const detail::NpyHeader h = detail::read_npy_header(file.f, path);
  Shape found;
  for (int k = 0; k < h.rank; ++k) found.push_back(h.extent[k]);
  bool same = h.rank == A::rank && h.dtype == A::dtype;
  for (int k = 0; same && k < A::rank; ++k)
    same = A::Extents::value[k] == dyn || A::Extents::value[k] == h.extent[k];
  if (!same) {
    Text wanted;
    wanted << name(A::dtype) << " (";
    for (int k = 0; k < A::rank; ++k) {
      wanted << (k ? ", " : "");
      if (A::Extents::value[k] == dyn) wanted << "any";
      else wanted << A::Extents::value[k];
    }
    wanted << (A::rank == 1 ? ",)" : ")");
    TT_THROW(Error(Text("tt::load_npy: ")
                   << path << ": holds " << name(h.dtype) << ' ' << found << ", wanted is "
                   << wanted << "."));
  }
  std::int64_t size = 1;
  for (int k = 0; k < h.rank; ++k) size *= h.extent[k];
  const long here_now = std::ftell(file.f);
  std::fseek(file.f, 0, SEEK_END);
  if (std::ftell(file.f) - here_now <
      static_cast<long>(size) * static_cast<long>(sizeof(typename A::value_type)))
    detail::npy_fail(path, "the file ends before its last element.");
  std::fseek(file.f, here_now, SEEK_SET);
  A a = [&] {
    if constexpr (A::is_static) return A();
    else return A(Uninitialized{}, h.extent);
  }();
  if (std::fread(a.data(), sizeof(typename A::value_type), static_cast<std::size_t>(size), file.f) !=
      static_cast<std::size_t>(size))
    detail::npy_fail(path, "the file ends before its last element.");
  return a;
}

}  // namespace tt
