// Capturing: a function is run once on Tensors that record what is done with them. What the recording
// took for granted is in its Guards; jit/compile.hpp and jit/trace.hpp keep recordings and run them.
//   Recording r = record(f, "f", guards, argument, count, x, y);   r.graph, r.results, r.updated
#pragma once
#include <memory>

#include "tt/autograd/functional.hpp"

namespace tt {
namespace jit {

/// The Tensors of an argument or a result, in order.
template <class A, class F>
void each_leaf(A& a, const F& f) {
  using T = std::remove_cv_t<A>;
  if constexpr (std::is_same_v<T, Tensor>) f(a);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return;
  else if constexpr (ParameterStruct<T>) for_each_member([&](auto& leaf) { each_leaf(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<T>::value; }) std::apply([&](auto&... x) { (each_leaf(x, f), ...); }, a);
  else if constexpr (requires { a.begin(); a.end(); }) for (auto& x : a) each_leaf(x, f);
  else static_assert(std::is_void_v<T>, "tt::compile: arguments and results are Tensors, numbers, and structs and lists of them");
}
/// Numbers are guarded by value, lists by their length.
template <class A, class F>
void each_number(const A& a, const F& f) {
  if constexpr (std::is_same_v<A, Tensor>) return;
  else if constexpr (std::is_floating_point_v<A>) f(std::bit_cast<std::int64_t>(static_cast<double>(a)));
  else if constexpr (std::is_integral_v<A> || std::is_enum_v<A>) f(static_cast<std::int64_t>(a));
  else if constexpr (ParameterStruct<A>) for_each_member([&](const auto& leaf) { each_number(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<A>::value; }) std::apply([&](const auto&... x) { (each_number(x, f), ...); }, a);
  else if constexpr (requires { a.begin(); a.end(); }) {
    std::int64_t length = 0;
    for (const auto& x : a) {
      each_number(x, f);
      ++length;
    }
    f(length);
  }
}
/// The numbers of a call, in order.
struct Numbers {
  static constexpr std::size_t capacity = 64;
  std::int64_t value[capacity];
  std::size_t size = 0;
  void push(std::int64_t v) {
    if (size == capacity) TT_THROW(Error(Text("tt::compile: a call has at most ") << capacity << " numbers."));
    value[size++] = v;
  }
  std::span<const std::int64_t> span() const { return {value, size}; }
};

/// Tells the types of arguments apart.
template <class... A>
std::int64_t type_number() {
  static const char place = 0;
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&place));
}

/// All Tensors of a call.
struct Arguments {
  const Tensor* tensor[max_inputs];
  int count = 0;
  template <class... A>
  explicit Arguments(const char* name, const A&... a) {
    const auto add = [&](const Tensor& t) {
      if (count == max_inputs)
        TT_THROW(Error(Text("tt::compile: ") << name << ": at most " << max_inputs << " Tensors can be passed."));
      if (t.is_meta())
        TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << count << " has no elements: it is on device meta"
                       << (t.impl().trace_id < 0 ? "." : ", recorded by a capture.")));
      tensor[count++] = &t;
    };
    (each_leaf(a, add), ...);
  }
  const Tensor& operator[](int k) const { return *tensor[k]; }
  /// One storage, or two over memory that overlaps.
  bool share(int j, int k) const {
    const Storage *a = tensor[j]->impl().storage, *b = tensor[k]->impl().storage;
    if (!a || !b || a == b) return a && a == b;
    const auto *p = static_cast<const std::byte*>(a->data), *q = static_cast<const std::byte*>(b->data);
    return p < q + b->bytes && q < p + a->bytes;
  }
  /// The first argument that shares memory, or k.
  int first_sharing(int k) const {
    for (int j = 0; j < k; ++j)
      if (share(j, k)) return j;
    return k;
  }
  /// The first argument that is the same elements in the same shape, or k.
  int first_same(int k) const {
    const auto& t = tensor[k]->impl();
    for (int j = 0; j < k; ++j) {
      const auto& o = tensor[j]->impl();
      if (&o == &t) return j;
      if (o.data != t.data || o.dtype != t.dtype || !(o.shape == t.shape) || o.numel == 0 || o.requires_grad || t.requires_grad) continue;
      bool same = true;
      for (int d = 0; d < t.shape.rank; ++d) same = same && (o.stride[d] == t.stride[d] || t.shape.code[d] == 1);
      if (same) return j;
    }
    return k;
  }
  /// Does the tape record what is done with them?
  bool on_tape() const {
    bool any = false;
    for (int k = 0; k < count; ++k) any = any || tensor[k]->impl().requires_grad;
    return any && DispatchState::of_this_thread().grad_enabled;
  }
  bool overlaps_another(int k) const {
    for (int j = 0; j < count; ++j)
      if (j != k && share(j, k)) return true;
    return false;
  }
};

/// What one capture is good for: everything that is compared, word by word.
struct Guards {
  BasicSignature<max_inputs> sizes;
  int sizes_end = 0;  ///< behind it: overlaps, what requires a gradient, modes, numbers

  Guards(const Arguments& a, std::span<const std::int64_t> numbers, bool constant)
      : sizes(a.tensor, a.count, no_attributes, constant), sizes_end(sizes.words) {
    std::int64_t requires_grad = 0;
    for (int k = 0; k < a.count; ++k) {
      if (a[k].impl().requires_grad) requires_grad |= std::int64_t{1} << k;
      const int first = a.first_sharing(k), same = a.first_same(k);
      if (first != k || same != k) sizes.push((k << 8 | first) << 8 | same);
    }
    sizes.push(-1);
    sizes.push(requires_grad);
    sizes.push(DispatchState::of_this_thread().grad_enabled ? 1 : 0);
    for (std::int64_t v : numbers) sizes.push(v);
  }
  bool same(const Guards& o) const { return sizes == o.sizes; }
  bool same_rest(const Guards& o) const {
    const int n = sizes.words - sizes_end;
    return n == o.sizes.words - o.sizes_end &&
           std::memcmp(sizes.word + sizes_end, o.sizes.word + o.sizes_end, sizeof(std::int64_t) * static_cast<std::size_t>(n)) == 0;
  }
};

/// What a function did.
struct Recording {
  Graph graph;
  int results = 0;                     ///< outputs that the function returns; the rest are updates
  std::vector<int> updated;            ///< for each update: which argument
  std::shared_ptr<const void> result;  ///< the function's result without its Tensors: numbers, lengths of lists
};

inline bool same_graph(const Recording& a, const Recording& b) {
  const Graph &g = a.graph, &h = b.graph;
  if (g.size() != h.size() || g.outputs.size() != h.outputs.size() || a.updated != b.updated) return false;
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.outputs[k] != h.outputs[k]) return false;
  for (int i = 0; i < g.size(); ++i)
    if (!(g[i] == h[i])) return false;
  return true;
}

/// Runs `f` on stand-ins of these sizes and keeps what it does.
template <class F, class... A>
Recording record_once(const F& f, const char* name, const Guards& guards, const SymbolValues& sizes, const Arguments& argument, A&... a) {
  Recording r;
  Tracer tracer(guards.sizes.constant);
  tracer.values = sizes;
  std::vector<Tensor> stand_in;
  for (int k = 0; k < argument.count; ++k) {
    const Tensor own = tracer.input(guards.sizes.dtype[k], guards.sizes.shape[k], guards.sizes.strides[k]);
    const int same = argument.first_same(k);  // what is passed twice is one Tensor
    stand_in.push_back(same == k ? own : stand_in[static_cast<std::size_t>(same)]);
  }
  std::vector<int> input;
  for (const Tensor& t : stand_in) input.push_back(tracer.id_of(t));
  std::size_t next = 0;
  std::tuple<std::remove_cvref_t<A>...> traced(a...);
  const auto replace = [&](Tensor& t) { t = stand_in[next++]; };
  std::apply([&](auto&... x) { (each_leaf(x, replace), ...); }, traced);
  using Result = std::invoke_result_t<const F&, A&...>;
  if constexpr (std::is_void_v<Result>) {
    std::apply(f, traced);
  } else {
    auto result = std::make_shared<std::remove_cvref_t<Result>>(std::apply(f, traced));
    each_leaf(*result, [&](Tensor& t) {
      tracer.graph.output(tracer.id_of(t));
      ++r.results;
      t = Tensor();
    });
    r.result = result;
  }
  const bool taped = argument.on_tape();  // then what was saved must stay as it is
  next = 0;
  std::vector<char> constant;
  const auto note = [&]<class X>(X& x) {
    each_leaf(x, [&](const Tensor&) { constant.push_back(std::is_const_v<X>); });
  };
  (note(a), ...);
  const auto update = [&](Tensor& t) {
    const std::size_t k = next++;
    const int number = static_cast<int>(k), id = tracer.id_of(t);
    const bool assigned = !t.is_same(stand_in[k]);  // to the handle only
    if (id == input[k] || (assigned && constant[k])) return;
    const int same = argument.first_same(number);
    if (same != number && !assigned) return;  // updated there
    if (t.dtype() != stand_in[k].dtype() || !(t.shape() == stand_in[k].shape()))
      TT_THROW(Error(Text("tt::compile: ") << name << ": a parameter changes its shape or dtype: "
                     << tt::name(stand_in[k].dtype()) << ' ' << stand_in[k].shape() << " became " << tt::name(t.dtype()) << ' '
                     << t.shape() << "."));
    bool shared = false;
    for (int j = 0; j < argument.count; ++j)
      shared = shared || (j != number && argument.share(j, number) && (assigned || argument.first_same(j) != same));
    if (shared)
      TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << number << " is changed, and shares memory with another one. "
                     "Pass a copy of one of them?"));
    const bool donated = !taped && argument[number].is_contiguous() && !argument.overlaps_another(number);
    tracer.graph.output(id, donated ? number : -1);
    r.updated.push_back(number);
  };
  std::apply([&](auto&... x) { (each_leaf(x, update), ...); }, traced);
  if (tracer.graph.outputs.size() > max_outputs)
    tracer.graph.fail({.mistake = Mistake::too_many_outputs, .op = "compile", .number = tracer.graph.outputs.size()});
  if (tracer.graph.failure) TT_THROW(Error(describe(tracer.graph.failure)));
  r.graph = canonical(tracer.graph);
  return r;
}

/// The same, and twice more where sizes are symbols, with others: a function that uses sizes as numbers
/// does something else then. Throws SizesNeeded if it does. A branch that these sizes take alike, such as
/// one on a far larger size, is not found: pass what decides it as a number.
template <class F, class... A>
Recording record(const F& f, const char* name, const Guards& guards, const Arguments& argument, A&... a) {
  Recording r = record_once(f, name, guards, guards.sizes.values, argument, a...);
  if (guards.sizes.symbols == 0) return r;
  for (const int factor : {1, 2}) {  // the next sizes, of other parity, and about twice as large ones
    SymbolValues other = guards.sizes.values;
    for (int s = 0; s < guards.sizes.symbols; ++s) other.value[s] = factor * other.value[s] + 1;
    bool same = false;
    try {
      same = same_graph(r, record_once(f, name, guards, other, argument, a...));
    } catch (...) {  // with other sizes it cannot run at all
    }
    if (!same) throw SizesNeeded{"the function itself", {}};
  }
  return r;
}

/// Undefined Tensors on the stack, as many as are asked for.
class Results {
 public:
  explicit Results(int count) : count_(count) {
    for (int k = 0; k < count_; ++k) new (&(*this)[k]) Tensor;
  }
  Results(const Results&) = delete;
  ~Results() {
    for (int k = 0; k < count_; ++k) (*this)[k].~Tensor();
  }
  Tensor& operator[](int k) { return reinterpret_cast<Tensor*>(memory_)[k]; }

 private:
  int count_;
  alignas(Tensor) std::byte memory_[sizeof(Tensor) * max_outputs];
};

/// Runs a recording on a call's arguments: returns the results, writes the updates.
template <class R>
R run(const Recording& r, const std::shared_ptr<const GraphFunction>& function, const Arguments& argument, const SymbolValues& symbols,
      const char* name, SourceLine at) {
  Results results(function->outputs());
  Tensor* const out = &results[0];
  const auto updated = [&](std::size_t u) { return Tensor(argument[r.updated[u]]); };
  const bool taped = argument.on_tape();
  const Tensor* tensor[max_inputs];
  for (int k = 0; k < argument.count; ++k) tensor[k] = &argument[k];
  std::vector<Tensor> old;  // the tape saves what was there before an update, in memory of its own
  if (taped) old.reserve(r.updated.size());
  for (std::size_t u = 0; u < r.updated.size(); ++u) {
    detail::check_no_repeats(updated(u), name, at);
    if (!taped) continue;
    old.push_back(updated(u).clone(at));
    for (int k = 0; k < argument.count; ++k)
      if (argument.first_same(k) == argument.first_same(r.updated[u])) tensor[k] = &old.back();
  }
  function->run(tensor, symbols, out);
  if (taped) autograd::record_function(*function, function, symbols, name, at, tensor, argument.count, out);
  for (std::size_t u = 0; u < r.updated.size(); ++u) {
    Tensor to = updated(u);
    const Tensor& value = out[r.results + static_cast<int>(u)];
    const bool on_tape = taped && (value.requires_grad() || to.requires_grad());
    if (on_tape && !value.is_same(to)) detail::inplace_hooks().check(to, at);
    if (!value.is_same(to)) detail::write_elements(to, value, at);
    detail::advance_version(to);
    if (on_tape && !value.is_same(to)) detail::inplace_hooks().adopt(to, value);
  }
  if constexpr (!std::is_void_v<R>) {
    R result = *static_cast<const R*>(r.result.get());
    std::size_t next = 0;
    each_leaf(result, [&](Tensor& t) { t = out[next++]; });
    return result;
  }
}

}  // namespace jit
}  // namespace tt
