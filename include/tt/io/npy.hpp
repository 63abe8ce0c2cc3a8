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

/// An open file, and how messages about it begin: "tt::load_npy: w.npy: ".
struct NpySource {
  std::FILE* f;
  Text place;
};
[[noreturn]] inline void npy_fail(const NpySource& from, const Text& what) {
  TT_THROW(Error(Text(from.place) << what));
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

inline NpyHeader read_npy_header(const NpySource& from) {
  unsigned char start[10];
  if (std::fread(start, 1, 10, from.f) != 10)
    npy_fail(from, std::ferror(from.f) ? "cannot be read." : "the file ends in its header.");
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) npy_fail(from, "this is no .npy file (wrong magic).");
  std::size_t length = start[8] + 256u * start[9];
  if (start[6] == 2) {
    unsigned char more[2];
    if (std::fread(more, 1, 2, from.f) != 2) npy_fail(from, "the file ends in its header.");
    length += 65536u * more[0] + 16777216u * more[1];
  } else if (start[6] != 1) {
    npy_fail(from, "this version of the .npy format is not known.");
  }
  if (length > 65535) npy_fail(from, "the header is too long.");
  Vec<char> header(static_cast<int>(length) + 1, '\0');
  if (std::fread(header.begin(), 1, length, from.f) != length)
    npy_fail(from, "the file ends in its header.");
  NpyHeader h;
  const char* descr = npy_value(header.begin(), "'descr'");
  bool known = false;
  for (int d = 0; descr && d < dtype_count; ++d)
    if (std::strncmp(descr, npy_descr(static_cast<DType>(d)), 3) == 0) {
      h.dtype = static_cast<DType>(d);
      known = true;
    }
  if (!known) npy_fail(from, "its dtype is not one of bool, int32, int64, float32, float64, little-endian. Convert it with numpy.astype?");
  const char* order = npy_value(header.begin(), "'fortran_order'");
  if (!order || std::strncmp(order, "False", 5) != 0)
    npy_fail(from, "the elements are not in C order. Save numpy.ascontiguousarray(...)?");
  const char* p = npy_value(header.begin(), "'shape'");
  if (!p || *p != '(') npy_fail(from, "the header gives no shape.");
  const auto skip_spaces = [&p] {
    while (*p == ' ') ++p;
  };
  for (++p, skip_spaces(); *p != ')';) {  // (), (2,) or (2, 3)
    if (*p < '0' || *p > '9') npy_fail(from, "the shape in its header is no list of sizes.");
    if (h.rank == max_rank) npy_fail(from, "it has too many axes.");
    std::int64_t n = 0;
    for (; *p >= '0' && *p <= '9'; ++p) {
      if (n > most_bytes) npy_fail(from, "an extent is larger than memory.");
      n = n * 10 + (*p - '0');
    }
    h.extent[h.rank++] = n;
    skip_spaces();
    if (*p == ',') ++p, skip_spaces();
    else if (*p != ')') npy_fail(from, "the shape in its header is no list of sizes.");
  }
  return h;
}

/// What stands before the elements in a file.
inline Text npy_start(DType dtype, const Shape& shape) {
  Text header;
  header << "{'descr': '" << npy_descr(dtype) << "', 'fortran_order': False, 'shape': " << shape
         << ", }";
  while ((10 + header.size() + 1) % 64 != 0) header << ' ';
  header << '\n';
  Text start;
  start << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() % 256)
        << static_cast<char>(header.size() / 256) << header;
  return start;
}
inline bool write_bytes(std::FILE* f, const void* data, std::size_t n) {
  return std::fwrite(data, 1, n, f) == n;
}
template <class A>
std::size_t bytes_of(const A& a) {
  return static_cast<std::size_t>(a.size()) * sizeof(typename A::value_type);
}

/// Reads the header of elements that end before byte `end` of the file, and holds it against an
/// Array type; extents are numbers or dyn.
inline NpyHeader read_npy_header(const NpySource& from, std::int64_t end, DType dtype,
                                 const std::int64_t* extent, int rank) {
  const NpyHeader h = read_npy_header(from);
  bool same = h.rank == rank && h.dtype == dtype;
  for (int k = 0; same && k < rank; ++k) same = extent[k] == dyn || extent[k] == h.extent[k];
  Shape found;
  for (int k = 0; k < h.rank; ++k) found.push_back(h.extent[k]);
  if (!same)
    npy_fail(from, Text("holds ") << name(h.dtype) << ' ' << found << ", wanted is " << name(dtype)
                                  << ' ' << declared_shape(extent, rank) << ".");
  Text reader;
  for (int i = 0; i + 2 < from.place.size(); ++i) reader << from.place[i];  // without ": "
  const std::size_t bytes = bytes_of(reader.c_str(), dtype, found);
  if (const std::int64_t rest = end - std::ftell(from.f); rest < static_cast<std::int64_t>(bytes))
    npy_fail(from, Text("the file ends before its last element: ") << name(dtype) << ' ' << found << " takes " << bytes
                                                                  << " bytes, the file holds " << rest << '.');
  return h;
}
template <class A>
A read_npy(const NpySource& from, std::int64_t end) {
  const NpyHeader h = read_npy_header(from, end, A::dtype, A::Extents::value, A::rank);
  A a = [&] {
    if constexpr (A::is_static) return A();
    else return A(Uninitialized{}, h.extent);
  }();
  const std::size_t bytes = bytes_of(a);
  if (std::fread(a.data(), 1, bytes, from.f) != bytes)
    npy_fail(from, "the file cannot be read to its last element.");
  if constexpr (std::is_same_v<typename A::value_type, bool>) {
    const unsigned char* byte = reinterpret_cast<const unsigned char*>(a.data());
    for (std::size_t k = 0; k < bytes; ++k)
      if (byte[k] > 1) npy_fail(from, Text("element ") << static_cast<std::int64_t>(k) << " is no bool: " << static_cast<int>(byte[k]) << '.');
  }
  return a;
}

}  // namespace detail

/// Writes an Array; throws tt::Error naming the path when that fails.
template <class T, std::int64_t... E>
void save_npy(const char* path, const Array<T, E...>& a) {
  const detail::File file(std::fopen(path, "wb"));
  const Text start = detail::npy_start(dtype_of<T>, a.shape());
  const bool written =
      file.f &&
      detail::write_bytes(file.f, start.begin(), static_cast<std::size_t>(start.size())) &&
      detail::write_bytes(file.f, a.data(), detail::bytes_of(a)) &&
      std::fflush(file.f) == 0;
  if (!written) TT_THROW(Error(Text("tt::save_npy: ") << path << ": cannot be written."));
}

/// Reads a file into an Array type A, whose dtype and static extents it must have.
template <class A>
A load_npy(const char* path) {
  const detail::File file(std::fopen(path, "rb"));
  const detail::NpySource from{file.f, Text("tt::load_npy: ") << path << ": "};
  if (!file.f) detail::npy_fail(from, "cannot be opened.");
  std::fseek(file.f, 0, SEEK_END);
  const std::int64_t end = std::ftell(file.f);
  std::rewind(file.f);
  return detail::read_npy<A>(from, end);
}

}  // namespace tt
