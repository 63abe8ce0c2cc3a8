// NumPy's .npz files: a zip archive that holds one .npy file for each array, as numpy.savez writes it
// (stored, not compressed; docs/design/0006-named-parameters.md says why that is enough).
//   detail::NpzWriter out("w.npz");  out.add("bias", b);  out.finish();
//   detail::NpzReader in("w.npz");   auto b = in.read<tt::Array<float, 32>>(in.find("bias"));
// Format: PKWARE APPNOTE 6.3, sections 4.3.7 (local header), 4.3.12 (directory) and 4.3.16 (its end).
// Sizes and offsets read from a file are checked against the file's size before use.
#pragma once
#include "tt/io/npy.hpp"

namespace tt::detail {

// ---- the checksum of zip: CRC-32, reflected polynomial 0xedb88320

struct CrcTable {
  std::uint32_t value[256];
  constexpr CrcTable() : value() {
    for (std::uint32_t k = 0; k < 256; ++k) {
      std::uint32_t c = k;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      value[k] = c;
    }
  }
};
inline constexpr CrcTable crc_table;

TT_NOINLINE constexpr std::uint32_t crc32(const char* data, std::size_t n, std::uint32_t before = 0) {
  std::uint32_t c = ~before;
  for (std::size_t k = 0; k < n; ++k)
    c = crc_table.value[(c ^ static_cast<unsigned char>(data[k])) & 255] ^ (c >> 8);
  return ~c;
}
static_assert(crc32("123456789", 9) == 0xcbf43926u);

// ---- integers of 2 and 4 bytes, little-endian

TT_NOINLINE constexpr void put_number(Text& t, std::uint32_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) t << static_cast<char>(value >> (8 * k) & 255);
}
constexpr std::uint32_t number_at(const char* p, int bytes) {
  std::uint32_t value = 0;
  for (int k = 0; k < bytes; ++k)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(p[k])) << (8 * k);
  return value;
}

inline constexpr std::uint32_t zip_local = 0x04034b50, zip_entry = 0x02014b50, zip_end = 0x06054b50;
inline constexpr int zip_local_size = 30, zip_entry_size = 46, zip_end_size = 22;
/// The largest size or offset of 4 bytes; all bits set would mean "elsewhere" (zip64).
inline constexpr std::int64_t zip_limit = 0xfffffffe;

struct NpzEntry {
  Text name;  // without .npy
  std::uint32_t crc = 0;
  std::int64_t offset = 0, size = 0;  // offset: when written, of the local header; when read, of the bytes
};

/// The fields that local header and directory share: version, flags, method, time, checksum, sizes and length of the name. The time is
/// 1980-01-01, so that equal arrays give equal files.
inline void put_common(Text& t, const NpzEntry& e) {
  bool ascii = true;
  for (const char* p = e.name.begin(); p != e.name.begin() + e.name.size(); ++p) ascii = ascii && static_cast<unsigned char>(*p) < 128;
  put_number(t, 20, 2);
  put_number(t, ascii ? 0 : 0x0800, 4);  // the name is UTF-8
  put_number(t, 0x00210000, 4);
  put_number(t, e.crc, 4);
  put_number(t, static_cast<std::uint32_t>(e.size), 4);
  put_number(t, static_cast<std::uint32_t>(e.size), 4);
  put_number(t, static_cast<std::uint32_t>(e.name.size() + 4), 2);
}

class NpzWriter {
 public:
  /// `op`: in messages.
  explicit NpzWriter(const char* path, const char* op = "tt::save") : op_(op), path_(path), file_(std::fopen(path, "wb")) {
    if (!file_.f) fail("cannot be written.");
  }
  template <class A>
  void add(const char* name, const A& a) {
    add(name, npy_start(A::dtype, a.shape()), reinterpret_cast<const char*>(a.data()), bytes_of(a));
  }
  void add(const char* name, const Text& start, const char* data, std::size_t bytes) {
    if (entries_.size() == 0xfffe) fail("65,535 arrays are more than a .npz file holds. Save parts of it?");
    NpzEntry e{.name = name, .offset = position_,
               .size = start.size() + static_cast<std::int64_t>(bytes)};
    if (e.size + e.offset > zip_limit - (1 << 20))
      fail("4 GiB are more than a .npz file holds. Save parts of it?");
    e.crc = crc32(data, bytes, crc32(start.begin(), static_cast<std::size_t>(start.size())));
    Text header;
    put_number(header, zip_local, 4);
    put_common(header, e);
    put_number(header, 0, 2);
    write(header << e.name << ".npy");
    write(start);
    write_elements(data, bytes);
    entries_.push_back(static_cast<NpzEntry&&>(e));
  }
  /// Writes the directory; without it the file is invalid.
  void finish() {
    Text directory;
    for (const NpzEntry& e : entries_) {
      put_number(directory, zip_entry, 4);
      put_number(directory, 20, 2);
      put_common(directory, e);
      for (int k = 0; k < 3; ++k) put_number(directory, 0, 4);  // extra, comment, disk, attributes
      put_number(directory, static_cast<std::uint32_t>(e.offset), 4);
      directory << e.name << ".npy";
    }
    const auto size = static_cast<std::uint32_t>(directory.size());
    const auto count = static_cast<std::uint32_t>(entries_.size());
    put_number(directory, zip_end, 4);
    put_number(directory, 0, 4);
    put_number(directory, count, 2);
    put_number(directory, count, 2);
    put_number(directory, size, 4);
    put_number(directory, static_cast<std::uint32_t>(position_), 4);
    put_number(directory, 0, 2);
    write(directory);
    if (std::fflush(file_.f) != 0) fail("cannot be written.");
  }

 private:
  [[noreturn]] TT_NOINLINE void fail(const char* what) const {
    TT_THROW(Error(Text(op_) << ": " << path_ << ": " << what));
  }
  void write(const Text& t) { write_elements(t.begin(), static_cast<std::size_t>(t.size())); }
  void write_elements(const char* data, std::size_t n) {
    if (!write_bytes(file_.f, data, n)) fail("cannot be written.");
    position_ += static_cast<std::int64_t>(n);
  }

  const char* op_;
  Text path_;
  File file_;
  std::int64_t position_ = 0;
  Vec<NpzEntry> entries_;
};

class NpzReader {
 public:
  /// `op`: in messages.
  explicit NpzReader(const char* path, const char* op = "tt::load") : op_(op), path_(path), file_(std::fopen(path, "rb")) {
    if (!file_.f) fail("cannot be opened.");
    if (std::fseek(file_.f, 0, SEEK_END) != 0 || (size_ = std::ftell(file_.f)) < 0)
      fail("cannot be read.");
    read_directory();
  }
  const Vec<NpzEntry>& entries() const { return entries_; }
  /// The number of an entry, or -1.
  int find(const Text& name) const { return slots_.empty() ? -1 : slots_[slot_of(name)]; }
  /// Checks the checksum of entry k and gives its array.
  StoredArray stored(int k) const {
    const NpzEntry& e = entries_[k];
    check_sum(e);
    seek(e.offset);
    const ArraySource from{file_.f, place() << e.name << ": "};
    return {from, read_npy_header(from), e.offset + e.size};
  }
  template <class A>
  A read(int k) const {
    return read_npy<A>(stored(k));
  }
  [[noreturn]] TT_NOINLINE void fail(const Text& what) const { TT_THROW(Error(place() << what)); }

 private:
  TT_NOINLINE Text place() const { return Text(op_) << ": " << path_ << ": "; }
  void seek(std::int64_t offset) const {
    if (std::fseek(file_.f, static_cast<long>(offset), SEEK_SET) != 0) fail("cannot be read.");
  }
  /// n bytes from `offset`; they must be inside the file.
  Vec<char> bytes_at(std::int64_t offset, std::int64_t n) const {
    Vec<char> bytes(static_cast<int>(n), '\0');
    seek(offset);
    if (std::fread(bytes.begin(), 1, static_cast<std::size_t>(n), file_.f) !=
        static_cast<std::size_t>(n))
      fail("cannot be read.");
    return bytes;
  }
  /// The end record of the directory is last in the file, except for a comment of up to 65,535 bytes.
  void read_directory() {
    const std::int64_t n = size_ < zip_end_size + 65535 ? size_ : zip_end_size + 65535;
    const Vec<char> tail = bytes_at(size_ - n, n);
    std::int64_t at = n - zip_end_size;
    while (at >= 0 && !is_end(tail.begin() + at, n - at)) --at;
    if (at < 0) fail("this is no .npz file (no zip directory), or it was cut off.");
    const char* end = tail.begin() + at;
    const std::int64_t size = number_at(end + 12, 4), offset = number_at(end + 16, 4);
    if (offset > zip_limit || size > zip_limit || number_at(end + 10, 2) == 0xffff)
      fail("files of 4 GiB or 65,535 arrays (zip64) are not read.");
    if (offset + size > size_ - n + at) fail(damaged);
    if (size > (std::int64_t{1} << 30)) fail(damaged);
    const Vec<char> directory = bytes_at(offset, size);
    const char* p = directory.begin();
    const char* last = directory.end();
    int slots = 4;
    while (slots < 2 * static_cast<int>(number_at(end + 10, 2))) slots *= 2;
    slots_ = Vec<int>(slots, -1);
    for (std::uint32_t k = 0; k < number_at(end + 10, 2); ++k) {
      if (last - p < zip_entry_size || number_at(p, 4) != zip_entry) fail(damaged);
      const std::int64_t name = number_at(p + 28, 2),
                         whole = zip_entry_size + name + number_at(p + 30, 2) + number_at(p + 32, 2);
      if (last - p < whole) fail(damaged);
      read_entry(p, static_cast<int>(name), offset);
      p += whole;
    }
  }
  static bool is_end(const char* p, std::int64_t n) {
    return number_at(p, 4) == zip_end && zip_end_size + number_at(p + 20, 2) == n;
  }
  /// `limit`: the end of the arrays, where the directory begins.
  void read_entry(const char* p, int name_size, std::int64_t limit) {
    NpzEntry e;
    e.name.append(p + zip_entry_size, name_size);
    for (char c : e.name)
      if (c == 0) fail(Text("the name of array ") << entries_.size() << " has a zero byte in it.");
    const int stem = name_size - 4;
    if (stem <= 0 || !(tail_of(e.name, stem) == Text(".npy")))
      fail(Text("holds '") << e.name << "', which is no .npy file.");
    e.name = head_of(e.name, stem);
    int& slot = slots_[slot_of(e.name)];
    if (slot >= 0) fail(Text(e.name) << ": stands in it twice.");
    slot = entries_.size();
    if (number_at(p + 8, 2) & 1) fail(Text(e.name) << ": is encrypted.");
    if (number_at(p + 10, 2) != 0)
      fail(Text(e.name) << ": is compressed. Write it with numpy.savez, not savez_compressed.");
    e.crc = number_at(p + 16, 4);
    e.size = number_at(p + 24, 4);
    const std::int64_t local = number_at(p + 42, 4);
    if (number_at(p + 20, 4) != e.size || local + zip_local_size > limit) fail(damaged);
    const Vec<char> header = bytes_at(local, zip_local_size);
    e.offset = local + zip_local_size + number_at(header.begin() + 26, 2) + number_at(header.begin() + 28, 2);
    if (number_at(header.begin(), 4) != zip_local || e.offset + e.size > limit) fail(damaged);
    total_ += e.size;
    if (total_ > limit) fail("is damaged (its arrays share bytes).");  // else a small file could fill all memory
    entries_.push_back(static_cast<NpzEntry&&>(e));
  }
  /// The index of a name in the table of names, or of its free slot: a hash (FNV-1a) with linear probing.
  int slot_of(const Text& name) const {
    std::uint32_t hash = 2166136261u;
    for (int k = 0; k < name.size(); ++k) hash = (hash ^ static_cast<unsigned char>(name[k])) * 16777619u;
    const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
    auto at = static_cast<int>(hash & mask);
    while (slots_[at] >= 0 && !(entries_[slots_[at]].name == name)) at = (at + 1) & static_cast<int>(mask);
    return at;
  }
  void check_sum(const NpzEntry& e) const {
    std::uint32_t crc = 0;
    for (std::int64_t done = 0; done < e.size;) {
      const std::int64_t n = e.size - done < 65536 ? e.size - done : 65536;
      crc = crc32(bytes_at(e.offset + done, n).begin(), static_cast<std::size_t>(n), crc);
      done += n;
    }
    if (crc != e.crc) fail(Text(e.name) << ": is damaged (wrong checksum).");
  }
  static Text head_of(const Text& t, int n) {
    Text out;
    for (int k = 0; k < n; ++k) out << t[k];
    return out;
  }
  static Text tail_of(const Text& t, int from) {
    Text out;
    for (int k = from; k < t.size(); ++k) out << t[k];
    return out;
  }

  static constexpr const char* damaged = "is damaged (its zip directory points outside of it).";
  const char* op_;
  Text path_;
  File file_;
  std::int64_t size_ = 0, total_ = 0;  ///< bytes of the file, and of its arrays
  Vec<NpzEntry> entries_;
  Vec<int> slots_;  ///< hash table of the names: numbers of entries, at most half full; -1: none
};

}  // namespace tt::detail
