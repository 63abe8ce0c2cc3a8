// Definitions of capture.hpp: guards, one run on stand-ins, which sizes are used as numbers, and how a recording runs.
#pragma once
#include "tt/dispatch/tracer.hpp"
#include "tt/jit/capture.hpp"

namespace tt {
namespace jit {

TT_INLINE bool overlap(const Tensor& x, const Tensor& y) {
  const Storage *a = x.impl().storage, *b = y.impl().storage;
  if (!a || !b || a == b) return a && a == b;
  const auto *p = static_cast<const std::byte*>(a->data), *q = static_cast<const std::byte*>(b->data);
  return p < q + b->bytes && q < p + a->bytes;
}
[[noreturn]] TT_INLINE void Numbers::refuse() {
  TT_THROW(Error(Text("tt::compile: a call has at most ") << capacity << " numbers."));
}
[[noreturn]] TT_INLINE void Arguments::refuse(const char* name, const Tensor& t) const {
  if (count == max_inputs)
    TT_THROW(Error(Text("tt::compile: ") << name << ": at most " << max_inputs << " Tensors can be passed."));
  TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << count << " has no elements: it is on device meta"
                 << (t.impl().trace_id < 0 ? "." : ", recorded by a capture.")));
}
TT_INLINE int Arguments::first_sharing(int k) const {
  for (int j = 0; j < k; ++j)
    if (share(j, k)) return j;
  return k;
}
TT_INLINE int Arguments::first_same(int k) const {
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
TT_INLINE bool Arguments::on_tape() const {
  bool any = false;
  for (int k = 0; k < count; ++k) any = any || tensor[k]->impl().requires_grad;
  return any && DispatchState::of_this_thread().grad_enabled;
}
TT_INLINE bool Arguments::overlaps_another(int k) const {
  for (int j = 0; j < count; ++j)
    if (j != k && share(j, k)) return true;
  return false;
}
TT_INLINE Results::Results(int count) : count_(count) {
  for (int k = 0; k < count_; ++k) new (&(*this)[k]) Tensor;
}
TT_INLINE Results::~Results() {
  for (int k = 0; k < count_; ++k) (*this)[k].~Tensor();
}

TT_INLINE bool Guards::differs_in_numbers_only(const Guards& o) const {
  if (numbers != o.numbers || sizes.words != o.sizes.words) return false;
  auto other = o.sizes;
  for (int k = numbers + 1; k < sizes.words; ++k) other.word[k] = sizes.word[k];  // the first is the types of arguments
  return sizes == other;
}
TT_INLINE Guards::Guards(const Arguments& a, const Numbers* n, unsigned as_numbers)
    : sizes(a.tensor, a.count, no_attributes, as_numbers), overlaps(sizes.words) {
  std::int64_t required = 0;
  const std::byte *begin[max_inputs], *end[max_inputs];  // of the memory of each
  for (int k = 0; k < a.count; ++k) {
    const detail::TensorImpl& t = a[k].impl();
    if (t.requires_grad) required |= std::int64_t{1} << k;
    if (t.device.type != DeviceType::cpu) sizes.push(-2 - ((std::int64_t{k} << 8 | static_cast<int>(t.device.type)) << 32 | t.device.index));
    begin[k] = t.storage ? static_cast<const std::byte*>(t.storage->data) : nullptr;
    end[k] = begin[k] + (t.storage ? t.storage->bytes + (t.storage->bytes == 0) : 0);
    int first = 0;
    while (first < k && (begin[first] >= end[k] || begin[k] >= end[first])) ++first;
    if (first != k) sizes.push((k << 8 | first) << 8 | a.first_same(k));
  }
  sizes.push(-1);
  requires_grad = sizes.words;
  sizes.push(required);
  const DispatchState& state = DispatchState::of_this_thread();
  sizes.push((state.grad_enabled ? 1 : 0) | (state.inference ? 2 : 0));
  numbers = sizes.words;
  if (!n) return;
  real_numbers = n->real;
  for (std::size_t k = 0; k < n->size; ++k) sizes.push(n->value[k]);
}

/// Of a RecordingRun.
class RecordingRun::Work {
 public:
  Work(const char* name, const Guards& guards, TracerOptions options, const SymbolValues& sizes, const Arguments& argument, int passed);
  Tensor next();
  void returned(Tensor& t);
  void left(const Tensor& t, bool constant);
  Recording finish(std::shared_ptr<const void> result);

 private:
  const char* name_;
  const Arguments& argument_;
  const int passed_;
  int next_ = 0, left_ = 0;
  Tracer tracer_;
  Recording recording_;
  std::vector<Tensor> stand_in_;
  std::vector<int> input_;  ///< nodes of the stand-ins

  static TracerOptions with_numbers(TracerOptions o, const Guards& guards) {
    o.as_numbers = guards.sizes.as_numbers;
    return o;
  }
  void put(int number, int id, bool assigned);
};
inline RecordingRun::Work::Work(const char* name, const Guards& guards, TracerOptions options, const SymbolValues& sizes,
                                const Arguments& argument, int passed)
    : name_(name), argument_(argument), passed_(passed), tracer_(with_numbers(static_cast<TracerOptions&&>(options), guards)) {
  tracer_.values = sizes;
  for (int k = argument.count - 1; k >= 0; --k)
    if (argument[k].dim() > 0 || k == 0) tracer_.runs_on = argument[k].device();
  for (int k = 0; k < argument.count; ++k) {
    const Tensor own = tracer_.input(guards.sizes.dtype[k], guards.sizes.shape[k], guards.sizes.strides[k]);
    own.impl().requires_grad = argument[k].impl().requires_grad;
    const int same = argument.first_same(k);  // what is passed twice is one Tensor
    stand_in_.push_back(same == k ? own : stand_in_[static_cast<std::size_t>(same)]);
  }
  for (const Tensor& t : stand_in_) input_.push_back(tracer_.id_of(t));
  for (int k = passed; k < argument.count; ++k) tracer_.hold(argument[k], input_[static_cast<std::size_t>(k)]);
}
inline Tensor RecordingRun::Work::next() { return stand_in_[static_cast<std::size_t>(next_++)]; }
inline void RecordingRun::Work::returned(Tensor& t) {
  tracer_.graph.output(tracer_.id_of(t));
  ++recording_.results;
  t = Tensor();
}
/// An argument is changed, and becomes what a node is.
inline void RecordingRun::Work::put(int number, int id, bool assigned) {
  bool shared = false;
  for (int j = 0; j < argument_.count; ++j)
    shared = shared || (j != number && argument_.share(j, number) &&
                        (assigned || number >= passed_ || j >= passed_ || argument_.first_same(j) != argument_.first_same(number)));
  if (shared)
    TT_THROW(Error(Text("tt::compile: ") << name_ << ": argument " << number << " is changed, and shares memory with another one. "
                   "Pass a copy of one of them?"));
  const bool taped = argument_.on_tape();  // then what was saved must stay as it is
  const bool donated = !taped && argument_[number].is_contiguous() && !argument_.overlaps_another(number);
  tracer_.graph.output(id, donated ? number : -1);
  recording_.updated.push_back(number);
}
inline void RecordingRun::Work::left(const Tensor& t, bool constant) {
  const int number = left_++, id = tracer_.id_of(t);
  const Tensor& before = stand_in_[static_cast<std::size_t>(number)];
  const bool assigned = !t.is_same(before);  // to the handle only
  if (id == input_[static_cast<std::size_t>(number)] || (assigned && constant)) return;
  if (argument_.first_same(number) != number && !assigned) return;  // updated there
  check_parameter(before, t, name_);
  put(number, id, assigned);
}
inline Recording RecordingRun::Work::finish(std::shared_ptr<const void> result) {
  Graph& g = tracer_.graph;
  for (int k = passed_; k < argument_.count; ++k)
    if (const int id = tracer_.id_of(argument_[k]); id != input_[static_cast<std::size_t>(k)]) put(k, id, false);
  if (g.outputs.size() > max_outputs) g.fail({.mistake = Mistake::too_many_outputs, .op = "compile", .number = g.outputs.size()});
  if (!tracer_.broken.empty()) throw GraphBreak{tracer_.broken, tracer_.broken_at};  // which the function caught
  if (g.failure) TT_THROW(Error(describe(g.failure)));
  recording_.result = static_cast<std::shared_ptr<const void>&&>(result);
  recording_.graph = canonical(g);
  return static_cast<Recording&&>(recording_);
}
TT_INLINE RecordingRun::RecordingRun(const char* name, const Guards& guards, TracerOptions options, const SymbolValues& sizes,
                                     const Arguments& argument, int passed)
    : work_(new Work(name, guards, static_cast<TracerOptions&&>(options), sizes, argument, passed)) {}
TT_INLINE RecordingRun::~RecordingRun() = default;
TT_INLINE Tensor RecordingRun::next() { return work_->next(); }
TT_INLINE void RecordingRun::returned(Tensor& t) { work_->returned(t); }
TT_INLINE void RecordingRun::left(const Tensor& t, bool constant) { work_->left(t, constant); }
TT_INLINE Recording RecordingRun::finish(std::shared_ptr<const void> result) {
  return work_->finish(static_cast<std::shared_ptr<const void>&&>(result));
}

inline bool same_graph(const Recording& a, const Recording& b) {
  const Graph &g = a.graph, &h = b.graph;
  if (g.size() != h.size() || g.outputs.size() != h.outputs.size() || a.updated != b.updated) return false;
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.outputs[k] != h.outputs[k]) return false;
  for (int i = 0; i < g.size(); ++i)
    if (!(g[i] == h[i])) return false;
  return true;
}
/// Sizes that are tried besides the real one: the next, of other parity, and about twice as large a one.
inline constexpr int tried_factors[] = {1, 2};
constexpr std::int64_t tried_size(std::int64_t size, int factor) { return factor * size + 1; }
/// Does the function do the same with these sizes?
inline bool same_with(const SymbolValues& sizes, const RecordOnce& once, const Recording& r) {
  try {
    return same_graph(r, once(sizes));
  } catch (const TensorMet&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // with other sizes it cannot run at all
    return false;
  }
}
/// The symbols, as bits, whose sizes it uses as numbers: it does something else when one of them alone changes.
inline unsigned sizes_used(const RecordOnce& once, const Guards& guards, const Recording& r) {
  const auto& sizes = guards.sizes;
  unsigned used = sizes.as_numbers;
  for (int s = 0; s < sizes.symbols; ++s)
    for (const int factor : tried_factors) {
      if (used >> s & 1) continue;
      SymbolValues other = sizes.values;
      other.value[s] = tried_size(other.value[s], factor);
      for (int k = 0; k < sizes.symbols; ++k)  // a size of its own, of the same parity
        if (k != s && other.value[k] == other.value[s]) {
          other.value[s] += 2;
          k = -1;
        }
      if (!same_with(other, once, r)) used |= 1u << s;
    }
  return used == sizes.as_numbers ? all_sizes : used;
}
TT_INLINE Recording record(const RecordOnce& once, const Guards& guards) {
  Recording r = once(guards.sizes.values);
  if (guards.sizes.symbols == 0) return r;
  for (const int factor : tried_factors) {
    SymbolValues other = guards.sizes.values;
    for (int s = 0; s < guards.sizes.symbols; ++s)
      if (!(guards.sizes.as_numbers >> s & 1)) other.value[s] = tried_size(other.value[s], factor);
    if (!same_with(other, once, r)) throw SizesNeeded{"the function itself", {}, sizes_used(once, guards, r)};
  }
  return r;
}

TT_INLINE void run_into(Tensor* out, const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols,
                        bool plain, const char* name, SourceLine at) {
  if (plain && r.updated.empty() && !e.by_backend) return e.function->run(argument.tensor, symbols, out);
  const bool taped = !plain && argument.on_tape();
  execute(e, argument, symbols, r.updated, r.results, taped, taped, name, at, out);
}

TT_INLINE Text difference(const Guards& before, const Guards& now) {
  Text t;
  const auto &a = before.sizes, &b = now.sizes;
  if (a.is_constant()) return t << "all sizes were needed as numbers, and they are others";
  if (a.arguments != b.arguments) return t << "there are " << b.arguments << " Tensors, were " << a.arguments;
  for (int k = 0; k < b.arguments; ++k) {
    if (b.dtype[k] != a.dtype[k]) return t << "argument " << k << " is " << name(b.dtype[k]) << ", was " << name(a.dtype[k]);
    if (b.shape[k].rank != a.shape[k].rank)
      return t << "argument " << k << " has rank " << b.shape[k].rank << ", had " << a.shape[k].rank;
    if (!(b.shape[k] == a.shape[k]))
      return t << "argument " << k << " has sizes " << b.shape[k] << ", had " << a.shape[k]
               << " (equal sizes share a symbol; 0 and 1 are themselves)";
    if (!(b.strides[k] == a.strides[k])) return t << "argument " << k << " lies otherwise in memory";
  }
  const auto same = [&](int from, int to, int other_from, int other_to) {
    if (to - from != other_to - other_from) return false;
    for (int k = 0; k < to - from; ++k)
      if (a.word[from + k] != b.word[other_from + k]) return false;
    return true;
  };
  const auto devices = [](const Guards& g) {  // a sum that tells them apart
    std::uint64_t h = 0;
    for (int k = g.overlaps; k < g.requires_grad - 1; ++k)
      if (g.sizes.word[k] < 0) h = (h ^ static_cast<std::uint64_t>(g.sizes.word[k])) * 0x9e3779b97f4a7c15u;
    return h;
  };
  if (devices(before) != devices(now)) return t << "an argument is on another device";
  if (!same(before.overlaps, before.requires_grad, now.overlaps, now.requires_grad)) return t << "arguments share memory otherwise";
  if (const std::int64_t was = a.word[before.requires_grad], is = b.word[now.requires_grad]; was != is)
    for (int k = 0; k < b.arguments; ++k)
      if ((was ^ is) >> k & 1) return t << "argument " << k << (is >> k & 1 ? " requires a gradient, did not" : " requires no gradient, did");
  if (const std::int64_t was = a.word[before.requires_grad + 1], is = b.word[now.requires_grad + 1]; was != is) {
    if ((was ^ is) & 2) return t << "inference mode is " << (is & 2 ? "on, was off" : "off, was on");
    return t << "gradients are " << (is & 1 ? "enabled, were not" : "disabled, were not");
  }
  if (a.words - before.numbers != b.words - now.numbers || (a.words > before.numbers && a.word[before.numbers] != b.word[now.numbers]))
    return t << "arguments have other types";
  const auto number = [&](std::int64_t v, std::uint64_t real, int k) {
    char s[32];
    if (real >> k & 1) std::snprintf(s, sizeof s, "%.9g", std::bit_cast<double>(v));
    else std::snprintf(s, sizeof s, "%lld", static_cast<long long>(v));
    t << s;
  };
  for (int k = 1; k < b.words - now.numbers; ++k) {
    const std::int64_t was = a.word[before.numbers + k], is = b.word[now.numbers + k];
    if (was == is) continue;
    t << "number " << k - 1 << " is ";
    number(is, now.real_numbers, k);
    t << ", was ";
    number(was, before.real_numbers, k);
    return t;
  }
  return t << "the arguments differ";
}

TT_INLINE void check_parameter(const Tensor& before, const Tensor& after, const char* name) {
  if (before.dtype() != after.dtype() || !(before.shape() == after.shape()))
    TT_THROW(Error(Text("tt::compile: ") << name << ": a parameter changes its shape or dtype: " << tt::name(before.dtype()) << ' '
                   << before.shape() << " became " << tt::name(after.dtype()) << ' ' << after.shape() << "."));
}

TT_INLINE void execute(const Executable& e, const Arguments& argument, const SymbolValues& symbols, std::span<const int> updated,
                       int results, bool taped, bool updates_taped, const char* name, SourceLine at, Tensor* out) {
  const auto target = [&](std::size_t u) { return Tensor(argument[updated[u]]); };
  const Tensor* tensor[max_inputs];
  for (int k = 0; k < argument.count; ++k) tensor[k] = &argument[k];
  std::vector<Tensor> old;  // the tape saves what was there before an update, in memory of its own
  if (taped) old.reserve(updated.size());
  for (std::size_t u = 0; u < updated.size(); ++u) {
    detail::check_no_repeats(target(u), name, at);
    if (!taped) continue;
    old.push_back(target(u).clone(at));
    for (int k = 0; k < argument.count; ++k)
      if (argument.first_same(k) == argument.first_same(updated[u])) tensor[k] = &old.back();
  }
  if (e.by_backend) {
    std::vector<Tensor> given;
    for (int k = 0; k < argument.count; ++k) given.push_back(*tensor[k]);
    std::vector<Tensor> made = e.by_backend(given);
    if (static_cast<int>(made.size()) != e.function->outputs())
      TT_THROW(Error(Text("tt::compile: ") << name << ": the backend gave " << static_cast<int>(made.size()) << " Tensors, the graph has "
                     << e.function->outputs() << " outputs." << at));
    for (std::size_t k = 0; k < made.size(); ++k) out[k] = made[k];
  } else if (taped) {
    autograd::run_on_tape(*e.function, e.function, symbols, name, at, tensor, argument.count, out);
  } else {
    e.function->run(tensor, symbols, out);
  }
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
