// Reads NumPy's .npy files (format 1.0 and 2.0, little-endian, C or Fortran order) and writes them in C order.
//   tt::save_npy("w.npy", w);   auto w = tt::load_npy<tt::Array<float, 64, 32>>("w.npy");
// Tensors of the dtype and shape that a file has: io/numpy.hpp. Format: numpy.org, numpy.lib.format.
#pragma once
#include <cstdio>
#include <cstring>

#include "tt/core/file_path.hpp"
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

/// An open file, and the begin of messages about it: "tt::load_npy: w.npy: ".
struct ArraySource {
  std::FILE* f;
  Text place;
};
[[noreturn]] inline void npy_fail(const ArraySource& from, const Text& what) {
  TT_THROW(Error(Text(from.place) << what));
}

struct ArrayHeader {
  DType dtype = DType::f32;
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  bool fortran_order = false;  ///< in the file the first index is the fastest

  Shape shape() const {
    Shape s;
    for (int k = 0; k < rank; ++k) s.push_back(extent[k]);
    return s;
  }
};

/// The text of a header's Python dict from `begin` to `end`, where a 0 byte must be.
struct NpyDict {
  const char* begin;
  const char* end;

  /// The begin of this key's value, or null; of several equal keys the last one's, as in NumPy.
  const char* value(const char* key) const {
    const char* found = nullptr;
    const std::size_t length = std::strlen(key);
    for (const char* p = skip_spaces(begin); *p == '{' || *p == ',';) {
      p = skip_spaces(p + 1);
      const char* const name = p;
      if (*p != '\'' && *p != '"') break;
      p = skip_string(p);
      const bool same = static_cast<std::size_t>(p - name) == length + 2 && std::memcmp(name + 1, key, length) == 0;
      p = skip_spaces(p);
      if (*p != ':') break;
      p = skip_spaces(p + 1);
      if (same) found = p;
      p = skip_value(p);
    }
    return found;
  }
  static bool is_string(const char* p, const char* text) {
    const std::size_t length = std::strlen(text);
    return (*p == '\'' || *p == '"') && std::strncmp(p + 1, text, length) == 0 && p[length + 1] == *p;
  }
  static const char* skip_spaces(const char* p) {
    while (*p == ' ' || *p == '\t' || *p == '\n') ++p;
    return p;
  }

 private:
  const char* skip_string(const char* p) const {
    for (const char quote = *p++; p < end && *p != quote; ++p)
      if (*p == '\\' && p + 1 < end) ++p;
    return p < end ? p + 1 : p;
  }
  /// Skips to the comma behind the value, or the dict's end.
  const char* skip_value(const char* p) const {
    for (int depth = 0; p < end;) {
      if (*p == '\'' || *p == '"') {
        p = skip_string(p);
        continue;
      }
      if (depth == 0 && (*p == ',' || *p == '}')) break;
      depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
      ++p;
    }
    return p;
  }
};

inline ArrayHeader read_npy_header(const ArraySource& from) {
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
  ArrayHeader h;
  const NpyDict dict{header.begin(), header.begin() + length};
  const char* descr = dict.value("descr");
  bool known = false;
  for (int d = 0; descr && d < dtype_count; ++d)
    if (NpyDict::is_string(descr, dtypes[d].npy)) {
      h.dtype = static_cast<DType>(d);
      known = true;
    }
  if (descr && (*descr == '\'' || *descr == '"') && descr[1] == '>')
    npy_fail(from, "its elements are big-endian. Save a.astype(a.dtype.newbyteorder('<'))?");
  if (!known) npy_fail(from, "its dtype is not one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, little-endian. Convert it with numpy.astype?");
  const char* order = dict.value("fortran_order");
  h.fortran_order = order && std::strncmp(order, "True", 4) == 0;
  if (!h.fortran_order && (!order || std::strncmp(order, "False", 5) != 0))
    npy_fail(from, "the header does not say fortran_order.");
  const char* p = dict.value("shape");
  if (!p || *p != '(') npy_fail(from, "the header gives no shape.");
  for (p = NpyDict::skip_spaces(p + 1); *p != ')';) {  // (), (2,) or (2, 3)
    if (*p < '0' || *p > '9') npy_fail(from, "the shape in its header is no list of sizes.");
    if (h.rank == max_rank) npy_fail(from, "it has too many axes.");
    std::int64_t n = 0;
    for (; *p >= '0' && *p <= '9'; ++p) {
      if (n > most_bytes) npy_fail(from, "an extent is larger than memory.");
      n = n * 10 + (*p - '0');
    }
    h.extent[h.rank++] = n;
    p = NpyDict::skip_spaces(p);
    if (*p == ',') p = NpyDict::skip_spaces(p + 1);
    else if (*p != ')') npy_fail(from, "the shape in its header is no list of sizes.");
  }
  return h;
}

/// An array in a file: its header, and its elements, which begin at the file's read position.
struct StoredArray {
  ArraySource from;
  ArrayHeader header;
  std::int64_t end;  ///< the byte behind the array
};

/// The text before the elements in a file.
inline Text npy_start(DType dtype, const Shape& shape) {
  Text header;
  header << "{'descr': '" << dtypes[static_cast<int>(dtype)].npy << "', 'fortran_order': False, 'shape': " << shape
         << ", }";
  while ((10 + header.size() + 1) % 64 != 0) header << ' ';
  header << '\n';
  Text start;
  start << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() % 256)
        << static_cast<char>(header.size() / 256) << header;
  return start;
}
inline bool write_bytes(std::FILE* f, const void* data, std::size_t n) { return std::fwrite(data, 1, n, f) == n; }
template <class A>
std::size_t bytes_of(const A& a) {
  return static_cast<std::size_t>(a.size()) * sizeof(typename A::value_type);
}

/// Compares a header with the expected dtype and shape; extents are sizes or dyn.
inline void check_wanted(const ArraySource& from, const ArrayHeader& h, DType dtype, const std::int64_t* extent, int rank) {
  bool same = h.rank == rank && h.dtype == dtype;
  for (int k = 0; same && k < rank; ++k) same = extent[k] == dyn || extent[k] == h.extent[k];
  if (!same)
    npy_fail(from, Text("holds ") << name(h.dtype) << ' ' << h.shape() << ", wanted is " << name(dtype)
                                  << ' ' << declared_shape(extent, rank) << ".");
}
/// The elements, which follow, end before byte `end` of the file. Throws Error if there are fewer, or more than memory holds.
inline void check_size(const ArraySource& from, const ArrayHeader& h, std::int64_t end) {
  const Shape found = h.shape();
  Text reader;
  for (int i = 0; i + 2 < from.place.size(); ++i) reader << from.place[i];  // without ": "
  const std::size_t bytes = bytes_of(reader.c_str(), h.dtype, found);
  if (const std::int64_t rest = end - std::ftell(from.f); rest < static_cast<std::int64_t>(bytes))
    npy_fail(from, Text("the file ends before its last element: ") << name(h.dtype) << ' ' << found << " takes " << bytes
                                                                  << " bytes, the file holds " << rest << '.');
}
inline void read_bytes(const ArraySource& from, void* to, std::size_t n) {
  if (std::fread(to, 1, n, from.f) != n) npy_fail(from, "the file cannot be read to its last element.");
}
/// Elements in Fortran order, one after another to its place in C order.
inline void read_fortran_order(const ArraySource& from, const ArrayHeader& h, char* to, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(size_of(h.dtype));
  std::int64_t stride[max_rank], index[max_rank] = {}, place = 0;
  for (std::int64_t k = h.rank, n = size_of(h.dtype); k-- > 0; n *= h.extent[k]) stride[k] = n;
  for (char some[8192]; bytes > 0;) {
    const std::size_t n = bytes < sizeof some ? bytes : sizeof some;
    read_bytes(from, some, n);
    for (const char* p = some; p < some + n; p += size) {
      std::memcpy(to + place, p, size);
      for (int k = 0; k < h.rank; ++k) {
        place += stride[k];
        if (++index[k] < h.extent[k]) break;
        place -= stride[k] * index[k];
        index[k] = 0;
      }
    }
    bytes -= n;
  }
}
/// The elements, which follow, in C order.
inline void read_elements(const ArraySource& from, const ArrayHeader& h, void* to, std::size_t bytes) {
  if (h.fortran_order) read_fortran_order(from, h, static_cast<char*>(to), bytes);
  else read_bytes(from, to, bytes);
  if (h.dtype != DType::boolean) return;
  const auto* byte = static_cast<const unsigned char*>(to);
  for (std::size_t k = 0; k < bytes; ++k)
    if (byte[k] > 1) npy_fail(from, Text("element ") << static_cast<std::int64_t>(k) << " is no bool: " << static_cast<int>(byte[k]) << '.');
}
template <class A>
A read_npy(const StoredArray& stored) {
  const auto& [from, h, end] = stored;
  check_wanted(from, h, A::dtype, A::Extents::value, A::rank);
  check_size(from, h, end);
  A a = [&] {
    if constexpr (A::is_static) return A();
    else return A(Uninitialized{}, h.extent);
  }();
  read_elements(from, h, a.data(), bytes_of(a));
  return a;
}
inline StoredArray stored_npy(const File& file, const char* path) {
  const ArraySource from{file.f, Text("tt::load_npy: ") << path << ": "};
  if (!file.f) npy_fail(from, "cannot be opened.");
  std::fseek(file.f, 0, SEEK_END);
  const std::int64_t end = std::ftell(file.f);
  std::rewind(file.f);
  return {from, read_npy_header(from), end};
}
inline void write_npy(const char* path, const Text& start, const void* data, std::size_t bytes) {
  const File file(std::fopen(path, "wb"));
  const bool written = file.f && write_bytes(file.f, start.begin(), static_cast<std::size_t>(start.size())) &&
                       write_bytes(file.f, data, bytes) && std::fflush(file.f) == 0;
  if (!written) TT_THROW(Error(Text("tt::save_npy: ") << path << ": cannot be written."));
}

}  // namespace detail

/// Writes an Array; throws tt::Error naming the path when that fails.
template <class T, std::int64_t... E>
void save_npy(FilePath path, const Array<T, E...>& a) {
  detail::write_npy(path, detail::npy_start(dtype_of<T>, a.shape()), a.data(), detail::bytes_of(a));
}

/// Reads a file into an Array type A, whose dtype and static extents the file must have.
template <class A>
A load_npy(FilePath path) {
  const detail::File file(std::fopen(path, "rb"));
  return detail::read_npy<A>(detail::stored_npy(file, path));
}

}  // namespace tt
