// Saves and loads Tensors in one file of NumPy's .npz format: one Tensor, a struct of Tensors and numbers, vectors, arrays, pairs and tuples of
// these, of any depth. Tensors by the names that a file has, and .npy files: io/numpy.hpp.
//   struct Net { tt::Tensor w; std::vector<Layer> layers; };
//   tt::save("net.npz", net);   tt::load("net.npz", net);     // "w", "layers.0.bias": the names of the members
// In Python: numpy.load("net.npz")["layers.0.bias"]; tt::load reads files of numpy.savez("net.npz", **arrays). For structs of Arrays:
// io/parameters.hpp.
#pragma once
#include <vector>

#include "tt/core/file_path.hpp"
#include "tt/autograd/functional.hpp"
#include "tt/core/member_names.hpp"
#include "tt/expr/transform.hpp"
#include "tt/io/npz.hpp"

namespace tt {
namespace detail {

inline Text dotted_name(const Text& before, const Text& last) { return before.size() > 0 ? Text(before) << '.' << last : last; }
template <class T>
concept NamedLeaf = std::is_same_v<T, Tensor> || Element<T>;

/// Calls visit(name, leaf) for every Tensor and scalar; before the elements of an empty list, visit.length(name), if it exists, returns
/// the list's length.
template <class A, class V>
void each_named(const Text& name, A& a, const V& visit) {
  using T = std::remove_cv_t<A>;
  const auto element = [&](std::int64_t number, auto& x) { each_named(dotted_name(name, Text() << number), x, visit); };
  if constexpr (NamedLeaf<T>) {
    visit(name, a);
  } else if constexpr (ParameterStruct<T> || (PlainStruct<T> && !std::is_empty_v<T>)) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (each_named(dotted_name(name, Text().append(member_name<T, I>.begin, static_cast<int>(member_name<T, I>.size))), member<I>(a), visit), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(count_members<T>())>{});
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::int64_t k = 0;
    std::apply([&](auto&... x) { (element(k++, x), ...); }, a);
  } else if constexpr (requires { std::begin(a); std::end(a); }) {
    if constexpr (requires { a.resize(static_cast<std::size_t>(visit.length(name))); })
      if (a.empty()) a.resize(static_cast<std::size_t>(visit.length(name)));
    std::int64_t k = 0;
    for (auto& x : a) element(k++, x);
  } else {
    static_assert(std::is_empty_v<T>, "tt::save, tt::load: a member is a Tensor, a number of a Tensor's dtypes, or a struct, std::vector, "
                                      "std::array, pair or tuple of these");
  }
}
/// numpy.savez's name for an array without a name.
inline Text leaf_name(const Text& name) { return name.size() > 0 ? name : Text("arr_0"); }

/// Reads the elements, which must fit before the array's end.
inline Tensor read_tensor(const StoredArray& a) {
  check_size(a.from, a.header, a.end);
  Tensor value(a.header.dtype, a.header.shape());
  read_elements(a.from, a.header, value.impl().data, static_cast<std::size_t>(value.numel() * size_of(a.header.dtype)));
  return value;
}
/// A Tensor in the form in which it is written: contiguous, on the CPU, without history.
inline Tensor stored_form(const Tensor& t) { return t.detach().cpu().contiguous(); }
/// The bytes of a stored form's elements.
inline std::span<const char> bytes_of_elements(const Tensor& dense, SourceLine at) {
  std::span<const char> bytes;
  with_dtype(dense.dtype(), [&]<class E>(E) {
    const std::span<const E> all = dense.template elements<E>(at);
    bytes = {reinterpret_cast<const char*>(all.data()), all.size_bytes()};
  });
  return bytes;
}
inline void add_tensor(NpzWriter& out, const char* name, const Tensor& t, SourceLine at) {
  const Tensor dense = stored_form(t);
  const std::span<const char> bytes = bytes_of_elements(dense, at);
  out.add(name, npy_start(dense.dtype(), dense.impl().shape), bytes.data(), bytes.size());
}

/// Reads the leaves that it visits from a file; Tensors are kept aside, and written only when all have been read.
template <class Reader>
class TensorLoader {
 public:
  TensorLoader(const Reader& in, const char* path, SourceLine at) : in_(in), path_(path), at_(at), used_(in_.entries().size(), 0) {}

  void operator()(const Text& leaf, Tensor& t) const {
    const auto [from, h, end] = in_.stored(find(leaf));
    if (t.defined()) {
      check_wanted(from, h, t.dtype(), t.impl().shape.code, t.dim());
      check_no_repeats(t, (Text("load: ") << path_ << ": " << leaf_name(leaf)).c_str(), at_);
    }
    read_.push_back({&t, read_tensor({from, h, end})});
  }
  template <Element T>
  void operator()(const Text& leaf, T& number) const {
    const auto [from, h, end] = in_.stored(find(leaf));
    check_wanted(from, h, dtype_of<T>, h.extent, 0);
    check_size(from, h, end);
    read_elements(from, h, &number, sizeof number);
  }
  /// The length of a list, from the numbers that follow its name in the file's names.
  std::int64_t length(const Text& list) const {
    const Text before = list.size() > 0 ? Text(list) << '.' : Text();
    std::int64_t most = 0;
    for (const auto& e : in_.entries()) {
      std::int64_t number = 0;
      int at = 0;
      while (at < before.size() && at < e.name.size() && e.name[at] == before[at]) ++at;
      if (at < before.size()) continue;
      for (; at < e.name.size() && e.name[at] >= '0' && e.name[at] <= '9' && number <= in_.entries().size(); ++at)
        number = number * 10 + (e.name[at] - '0');
      const bool whole = at > before.size() && (at == e.name.size() || e.name[at] == '.');
      if (whole && number >= most && number < in_.entries().size()) most = number + 1;
    }
    return most;
  }
  /// All errors must have been thrown before: Tensors are written one after another.
  void finish() {
    for (int k = 0; k < used_.size(); ++k)
      if (!used_[k]) in_.fail(Text(in_.entries()[k].name) << ": is not expected; the file has it, the struct has not.");
    const NoGrad off;
    for (auto& [to, value] : read_) {
      if (to->defined()) to->copy_(value, at_);
      else *to = value;
    }
  }

 private:
  struct Read {
    Tensor* to;
    Tensor value;
  };
  const Reader& in_;
  const char* path_;
  SourceLine at_;
  mutable Vec<int> used_;
  mutable std::vector<Read> read_;

  int find(const Text& leaf) const {
    const Text name = leaf_name(leaf);
    const int k = in_.find(name);
    if (k < 0) in_.fail(Text(name) << ": is missing; the struct has it, the file has not.");
    used_[k] = 1;
    return k;
  }
};

/// Throws Error when a Tensor is undefined; `leaf` may be empty.
inline void check_has_elements(const char* op, const char* path, const Text& leaf, const Tensor& t, SourceLine at) {
  if (t.defined() && t.is_meta()) TT_THROW(Error(Text(op) << ": " << path << ": " << leaf << (leaf.empty() ? "" : ": ") << "a Tensor on device meta has no elements to write." << at));
  if (t.defined()) return;
  TT_THROW(Error(Text(op) << ": " << path << ": " << leaf << (leaf.empty() ? "" : ": ") << "the Tensor is undefined, and has no place in a file. Use tt::empty({0})?" << at));
}
template <class S>
void check_has_elements(const char* op, const char* path, const S& tensors, SourceLine at) {
  each_named(Text(), tensors, [&](const Text& leaf, const auto& x) {
    if constexpr (requires { x.defined(); }) check_has_elements(op, path, leaf_name(leaf), x, at);
  });
}
template <class Reader, class S>
void load_from(const Reader& in, const char* path, S& tensors, SourceLine at) {
  TensorLoader<Reader> all(in, path, at);
  S loaded = tensors;  // the same Tensors
  each_named(Text(), loaded, all);
  all.finish();
  tensors = static_cast<S&&>(loaded);
}

}  // namespace detail

/// Writes all Tensors, of any device, and scalars; throws tt::Error naming the path when that fails, and the name of a Tensor that is
/// undefined.
template <class S>
  requires(detail::at_run_time<S>)
void save(FilePath path, const S& tensors, SourceLine at = here()) {
  detail::check_has_elements("tt::save", path, tensors, at);
  detail::NpzWriter out(path);
  detail::each_named(Text(), tensors, [&]<class T>(const Text& leaf, const T& x) {
    Text name = detail::leaf_name(leaf);
    if constexpr (std::is_same_v<T, Tensor>) {
      detail::add_tensor(out, name.c_str(), x, at);
    } else {
      out.add(name.c_str(), detail::npy_start(dtype_of<T>, Shape{}), reinterpret_cast<const char*>(&x), sizeof x);
    }
  });
  out.finish();
}

/// Reads all Tensors and scalars. Tensors that are defined are written in place, so their dtype and shape must equal the file's;
/// undefined ones are created, and so are the elements of empty vectors. The file must hold exactly these names, in any order;
/// otherwise tt::Error is thrown and `tensors` is unchanged. Needs memory for a second set.
template <class S>
  requires(detail::at_run_time<S>)
void load(FilePath path, S& tensors, SourceLine at = here()) {
  detail::load_from(detail::NpzReader(path), path, tensors, at);
}

}  // namespace tt
