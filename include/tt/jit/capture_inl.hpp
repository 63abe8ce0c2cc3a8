// Definitions of capture.hpp: Guards (dtypes, sizes, overlaps and modes of a call as words), and how a recording runs: on the tape, on
// duals, or by a backend; then updates are written and results that share memory are made.
#pragma once
#include <algorithm>

#include "tt/autograd/joint_node.hpp"
#include "tt/jit/capture.hpp"

namespace tt {
namespace jit {

/// Memory from the first to the last element of a Tensor; empty if it has none.
struct Bytes {
  const std::byte *begin = nullptr, *end = nullptr;
};
inline Bytes bytes_of(const Tensor& t) {
  const detail::TensorImpl& impl = t.impl();
  if (!impl.storage || impl.numel == 0) return {};
  const auto *first = static_cast<const std::byte*>(impl.data);
  const std::int64_t width = size_of(impl.dtype);
  if (impl.contiguous) return {first, first + impl.numel * width};
  const auto [low, high] = detail::reach_of(impl);
  return {first + low * width, first + (high + 1) * width};
}
TT_INLINE bool overlap(const Tensor& x, const Tensor& y) {
  const Storage *s = x.impl().storage, *t = y.impl().storage;
  if (!s || !t || (s != t && !s->free_data && !t->free_data)) return false;
  const Bytes a = bytes_of(x), b = bytes_of(y);
  return a.begin < b.end && b.begin < a.end;
}
[[noreturn]] TT_INLINE void Arguments::refuse(const char* name, const Tensor& t) const {
  TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << count() << " has no elements: it is on device meta"
                 << (t.impl().trace_id < 0 ? "." : ", recorded by a capture.")));
}
/// Are these the same elements in the same shape?
inline bool is_same(const detail::TensorImpl& o, const detail::TensorImpl& t) {
  if (&o == &t) return true;
  if (o.data != t.data || o.dtype != t.dtype || !(o.shape == t.shape) || o.numel == 0 || o.requires_grad || t.requires_grad) return false;
  bool same = true;
  for (int d = 0; d < t.shape.rank; ++d) same = same && (o.stride[d] == t.stride[d] || t.shape.code[d] == 1);
  return same;
}
/// The number of slots of a hash table of addresses that is at most half full.
inline int slots_for(int count) {
  int slots = 1;
  while (slots < 2 * count) slots *= 2;
  return slots;
}
inline std::uint64_t slot_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u >> 32; }
TT_INLINE SmallVec<int, 16> Arguments::first_same() const {
  SmallVec<int, 16> first;
  SmallVec<int, 64> slot;  // by address of the elements: index of the first argument with these elements, plus one
  const int slots = slots_for(count());
  slot.resize(slots);
  for (int& s : slot) s = 0;
  for (int k = 0; k < count(); ++k) {
    const detail::TensorImpl& t = tensor[k]->impl();
    std::uint64_t at = slot_of(t.data);
    const auto here = [&]() -> int& { return slot[static_cast<int>(at & static_cast<unsigned>(slots - 1))]; };
    while (here() && !is_same(tensor[here() - 1]->impl(), t)) ++at;
    if (!here()) here() = k + 1;
    first.push_back(here() - 1);
  }
  return first;
}
TT_INLINE bool Arguments::on_tape() const {
  bool any = false;
  for (int k = 0; k < count(); ++k) any = any || tensor[k]->impl().requires_grad;
  return any && DispatchState::of_this_thread().grad_enabled;
}
TT_INLINE bool Arguments::overlaps_another(int k) const {
  for (int j = 0; j < count(); ++j)
    if (j != k && share(j, k)) return true;
  return false;
}
TT_INLINE bool Guards::fits(const Guards& o, SymbolValues& to) const {
  const auto &a = sizes.word, &b = o.sizes.word;
  if (sizes.symbols >= o.sizes.symbols || a.size() != b.size() || overlaps != o.overlaps || !(sizes.as_numbers == o.sizes.as_numbers)) return false;
  if (std::memcmp(a.data() + overlaps, b.data() + overlaps, sizeof(std::int64_t) * static_cast<std::size_t>(a.size() - overlaps)) != 0) return false;
  BitSet known;
  for (int k = 0, next = 0; k < overlaps; ++k) {
    if (k == next) {  // an argument begins
      if (a[k] != b[k]) return false;
      next = sizes.behind_input(k);
      continue;
    }
    const Extent mine = Extent::from_code(a[k]), its = Extent::from_code(b[k]);
    if (its.is_constant() || mine.is_constant()) {
      if (a[k] != b[k]) return false;
      continue;
    }
    const SizeSet symbols = symbols_of(its);
    const std::int64_t n = mine.value(sizes.values);
    for (int s : symbols.some) {
      const std::int64_t v = o.sizes.as_numbers.symbol_value(s, n);
      if (v == 0 || (known.test(s) && to[s] != v)) return false;
      known.set(s);
      to.set(s, v);
    }
  }
  return true;
}
TT_INLINE bool Guards::differs_in_numbers_only(const Guards& o) const {
  return numbers == o.numbers && sizes.word.size() == o.sizes.word.size() &&  // the first number is the types of arguments
         std::memcmp(sizes.word.data(), o.sizes.word.data(), sizeof(std::int64_t) * static_cast<std::size_t>(numbers + 1)) == 0;
}
TT_INLINE bool Guards::differs_in_sizes_only(const Guards& o) const {
  const auto &a = sizes.word, &b = o.sizes.word;
  if (sizes.as_numbers.empty() || !(sizes.as_numbers == o.sizes.as_numbers) || overlaps != o.overlaps || a.size() != b.size()) return false;
  for (int k = 0; k < overlaps; k = sizes.behind_input(k))
    if (a[k] != b[k]) return false;
  return std::memcmp(a.data() + overlaps, b.data() + overlaps, sizeof(std::int64_t) * static_cast<std::size_t>(a.size() - overlaps)) == 0;
}
/// Do no two Tensors share memory? False too where only a comparison of the Tensors can tell: see each_overlap.
inline bool lies_apart(const Arguments& a) {
  SmallVec<const Storage*, 64> table;
  table.resize(slots_for(a.count()));
  std::memset(table.data(), 0, sizeof(const Storage*) * static_cast<std::size_t>(table.size()));
  const auto mask = static_cast<std::uint64_t>(table.size() - 1);
  for (int k = 0; k < a.count(); ++k) {
    constexpr int ahead = 6;
    if (k + ahead < a.count()) __builtin_prefetch(a[k + ahead].impl().storage);
    const Storage* const s = a[k].impl().storage;
    if (!s) continue;
    std::uint64_t at = slot_of(s) & mask;
    while (table[static_cast<int>(at)] && table[static_cast<int>(at)] != s) at = (at + 1) & mask;
    if (table[static_cast<int>(at)] || s->free_data) return false;
    table[static_cast<int>(at)] = s;
  }
  return true;
}
/// f(j, k), j < k, for Tensors of a call that overlap, in order. Tensors with the same elements as an earlier one are left out (`same`: see
/// first_same).
template <class F>
void each_overlap(const Arguments& a, const SmallVec<int, 16>& same, const F& f) {
  struct Part {
    Bytes bytes;
    int number;
  };
  SmallVec<Part, 16> part, open;  // open: ranges that end after the next one begins
  for (int k = 0; k < a.count(); ++k)
    if (const Bytes bytes = bytes_of(a[k]); same[k] == k && bytes.begin) part.push_back({bytes, k});
  std::sort(part.begin(), part.end(), [](const Part& x, const Part& y) { return x.bytes.begin < y.bytes.begin; });
  SmallVec<std::pair<int, int>, 16> pairs;  // k, j
  for (const Part& p : part) {
    int left = 0;
    for (const Part& o : open) {
      if (o.bytes.end <= p.bytes.begin) continue;
      open[left++] = o;
      pairs.push_back({std::max(o.number, p.number), std::min(o.number, p.number)});
    }
    open.resize(left);
    open.push_back(p);
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [k, j] : pairs) f(j, k);
}

TT_INLINE Guards::Guards(const Arguments& a, const Numbers* n, const SizeFacts& as_numbers, const BitSet* fixed)
    : sizes(a.tensor.data(), a.count(), no_attributes, as_numbers, fixed), overlaps(sizes.word.size()) {
  BitSet required;
  for (int k = 0; k < a.count(); ++k) {
    const detail::TensorImpl& t = a[k].impl();
    if (t.requires_grad) required.set(k);
    if (t.device.type != DeviceType::cpu) sizes.push(-2 - ((std::int64_t{k} << 8 | static_cast<int>(t.device.type)) << 32 | t.device.index));
  }
  if (!lies_apart(a)) {
    const SmallVec<int, 16> same = a.first_same();
    const auto note = [&](int j, int k) { sizes.push((std::int64_t{k} << 20 | j) << 20 | same[k]); };
    for (int k = 0; k < a.count(); ++k)
      if (same[k] != k) note(same[k], k);
    each_overlap(a, same, note);
  }
  sizes.push(-1);
  requires_grad = sizes.word.size();
  for (int w = 0; 64 * w < a.count() || w == 0; ++w) sizes.push(w < required.words() ? static_cast<std::int64_t>(required.bits(w)) : 0);
  modes = sizes.word.size();
  const DispatchState& state = DispatchState::of_this_thread();
  sizes.push((state.grad_enabled ? 1 : 0) | (state.inference ? 2 : 0));
  numbers = sizes.word.size();
  if (!n) return;
  real_numbers = n->real;
  sizes.word.append(n->value.data(), n->value.size());
}

TT_INLINE void check_marks(const Arguments& a, const Guards& guards, const SizeSet& as_numbers, const Vec<SizeGuard>& sizes, const char* name,
                           const char* why, SourceLine at) {
  bool any = false;
  for (int k = 0; k < a.count(); ++k) any = any || a[k].impl().marks != 0;
  if (!any) return;
  const std::vector<Signature::Input> inputs = guards.sizes.inputs();
  for (int k = 0; k < a.count(); ++k)
    for (int d = 0; d < a[k].dim(); ++d) {
      const detail::SizeMark mark = detail::size_mark(a[k].impl().marks, d);
      const Extent e = inputs[static_cast<std::size_t>(k)].shape[d];
      if (!mark.is_dynamic || e.is_constant()) continue;
      Text what;
      if (symbols_of(e).within(as_numbers)) what << "is needed as a number by " << why;
      for (const SizeGuard& g : sizes)
        if (g.extent == e && (g.least > mark.least || g.most < mark.most)) {
          what << "is taken to be ";
          if (g.most < mark.most) what << "at most " << g.most;
          else what << "at least " << g.least;
          at = g.at;
        }
      if (!what.empty())
        TT_THROW(Error(Text("tt::compile: ") << name << ": axis " << d << " of argument " << k << " is marked dynamic, but its size " << what
                       << ". Mark it with other bounds, or not?" << at));
    }
}

/// A step from a base to a view of it.
struct ViewStep {
  const Operator* op = nullptr;
  Attributes attributes;
  bool grad_enabled = true;

  /// The same view of a concrete Tensor.
  Tensor of(const Tensor& t, const SymbolValues& symbols, SourceLine at) const {
    const autograd::StepMode mode(grad_enabled && is_grad_enabled());
    if (attributes.expression.empty()) return detail::call_unary(*op, t, attributes, at);
    Attributes now;
    for (int k = 0; k < attributes.size(); ++k) now.push(attributes.is_expression(k) ? attributes.expression[k].value(symbols) : attributes.value[k]);
    return detail::call_unary(*op, t, now, at);
  }
};
struct SharedResults {
  struct One {
    int result = 0;                  ///< -1 - k: the Tensor assigned to the argument at place k
    int argument = -1, output = -1;  ///< the base is one of these; both -1: undefined
    std::vector<ViewStep> steps = {};
  };
  std::vector<One> list;      ///< sorted by `result`
  std::vector<int> assigned;  ///< places of arguments that become outputs, after the updates
};
/// Sets `t` to result number `place`, if that is no output of its own; `out` are all outputs.
inline bool find_shared(const SharedResults& shared, int place, const Tensor* out, const Arguments& argument, const SymbolValues& symbols, SourceLine at, Tensor& t) {
  const auto s = std::lower_bound(shared.list.begin(), shared.list.end(), place, [](const SharedResults::One& x, int p) { return x.result < p; });
  if (s == shared.list.end() || s->result != place) return false;
  t = s->output >= 0 ? out[s->output] : s->argument >= 0 ? argument[s->argument] : Tensor();
  for (const ViewStep& step : s->steps) t = step.of(t, symbols, at);
  return true;
}
/// Assigns to the caller's arguments the Tensors that the function assigned to them: outputs from `first` on, or made from others.
inline void assign_handles(const SharedResults& shared, const Tensor* out, int first, const Arguments& argument, const SymbolValues& symbols, SourceLine at) {
  std::vector<std::pair<Tensor*, Tensor>> all;  // made before any is assigned
  for (const int place : shared.assigned) {
    if (DispatchState::of_this_thread().inference) out[first].impl().inference = true;
    all.push_back({&argument.handle(place), out[first++]});
  }
  for (const SharedResults::One& s : shared.list)
    if (Tensor t; s.result < 0 && find_shared(shared, s.result, out, argument, symbols, at, t)) all.push_back({&argument.handle(-1 - s.result), t});
  for (auto& [to, value] : all) *to = static_cast<Tensor&&>(value);
}

TT_INLINE void run(const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols, bool plain, const char* name,
                   SourceLine at, const Leaves& results) {
  SmallVec<Tensor, few_results> out(e.function->outputs());
  if (plain && r.updated.empty() && !e.by_backend && e.ordered.empty() && !argument.may_have_tangents) {
    e.function->run(argument.tensor.data(), symbols, out.data());
  } else {
    const bool taped = !plain && argument.on_tape();
    execute(e, argument, symbols, r.updated, r.results, taped, taped, name, at, out.data());
  }
  int next = 0;
  for (int k = 0; k < results.tensor.size(); ++k)
    if (!r.shared || !find_shared(*r.shared, k, out.data(), argument, symbols, at, *results.tensor[k])) *results.tensor[k] = out[next++];
  if (r.shared) assign_handles(*r.shared, out.data(), r.results + static_cast<int>(r.updated.size()), argument, symbols, at);
}

TT_INLINE Text difference(const Guards& before, const Guards& now) {
  Text t;
  const auto &a = before.sizes, &b = now.sizes;
  if (a.is_constant()) return t << "all sizes were needed as numbers, and they are others";
  if (a.arguments != b.arguments) return t << "there are " << b.arguments << " Tensors, were " << a.arguments;
  for (int k = 0; k < b.arguments; ++k)
    if (now.requires_gradient(k) != before.requires_gradient(k))
      return t << "argument " << k << (now.requires_gradient(k) ? " requires a gradient, did not" : " requires no gradient, did");
  const std::vector<Signature::Input> was_given = a.inputs(), given = b.inputs();
  for (int k = 0; k < b.arguments; ++k) {
    const Signature::Input &is = given[static_cast<std::size_t>(k)], &was = was_given[static_cast<std::size_t>(k)];
    if (is.dtype != was.dtype) return t << "argument " << k << " is " << name(is.dtype) << ", was " << name(was.dtype);
    if (is.shape.rank != was.shape.rank) return t << "argument " << k << " has rank " << is.shape.rank << ", had " << was.shape.rank;
    if (!(is.shape == was.shape))
      return t << "argument " << k << " has sizes " << is.shape << ", had " << was.shape
               << " (equal sizes share a symbol; 0 and 1 are themselves)";
    if (!(is.strides == was.strides)) return t << "argument " << k << " lies otherwise in memory";
  }
  const auto same = [&](int from, int to, int other_from, int other_to) {
    if (to - from != other_to - other_from) return false;
    for (int k = 0; k < to - from; ++k)
      if (a.word[from + k] != b.word[other_from + k]) return false;
    return true;
  };
  const auto devices = [](const Guards& g) {  // a hash that tells them apart
    std::uint64_t h = 0;
    for (int k = g.overlaps; k < g.requires_grad - 1; ++k)
      if (g.sizes.word[k] < 0) h = (h ^ static_cast<std::uint64_t>(g.sizes.word[k])) * 0x9e3779b97f4a7c15u;
    return h;
  };
  if (devices(before) != devices(now)) return t << "an argument is on another device";
  if (!same(before.overlaps, before.requires_grad, now.overlaps, now.requires_grad)) return t << "arguments share memory otherwise";
  if (const std::int64_t was = a.word[before.modes], is = b.word[now.modes]; was != is) {
    if ((was ^ is) & 2) return t << "inference mode is " << (is & 2 ? "on, was off" : "off, was on");
    return t << "gradients are " << (is & 1 ? "enabled, were not" : "disabled, were not");
  }
  if (a.word.size() - before.numbers != b.word.size() - now.numbers || (a.word.size() > before.numbers && a.word[before.numbers] != b.word[now.numbers]))
    return t << "arguments have other types";
  const auto number = [&](std::int64_t v, const BitSet& real, int k) {
    char s[32];
    if (real.test(k)) std::snprintf(s, sizeof s, "%.9g", std::bit_cast<double>(v));
    else std::snprintf(s, sizeof s, "%lld", static_cast<long long>(v));
    t << s;
  };
  for (int k = 1; k < b.word.size() - now.numbers; ++k) {
    const std::int64_t was = a.word[before.numbers + k], is = b.word[now.numbers + k];
    if (was == is) continue;
    t << "number " << k - 1 << " is ";
    number(is, now.real_numbers, k);
    t << ", was ";
    number(was, before.real_numbers, k);
    return t << " (a Tensor without axes in its place may differ at each call)";
  }
  return t << "the arguments differ";
}

/// A copy in memory of its own with the same strides, for which the program is made; and with the same history.
inline Tensor copy_as_it_lies(const Tensor& t, SourceLine at) {
  const detail::TensorImpl& impl = t.impl();
  if (impl.contiguous) return t.clone(at);
  const auto [low, high] = detail::reach_of(impl);
  const std::int64_t one = 1, width = size_of(impl.dtype);
  const Tensor memory = detail::make_view(t, Shape{high - low + 1}, &one, impl.data + low * width, true).clone(at);
  Tensor copy = detail::make_view(memory, impl.shape, impl.stride, memory.impl().data - low * width, true);
  if (impl.requires_grad) detail::tape_hooks().adopt(copy, t);
  return copy;
}
/// Undoes the order of an OrderedOutput: a fresh Tensor with axes in memory order gets them in the order of the result.
inline void put_axes_in_order(Tensor& t, const SmallVec<int, 8>& axis, SourceLine at) {
  const detail::TensorImpl& lies = t.impl();
  const autograd::StepMode mode(true);  // the result of steps on the tape, even if gradients are disabled where the graph ends
  std::int64_t place[max_rank], strides[max_rank];
  Shape shape = lies.shape;
  for (int d = 0; d < axis.size(); ++d) {
    place[axis[d]] = d;
    shape.code[axis[d]] = lies.shape.code[d];
    strides[axis[d]] = lies.stride[d];
  }
  Tensor view = lies.is_differentiated() ? t.permute(std::span<const std::int64_t>(place, static_cast<std::size_t>(axis.size())), at)  // recorded by the tape
                                   : detail::make_view(t, shape, strides, lies.data, true);
  view.impl().leave_base();
  view.impl().is_view = false;
  t = static_cast<Tensor&&>(view);
}
TT_INLINE void execute(const Executable& e, const Arguments& argument, const SymbolValues& symbols, std::span<const int> updated,
                       int results, bool taped, bool updates_taped, const char* name, SourceLine at, Tensor* out) {
  const auto target = [&](std::size_t u) { return Tensor(argument[updated[u]]); };
  SmallVec<const Tensor*, 16> tensor = argument.tensor;
  std::vector<Tensor> old;  // the tape saves the elements from before an update, in memory of their own
  if (taped) old.reserve(updated.size());
  for (std::size_t u = 0; u < updated.size(); ++u) {
    detail::check_no_repeats(target(u), name, at);
    if (taped) old.push_back(copy_as_it_lies(target(u), at));
  }
  if (!old.empty()) {  // arguments that are the same as a target read the old elements, too
    const SmallVec<int, 16> same = argument.first_same();
    std::vector<const Tensor*> kept(static_cast<std::size_t>(argument.count()));
    for (std::size_t u = 0; u < updated.size(); ++u) kept[static_cast<std::size_t>(same[updated[u]])] = &old[u];
    for (int k = 0; k < argument.count(); ++k)
      if (const Tensor* const t = kept[static_cast<std::size_t>(same[k])]) tensor[k] = t;
  }
  if (e.by_backend) {
    std::vector<Tensor> given;
    for (int k = 0; k < argument.count(); ++k) given.push_back(*tensor[k]);
    std::vector<Tensor> made = e.by_backend(given);
    if (static_cast<int>(made.size()) != e.function->outputs())
      TT_THROW(Error(Text("tt::compile: ") << name << ": the backend gave " << static_cast<int>(made.size()) << " Tensors, the graph has "
                     << e.function->outputs() << " outputs." << at));
    for (std::size_t k = 0; k < made.size(); ++k) {  // each in memory of its own, as a program's outputs are
      bool shared = false;
      for (int j = 0; j < argument.count(); ++j) shared = shared || made[k].shares_storage(*tensor[j]);
      for (std::size_t j = 0; j < k; ++j) shared = shared || made[k].shares_storage(made[j]);
      out[k] = shared ? made[k].clone() : made[k];
    }
  } else if (argument.may_have_tangents) {
    if (!updated.empty()) TT_THROW(Error(Text("tt::") << name << ": the graph changes an argument, and has no tangents then. Call the function itself?" << at));
    autograd::run_on_duals(*e.function, e.function, symbols, name, at, tensor.data(), argument.count(), out);
  } else if (taped) {
    autograd::run_on_tape(*e.function, e.function, symbols, name, at, tensor.data(), argument.count(), out);
  } else {
    e.function->run(tensor.data(), symbols, out);
  }
  for (const OrderedOutput& o : e.ordered) put_axes_in_order(out[o.output], o.axis, at);
  if (DispatchState::of_this_thread().inference)
    for (int k = 0; k < results; ++k) out[k].impl().inference = true;
  for (std::size_t u = 0; u < updated.size(); ++u) {
    Tensor to = target(u);
    const Tensor& value = out[results + static_cast<int>(u)];
    const bool on_tape = taped && updates_taped && (value.requires_grad() || to.requires_grad());
    if (on_tape && !value.is_same(to)) detail::tape_hooks().check(to, at);
    if (!value.is_same(to)) detail::write_elements(to, value, at);
    detail::advance_version(to);
    if (on_tape && !value.is_same(to)) detail::tape_hooks().adopt(to, value);
  }
}

}  // namespace jit
}  // namespace tt

#include "tt/jit/tracer_inl.hpp"

namespace tt {
namespace jit {

TT_INLINE RecordingRun::RecordingRun() = default;
TT_INLINE RecordingRun::~RecordingRun() = default;
TT_INLINE void RecordingRun::begin(const char* name, const Guards& guards, TracerOptions options, const Arguments& argument, const Leaves& given) {
  const auto passed = std::count_if(given.tensor.begin(), given.tensor.end(), [](const Tensor* t) { return t->defined(); });
  tracer_.reset(new Tracer(name, guards, static_cast<TracerOptions&&>(options), argument, static_cast<int>(passed)));
  for (Tensor* t : given.tensor)
    if (t->defined()) *t = tracer_->next();
}
TT_INLINE void RecordingRun::returned(const Leaves& results) {
  for (Tensor* t : results.tensor) tracer_->returned(*t);
}
TT_INLINE Recording RecordingRun::finish(const Leaves& left, std::shared_ptr<const void> result) {
  for (int k = 0; k < left.tensor.size(); ++k) tracer_->left(*left.tensor[k], left.constant.test(k));
  return tracer_->finish(static_cast<std::shared_ptr<const void>&&>(result));
}

}  // namespace jit
}  // namespace tt
