// Reads and writes NumPy's .npy files (format 1.0 and 2.0, little-endian, C order).
//   tt::save_npy("w.npy", w);   auto w = tt::load_npy<tt::Array<float, 64, 32>>("w.npy");
// Format: numpy.org, numpy.lib.format.
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
  if (!known) npy_fail(from, "its dtype is not one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, little-endian. Convert it with numpy.astype?");
  const char* order = dict.value("fortran_order");
  if (!order) npy_fail(from, "the header does not say fortran_order.");
  if (std::strncmp(order, "False", 5) != 0)
    npy_fail(from, "the elements are not in C order. Save numpy.ascontiguousarray(...)?");
  const char* p = dict.value("shape");
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
inline bool write_bytes(std::FILE* f, const void* data, std::size_t n) {
  return std::fwrite(data, 1, n, f) == n;
}
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
inline void read_elements(const ArraySource& from, DType dtype, void* to, std::size_t bytes) {
  if (std::fread(to, 1, bytes, from.f) != bytes) npy_fail(from, "the file cannot be read to its last element.");
  if (dtype != DType::boolean) return;
  const auto* byte = static_cast<const unsigned char*>(to);
  for (std::size_t k = 0; k < bytes; ++k)
    if (byte[k] > 1) npy_fail(from, Text("element ") << static_cast<std::int64_t>(k) << " is no bool: " << static_cast<int>(byte[k]) << '.');
}
template <class A>
A read_npy(const ArraySource& from, std::int64_t end) {
  const ArrayHeader h = read_npy_header(from);
  check_wanted(from, h, A::dtype, A::Extents::value, A::rank);
  check_size(from, h, end);
  A a = [&] {
    if constexpr (A::is_static) return A();
    else return A(Uninitialized{}, h.extent);
  }();
  read_elements(from, A::dtype, a.data(), bytes_of(a));
  return a;
}

}  // namespace detail

/// Writes an Array; throws tt::Error naming the path when that fails.
template <class T, std::int64_t... E>
void save_npy(FilePath path, const Array<T, E...>& a) {
  const detail::File file(std::fopen(path, "wb"));
  const Text start = detail::npy_start(dtype_of<T>, a.shape());
  const bool written =
      file.f &&
      detail::write_bytes(file.f, start.begin(), static_cast<std::size_t>(start.size())) &&
      detail::write_bytes(file.f, a.data(), detail::bytes_of(a)) &&
      std::fflush(file.f) == 0;
  if (!written) TT_THROW(Error(Text("tt::save_npy: ") << path << ": cannot be written."));
}

/// Reads a file into an Array type A, whose dtype and static extents the file must have.
template <class A>
A load_npy(FilePath path) {
  const detail::File file(std::fopen(path, "rb"));
  const detail::ArraySource from{file.f, Text("tt::load_npy: ") << path << ": "};
  if (!file.f) detail::npy_fail(from, "cannot be opened.");
  std::fseek(file.f, 0, SEEK_END);
  const std::int64_t end = std::ftell(file.f);
  std::rewind(file.f);
  return detail::read_npy<A>(from, end);
}

}  // namespace tt
