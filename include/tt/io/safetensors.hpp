// .safetensors files: Tensors by name, as models are published. Needs Debian's nlohmann-json3-dev.
//   auto tensors = tt::safetensors::load_file("model.safetensors");   tensors.at("fc.weight")       // a std::map
//   tt::safetensors::save("net.safetensors", net);   tt::safetensors::load("net.safetensors", net);  // structs, as tt::save
//   tt::safetensors::File file("model.safetensors");   Tensor w = file.get_tensor("fc.weight");      // reads only that one
// Format: 8 bytes with the header's length; the header, a JSON object of {"name": {"dtype", "shape", "data_offsets"}}; the elements
// (huggingface.co/docs/safetensors). Sizes and offsets read from a file are checked against the file's size before use.
#pragma once
#if !__has_include(<nlohmann/json.hpp>)
#error "tt/io/safetensors.hpp needs nlohmann/json.hpp: install nlohmann-json3-dev"
#endif
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tt/core/file_path.hpp"
#include "tt/io/tensors.hpp"

namespace tt::safetensors {

using Metadata = std::map<std::string, std::string>;

namespace detail {
/// In the order of DType.
inline constexpr const char* dtype_names[dtype_count] = {"BOOL", "I32", "I64", "F32", "F64", "F16", "BF16", "U8", "I8", "I16"};
/// The limit of other programs; a longer header is an error.
inline constexpr std::int64_t most_header_bytes = 100'000'000;

struct Entry {
  Text name;
  std::string dtype;
  tt::detail::ArrayHeader header;
  bool readable = false;  ///< its dtype is one of tt's
  std::int64_t begin = 0, end = 0;  ///< of its elements, relative to the header's end
};
}  // namespace detail

/// An open file whose header has been read. Throws Error naming the path, and the Tensor, for violations of the format: names that
/// occur twice, elements that overlap, are too many or too few, or are beyond the file's end.
class File {
 public:
  explicit File(FilePath path) : place_(Text("tt::safetensors: ") << path << ": "), file_(std::fopen(path, "rb")) {
    if (!file_.f) fail("cannot be opened.");
    if (std::fseek(file_.f, 0, SEEK_END) != 0 || (size_ = std::ftell(file_.f)) < 0) fail("cannot be read.");
    read_header();
  }
  /// Names of Tensors, in alphabetical order.
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [name, k] : number_) all.push_back(name);
    return all;
  }
  bool contains(const std::string& name) const { return number_.contains(name); }
  const Metadata& metadata() const { return metadata_; }
  /// The shape of a Tensor, without reading its elements.
  Shape shape(const std::string& name) const { return entries_[number(name)].header.shape(); }
  /// The dtype's name in the file: "F32", or one that tt does not have.
  const std::string& dtype(const std::string& name) const { return entries_[number(name)].dtype; }
  Tensor get_tensor(const std::string& name) const { return tt::detail::read_tensor(stored(number(name))); }

  // ---- for tt::safetensors::load
  const Vec<detail::Entry>& entries() const { return entries_; }
  int find(Text name) const {
    const auto found = number_.find(name.c_str());
    return found == number_.end() ? -1 : found->second;
  }
  tt::detail::StoredArray stored(int k) const {
    const detail::Entry& e = entries_[k];
    if (!e.readable) fail(Text(e.name) << ": its dtype is " << e.dtype.c_str() << ", which is none of tt's.");
    if (std::fseek(file_.f, static_cast<long>(start_ + e.begin), SEEK_SET) != 0) fail("cannot be read.");
    return {{file_.f, Text(place_) << e.name << ": "}, e.header, start_ + e.end};
  }
  [[noreturn]] void fail(const Text& what) const { TT_THROW(Error(Text(place_) << what)); }

 private:
  using Json = nlohmann::json;
  Text place_;
  tt::detail::File file_;
  std::int64_t size_ = 0, start_ = 0;
  Vec<detail::Entry> entries_;
  std::map<std::string, int> number_;
  Metadata metadata_;

  int number(const std::string& name) const {
    const int k = find(name.c_str());
    if (k < 0) fail(Text("has no Tensor '") << name.c_str() << "'.");
    return k;
  }
  void read_header() {
    unsigned char length[8];
    std::rewind(file_.f);
    if (size_ < 8 || std::fread(length, 1, 8, file_.f) != 8) fail("this is no .safetensors file: it is too short.");
    std::uint64_t bytes = 0;
    for (int k = 0; k < 8; ++k) bytes |= std::uint64_t{length[k]} << (8 * k);
    if (bytes > static_cast<std::uint64_t>(std::min(size_ - 8, detail::most_header_bytes)))
      fail("this is no .safetensors file, or it was cut off: its header would end behind it.");
    start_ = 8 + static_cast<std::int64_t>(bytes);
    std::string text(bytes, '\0');
    if (std::fread(text.data(), 1, text.size(), file_.f) != text.size()) fail("cannot be read.");
    std::set<std::string> seen;
    std::string twice;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::key && depth == 1 && !seen.insert(parsed.get<std::string>()).second) twice = parsed.get<std::string>();
      return true;
    };
    const Json header = Json::parse(text, watch, false);
    if (!header.is_object()) fail("its header is no JSON object.");
    if (!twice.empty()) fail(Text(twice.c_str()) << ": stands in it twice.");
    for (const auto& [name, about] : header.items()) {
      if (name == "__metadata__") read_metadata(about);
      else read_entry(name, about);
    }
    check_order();
  }
  void read_metadata(const Json& about) {
    if (!about.is_object()) fail("__metadata__ is no JSON object.");
    for (const auto& [key, value] : about.items()) {
      if (!value.is_string()) fail(Text("__metadata__: ") << key.c_str() << " is no string.");
      metadata_[key] = value.get<std::string>();
    }
  }
  /// Is it a list of integers, none of them negative?
  static bool is_sizes(const Json& about, const char* key) {
    const auto found = about.find(key);
    if (found == about.end() || !found->is_array()) return false;
    return std::all_of(found->begin(), found->end(), [](const Json& n) { return n.is_number_unsigned() && n.get<std::uint64_t>() <= static_cast<std::uint64_t>(most_bytes); });
  }
  void read_entry(const std::string& name, const Json& about) {
    detail::Entry e;
    e.name.append(name.c_str(), static_cast<int>(name.size()));
    if (name.find('\0') != std::string::npos) fail("a name has a zero byte in it.");
    if (!about.is_object() || !is_sizes(about, "shape") || !is_sizes(about, "data_offsets") || about["data_offsets"].size() != 2 || !about.contains("dtype") || !about["dtype"].is_string())
      fail(Text(e.name) << ": the header does not say its dtype, shape and data_offsets.");
    if (about["shape"].size() > max_rank) fail(Text(e.name) << ": it has too many axes.");
    for (const Json& n : about["shape"]) e.header.extent[e.header.rank++] = n.get<std::int64_t>();
    e.begin = about["data_offsets"][0].get<std::int64_t>();
    e.end = about["data_offsets"][1].get<std::int64_t>();
    e.dtype = about["dtype"].get<std::string>();
    for (int d = 0; d < dtype_count; ++d)
      if (e.dtype == detail::dtype_names[d]) {
        e.header.dtype = static_cast<DType>(d);
        e.readable = true;
      }
    if (e.end < e.begin || e.end > size_ - start_) fail(Text(e.name) << ": the file ends before its last element.");
    if (e.readable && static_cast<std::int64_t>(bytes_of("tt::safetensors", e.header.dtype, e.header.shape())) != e.end - e.begin)
      fail(Text(e.name) << ": its data_offsets are " << e.end - e.begin << " bytes apart, which is not what " << e.dtype.c_str() << ' ' << e.header.shape() << " takes.");
    number_[name] = entries_.size();
    entries_.push_back(e);
  }
  /// Elements must be contiguous from the header's end to the file's end.
  void check_order() const {
    std::vector<const detail::Entry*> all;
    for (const detail::Entry& e : entries_) all.push_back(&e);
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
    std::int64_t next = 0;
    for (const detail::Entry* e : all) {
      if (e->begin != next) fail(Text(e->name) << (e->begin < next ? ": its elements are others' too." : ": there are bytes before it that belong to nothing."));
      next = e->end;
    }
    if (next != size_ - start_) fail("there are bytes at its end that belong to nothing.");
  }
};

/// All Tensors of a file, by name.
inline std::map<std::string, Tensor> load_file(FilePath path) {
  const File file(path);
  std::map<std::string, Tensor> all;
  for (const std::string& name : file.keys()) all[name] = file.get_tensor(name);
  return all;
}

/// Writes Tensors of any device, each contiguous and separate even if they share elements. `metadata` is for readers of the file. Throws
/// Error naming the path when that fails, and the name of a Tensor that is undefined.
inline void save_file(const std::map<std::string, Tensor>& tensors, FilePath path, const Metadata& metadata = {}, SourceLine at = here()) {
  const auto fail = [&](const Text& what) { TT_THROW(Error(Text("tt::safetensors: ") << path << ": " << what << at)); };
  std::vector<const std::pair<const std::string, Tensor>*> order;  // widest elements first, so that each Tensor is at a multiple of its element's size
  for (const auto& named : tensors) {
    tt::detail::check_has_elements("tt::safetensors", path, Text(named.first.c_str()), named.second, at);
    try {
      (void)nlohmann::json(named.first).dump();
    } catch (const nlohmann::json::exception&) {
      fail(Text(nlohmann::json(named.first).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str()) << ": the name of a Tensor is no UTF-8.");
    }
    if (named.first == "__metadata__" || named.first.find('\0') != std::string::npos) fail(Text("'") << named.first.c_str() << "' is no name for a Tensor.");
    order.push_back(&named);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return std::pair(-size_of(a->second.dtype()), std::string_view(a->first)) < std::pair(-size_of(b->second.dtype()), std::string_view(b->first)); });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t end = 0;
  for (const auto* named : order) {
    const Tensor& t = named->second;
    const std::int64_t begin = end;
    std::vector<std::int64_t> shape;
    for (int k = 0; k < t.dim(); ++k) shape.push_back(std::int64_t{t.size(k, at)});
    end += std::int64_t{t.numel(at)} * size_of(t.dtype());
    header[named->first] = {{"dtype", detail::dtype_names[static_cast<int>(t.dtype())]}, {"shape", shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const tt::detail::File file(std::fopen(path, "wb"));
  const auto write = [&](const void* data, std::size_t n) {
    if (!file.f || !tt::detail::write_bytes(file.f, data, n)) fail("cannot be written.");
  };
  unsigned char length[8];
  for (int k = 0; k < 8; ++k) length[k] = static_cast<unsigned char>(text.size() >> (8 * k) & 255);
  write(length, 8);
  write(text.data(), text.size());
  for (const auto* named : order) {
    const Tensor dense = tt::detail::stored_form(named->second);
    write(dense.data(), static_cast<std::size_t>(std::int64_t{dense.numel(at)} * size_of(dense.dtype())));
  }
  if (std::fflush(file.f) != 0) fail("cannot be written.");
}

/// Writes the Tensors and scalars of a struct, or a list of such, under the names of its members, as tt::save does for .npz files.
template <class S>
void save(FilePath path, const S& tensors, const Metadata& metadata = {}, SourceLine at = here()) {
  tt::detail::check_has_elements("tt::safetensors", path, tensors, at);
  std::map<std::string, Tensor> all;
  tt::detail::each_named(Text(), tensors, [&]<class T>(const Text& leaf, const T& x) {
    const std::string name = tt::detail::leaf_name(leaf).c_str();
    if constexpr (std::is_same_v<T, Tensor>) all[name] = x;
    else all[name] = from_span(std::span<const T>(&x, 1), {});
  });
  save_file(all, path, metadata, at);
}
/// Reads files of `save`, and others with Tensors of these names: see tt::load. `tensors` is unchanged when an Error is thrown.
template <class S>
void load(FilePath path, S& tensors, SourceLine at = here()) {
  tt::detail::load_from(File(path), path, tensors, at);
}

}  // namespace tt::safetensors
