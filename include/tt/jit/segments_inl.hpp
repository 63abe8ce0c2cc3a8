// Definitions of segments.hpp: how a segment is found, compiled and run. One long file, because key, program and run share the numbering of
// values (RangeKey).
#pragma once
#include <algorithm>

#include "tt/jit/graph_builder.hpp"
#include "tt/jit/segment_recorder_inl.hpp"

namespace tt {
namespace jit {

/// Where a graph ended, and how often.
struct Break {
  const char* op = "";
  SourceLine at{};
  Text what;
  std::atomic<std::int64_t> count = 0;
  Break* next = nullptr;  ///< the one found before
};

inline Text in_words(const SizesNeeded& e) {
  Text t;
  t << (static_cast<const SizeSet&>(e.as_numbers).empty() ? "a size must be a multiple for " : "sizes are needed as numbers by ") << e.why;
  if (e.at.line) t << " at " << e.at.file << ':' << e.at.line;
  return t;
}

/// The role of a number given to an op: a size, of a fill too, is a symbol where an input has that size, and the first size of a reshape
/// that no input has follows from the others and the number of elements. Plain numbers are constants until they vary.
enum class NumberRole : char { plain, size, reshape_first, reshape_further };

/// A value as the words of a range name it.
struct RangeValue {
  enum class Kind : std::uint8_t { none, input, constant, result } kind = Kind::none;
  int index = 0;  ///< among those of its kind
  bool is(Kind k) const { return kind == k; }
  std::int64_t word() const { return static_cast<std::int64_t>(kind) << 32 | index; }
};
/// The key of a segment: a range of recorded steps, in numbers that do not depend on the call.
struct RangeKey {
  Arguments inputs;
  std::vector<int> input_value;     ///< the value of each input
  std::vector<RangeValue> local;    ///< of each value of the list
  std::vector<int> number_value;    ///< values that are constants, and
  std::vector<std::int64_t> number; ///< their bits
  std::vector<int> output;          ///< values that are needed afterwards
  std::vector<int> updated, update; ///< inputs that are written, and with which value
  std::vector<std::int64_t> words;  ///< the ops, their operands and results
  std::vector<std::int64_t> given;  ///< numbers given to the ops, in order,
  std::vector<NumberRole> role;     ///< and the role of each
  bool plain = true;                ///< all roles are plain
  std::vector<std::int64_t> code;   ///< codes of `given` where none varies: see each_code
  bool taped = false;

  /// hash() finds segments whose numbers vary; hash_of_numbers(hash()) finds the others.
  std::uint64_t hash(const Guards& guards) const { return Signature::hash_words(words.data(), static_cast<int>(words.size()), guards.sizes.hash()); }
  std::uint64_t hash_of_numbers(std::uint64_t h) const { return Signature::hash_words(code.data(), static_cast<int>(code.size()), h); }
};

/// Did a number given to an op change between calls? Then it is a symbol, as sizes of inputs are; `never`: the op can only take it as a
/// constant.
enum class Variation : char { no, yes, never };
constexpr bool may_be_symbol(std::int64_t n) { return n >= 2 && n <= std::int64_t{1} << 40; }

struct Segment {
  Guards guards;
  std::vector<std::int64_t> words, numbers;
  std::vector<char> dynamic;  ///< which of `numbers` are inputs
  std::vector<std::int64_t> code{};           ///< of the numbers given to ops
  std::vector<Variation> variation;           ///< of each of these
  std::vector<std::int64_t> code_of_numbers;  ///< `code`, if none varied
  Executable run{};           ///< without a function: sizes must be specialised
  std::vector<int> updated;
  SizeFacts as_numbers{};     ///< these sizes
  Vec<SizeGuard> size_guards{};  ///< assumptions on sizes
  int steps = 0, outputs = 0;
  SourceLine from{};          ///< its first step
  Text why{};                 ///< the reason of the compilation
  std::atomic<std::int64_t> calls = 0;
  bool varies = false;        ///< some number varies
};

/// Values of the symbols of a call: sizes of the inputs, then numbers that vary and equal none of these. Returns the number of symbols.
inline int add_symbols(const RangeKey& key, const Signature& sizes, const std::vector<Variation>& variation, SymbolValues& values) {
  int symbols = sizes.symbols;
  for (std::size_t i = 0; i < key.given.size(); ++i) {
    const std::int64_t n = key.given[i];
    if (variation[i] != Variation::yes || !may_be_symbol(n)) continue;
    int k = 0;
    while (k < symbols && values[k] != n) ++k;
    if (k == symbols) values.set(symbols++, n);
  }
  return symbols;
}
/// f(code) for each number given to ops, until it returns false: the code of a symbol, the number itself, or `rest` for a size that follows
/// from others.
template <class F>
bool each_code(const RangeKey& key, const Signature& sizes, const SymbolValues& values, int symbols, const std::vector<Variation>* variation, const F& f) {
  constexpr std::int64_t rest = INT64_MIN;
  bool open = false;
  for (std::size_t i = 0; i < key.given.size(); ++i) {
    const std::int64_t n = key.given[i];
    const NumberRole role = key.role[i];
    std::int64_t code = n;
    if (n > 1 && (role != NumberRole::plain || (variation && (*variation)[i] == Variation::yes && may_be_symbol(n))))
      for (int k = 0; k < symbols && code == n; ++k)
        if (values[k] == n) code = Extent::symbol(k).code;
    if (role == NumberRole::reshape_first) open = !sizes.is_constant();
    if (open && code == n && n > 1 && (role == NumberRole::reshape_first || role == NumberRole::reshape_further)) {
      code = rest;
      open = false;
    }
    if (!f(code)) return false;
  }
  return true;
}

TT_INLINE RecordedCall::RecordedCall(SegmentStore& store, const Arguments& arguments, bool holds) {
  static_assert(sizeof(SegmentRecorder) <= sizeof recorder_ && alignof(SegmentRecorder) <= 16);
  ::new (recorder_) SegmentRecorder(store, arguments, holds);
}
TT_INLINE RecordedCall::~RecordedCall() { std::destroy_at(std::launder(reinterpret_cast<SegmentRecorder*>(recorder_))); }
TT_INLINE void RecordedCall::finish(const Leaves& left, SourceLine at) {
  SegmentRecorder& recorder = *std::launder(reinterpret_cast<SegmentRecorder*>(recorder_));
  for (int k = 0; k < left.tensor.size(); ++k) recorder.left(*left.tensor[k], left.constant.test(k));
  recorder.finish(at);
}

TT_INLINE SegmentStore::SegmentStore(const CompileOptions& o, SourceLine at) : options_(o), where_(at) {}
TT_INLINE SegmentStore::~SegmentStore() {
  for (Break* b = breaks_; b;) {
    Break* const next = b->next;
    delete b;
    b = next;
  }
}

TT_INLINE void SegmentStore::note_break(const char* op, SourceLine at, const Text& what) {
  const auto find = [&]() -> Break* {
    for (Break* b = breaks_.load(std::memory_order_acquire); b; b = b->next)
      if (b->at.line == at.line && std::strcmp(b->op, op) == 0 && std::strcmp(b->at.file, at.file) == 0) return b;
    return nullptr;
  };
  Break* b = find();
  if (!b) {
    const detail::FlagLock lock(busy_);
    b = find();
    if (!b) {
      b = new Break{op, at, what, 0, breaks_.load()};
      breaks_.store(b, std::memory_order_release);
    }
  }
  b->count.fetch_add(1, std::memory_order_relaxed);
}

inline std::int64_t bits_of(const Tensor& number) {
  std::int64_t bits = 0;
  with_dtype(number.dtype(), [&]<class T>(T) {
    const T v = detail::first_element<T>(number.impl());
    std::memcpy(&bits, &v, sizeof v);
  });
  return bits;
}

/// Numbers all values of the range, and lists its inputs, outputs and updates.
TT_INLINE void SegmentStore::number_values(SegmentRecorder& r, int begin, int end, bool last, RangeKey& key) {
  const StepList& list = r.list();
  key.inputs.tensor.clear();
  key.input_value.clear();
  key.number_value.clear();
  key.number.clear();
  key.output.clear();
  key.updated.clear();
  key.update.clear();
  key.taped = false;
  using Kind = RangeValue::Kind;
  key.local.assign(list.values.size(), {});
  int results = 0;
  const auto add_input = [&](int v) {
    key.inputs.tensor.push_back(&list.real(v));
    key.input_value.push_back(v);
  };
  for (int i = begin; i < end; ++i) {
    const Step& s = list.step(i);
    for (int k = 0; k < s.operands; ++k) {
      const int o = list.operand(s, k);
      RangeValue& local = key.local[static_cast<std::size_t>(o)];
      if (!local.is(Kind::none)) continue;
      if (list.value(o).constant) {
        local = {Kind::constant, static_cast<int>(key.number.size())};
        key.number_value.push_back(o);
        key.number.push_back(bits_of(list.value(o).tensor));
      } else {
        local = {Kind::input, key.inputs.count()};
        add_input(o);
      }
    }
    for (int k = 0; k < s.results; ++k) {
      const int v = s.result + k;
      const Value& value = list.value(v);
      key.local[static_cast<std::size_t>(v)] = {Kind::result, results++};
      const bool read_later = value.last_use >= end;
      if (s.kind == StepKind::view ? !read_later : !value.needed && !read_later) continue;
      key.output.push_back(v);
      key.taped = key.taped || value.tensor.impl().requires_grad;
    }
  }
  if (last)
    for (const Update& u : list.updates) {
      if (!key.local[static_cast<std::size_t>(u.value)].is(Kind::result)) continue;  // of an earlier range: written by the recorder
      RangeValue& local = key.local[static_cast<std::size_t>(u.target)];
      RangeValue input = local;
      if (!local.is(Kind::input)) {  // its elements are written, though the range reads a constant or a result in its place
        input = {Kind::input, key.inputs.count()};
        add_input(u.target);
        if (local.is(Kind::none)) local = input;
      }
      key.updated.push_back(input.index);
      key.update.push_back(u.value);
    }
}

/// Writes the range as words, and lists the numbers given to its ops.
TT_INLINE void SegmentStore::describe(SegmentRecorder& r, int begin, int end, const Guards& guards, RangeKey& key) {
  constexpr std::int64_t separator = INT64_MIN;
  std::vector<std::int64_t>& w = key.words;
  w.clear();
  key.given.clear();
  key.role.clear();
  key.plain = true;
  const auto give = [&](std::int64_t n, NumberRole role) {
    key.plain = key.plain && role == NumberRole::plain;
    key.given.push_back(n);
    key.role.push_back(role);
  };
  const StepList& list = r.list();
  for (int i = begin; i < end; ++i) {
    const Step& s = list.step(i);
    w.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(s.op)));
    w.push_back(static_cast<int>(s.kind) | (s.detached || s.keeps_history ? 8 : 0) | s.operands << 4 | static_cast<std::int64_t>(s.results) << 24);
    w.push_back(s.words);
    for (int k = 0; k < s.operands; ++k) w.push_back(key.local[static_cast<std::size_t>(list.operand(s, k))].word());
    bool reshape = s.op == &detail::reshape_operator();
    const bool sizes = reshape || s.op == &detail::expand_operator();
    for (int k = 1; k < s.words && sizes; ++k) reshape = reshape && list.word(s, k) != 0;  // with no elements, a size does not follow from the others
    for (int k = 0; k < s.words; ++k)  // reshape and expand: the number of sizes, then the sizes
      give(list.word(s, k), !sizes || k == 0 ? NumberRole::plain : !reshape ? NumberRole::size : k == 1 ? NumberRole::reshape_first : NumberRole::reshape_further);
  }
  for (const int v : key.number_value) {
    const detail::TensorImpl& t = list.value(v).tensor.impl();
    w.push_back(static_cast<int>(t.dtype) + 16 * t.shape.rank);
    for (int k = 0; k < t.shape.rank; ++k) give(t.shape.code[k], NumberRole::size);
  }
  w.push_back(separator);
  for (const int v : key.output) w.push_back(key.local[static_cast<std::size_t>(v)].word());
  w.push_back(separator);
  for (std::size_t k = 0; k < key.update.size(); ++k) {
    w.push_back(key.updated[k]);
    w.push_back(key.local[static_cast<std::size_t>(key.update[k])].word());
  }
  key.code = key.given;
  if (key.plain) return;
  std::size_t next = 0;
  each_code(key, guards.sizes, guards.sizes.values, guards.sizes.symbols, nullptr, [&](std::int64_t code) {
    key.code[next++] = code;
    return true;
  });
}

/// A segment that fits this call, and the values of its symbols.
TT_INLINE Segment* SegmentStore::find(const Guards& guards, const RangeKey& key, SymbolValues& values) {
  const auto fits = [&](const Segment& s) {
    if (!s.guards.same(guards) || s.words != key.words) return false;
    for (std::size_t k = 0; k < key.number.size(); ++k)
      if (!s.dynamic[k] && s.numbers[k] != key.number[k]) return false;
    values = guards.sizes.values;
    if (!s.varies) {
      if (s.code != key.code) return false;
    } else {
      const int symbols = add_symbols(key, guards.sizes, s.variation, values);
      auto its = s.code.begin();
      if (!each_code(key, guards.sizes, values, symbols, &s.variation, [&](std::int64_t code) { return code == *its++; })) return false;
    }
    for (const SizeGuard& g : s.size_guards)
      if (!g.holds(values)) return false;
    return true;
  };
  const std::uint64_t h = key.hash(guards);
  return segments_.find_first({key.hash_of_numbers(h), h}, fits);
}

TT_INLINE Graph SegmentStore::build(SegmentRecorder& r, int begin, int end, const RangeKey& key, const SymbolValues& values, Segment& s, std::vector<OrderedOutput>& ordered) const {
  const Guards& guards = s.guards;
  GraphBuilder builder(values, guards.sizes.as_numbers, true);
  Graph& g = builder.graph;
  const StepList& list = r.list();
  const std::vector<Signature::Input> inputs = guards.sizes.inputs();
  for (int k = 0; k < key.inputs.count(); ++k) {
    const Signature::Input& given = inputs[static_cast<std::size_t>(k)];
    const int value = key.input_value[static_cast<std::size_t>(k)], in = g.input(given.dtype, given.shape, given.strides);
    if (!list.value(value).constant) builder.set_node(value, in);
  }
  for (std::size_t k = 0; k < key.number_value.size(); ++k) {
    const Tensor& t = list.value(key.number_value[k]).tensor;
    const Shape shape = builder.symbolic_shape(IntList(t.impl().shape));
    builder.set_node(key.number_value[k], s.dynamic[k] ? g.input(t.dtype(), shape) : builder.constant(t, shape));
  }
  std::size_t next = 0;  // index in key.given
  builder.add(list, begin, end, [&](Attributes& a) {
    for (int k = 0; k < a.size(); ++k, ++next)  // the builder finds sizes of reshapes and expansions by value
      if (s.variation[next] == Variation::yes && key.role[next] == NumberRole::plain && s.code[next] != key.given[next]) a.express(k, Extent::from_code(s.code[next]));
  });
  for (const int v : key.output) {
    if (list.step(list.value(v).step).kind == StepKind::view) g.output(builder.node(v));
    else add_output(g, builder.node(v), list.value(v).tensor, ordered);
  }
  bool may_throw = false;  // an op may reject its elements: no argument may have changed then
  for (int i = begin; i < end; ++i) may_throw = may_throw || (list.step(i).op && list.step(i).op->external);
  for (std::size_t k = 0; k < key.update.size(); ++k) {
    const int into = key.updated[k];
    bool donated = !key.taped && !may_throw && key.inputs.lies_alone(into);
    for (std::size_t j = 0; j < key.number_value.size(); ++j)  // a fill that is read, and then changed
      donated = donated && !(s.dynamic[j] && overlap(list.value(key.number_value[j]).tensor, key.inputs[into]));
    g.output(builder.node(key.update[k]), donated ? into : -1);
  }
  s.size_guards = builder.take_guards();
  if (g.failure) TT_THROW(Error(tt::describe(g.failure)));
  return builder.finished(key.taped);
}

TT_INLINE int SegmentStore::segments() {
  const auto reading = segments_.read();
  int n = 0;
  segments_.each([&](const Segment& s) {
    n += s.run.function != nullptr;
    return false;
  });
  return n;
}
/// A new segment, with its reason: numbers in which it differs from an earlier one are inputs or symbols.
TT_INLINE std::unique_ptr<Segment> SegmentStore::fresh(const Guards& guards, const RangeKey& key) const {
  auto s = std::unique_ptr<Segment>(new Segment{.guards = guards, .words = key.words, .numbers = key.number, .dynamic = std::vector<char>(key.number.size()),
                                                .variation = std::vector<Variation>(key.given.size()), .code_of_numbers = key.code, .updated = key.updated});
  const Segment *alike = nullptr, *same = nullptr;  // the newest with these ops; and with such Tensors too
  segments_.each([&](const Segment& o) {
    if (o.words != key.words) return false;
    if (!alike) alike = &o;
    if (o.guards.same(guards)) same = &o;
    return same != nullptr;
  });
  if (same) {
    s->why = Text("a number is another one than before: it is an input from now on");
    for (std::size_t k = 0; k < key.number.size(); ++k) s->dynamic[k] = same->dynamic[k] || same->numbers[k] != key.number[k];
    s->variation = same->variation;
    for (std::size_t k = 0; k < key.code.size(); ++k) {
      if (s->variation[k] != Variation::no || same->code_of_numbers[k] == key.code[k]) continue;
      // Symbols exist only where sizes have some; and a backend of the user's is told sizes of inputs, no others.
      s->variation[k] = guards.sizes.is_constant() || options_.backend.find() ? Variation::never : Variation::yes;
      s->why = Text("an op is given another size or place than before: it is a symbol from now on");
    }
  } else if (alike && !guards.sizes.is_constant()) {
    s->variation = alike->variation;
  }
  if (!alike) s->why << (segments_.size() > 0 ? "other ops, or other results in use" : "first call");
  else if (!same) s->why = alike->run.function || alike->guards.sizes.is_constant() ? difference(alike->guards, guards) : alike->why;
  return s;
}
/// Makes graph and program of `s`; numbers that ops need as constants become no symbols. Without a program: sizes of inputs must be
/// specialised.
TT_INLINE void SegmentStore::compile(SegmentRecorder& r, int begin, int end, const RangeKey& key, Segment& s, SymbolValues& values) const {
  const Signature& sizes = s.guards.sizes;
  for (bool again = true; again;) {
    again = false;
    values = sizes.values;
    s.code.clear();
    each_code(key, sizes, values, add_symbols(key, sizes, s.variation, values), &s.variation, [&](std::int64_t code) {
      s.code.push_back(code);
      return true;
    });
    try {
      std::vector<OrderedOutput> ordered;
      s.run = make_executable(build(r, begin, end, key, values, s, ordered), key.inputs, values, key.taped, true, options_);
      s.run.ordered = static_cast<std::vector<OrderedOutput>&&>(ordered);
    } catch (const SizesNeeded& e) {
      for (std::size_t k = 0; k < s.code.size(); ++k) {
        if (s.variation[k] != Variation::yes || s.code[k] == key.given[k]) continue;
        bool needed = false;  // as a constant; or, for a symbol that no input has, with a divisor
        for (int symbol : symbols_of(Extent::from_code(s.code[k])).some) needed = needed || e.as_numbers.test(symbol) || (symbol >= sizes.symbols && e.as_numbers.multiple(symbol) > 1);
        if (!needed) continue;
        s.variation[k] = Variation::never;
        again = true;
      }
      if (again) continue;
      if (sizes.is_constant()) throw;
      s.as_numbers = e.as_numbers;
      s.size_guards = e.guards;  // the need is known only for sizes that fit these
      s.why = in_words(e);
    }
  }
  for (const Variation v : s.variation) s.varies = s.varies || v == Variation::yes;
}
TT_INLINE Segment* SegmentStore::add(SegmentRecorder& r, int begin, int end, const Guards& guards, const RangeKey& key, SymbolValues& values) {
  const detail::FlagLock lock(busy_);
  if (Segment* s = find(guards, key, values)) return s;  // another thread was first
  if (!segments_.has_room()) return nullptr;
  std::unique_ptr<Segment> s = fresh(guards, key);
  s->steps = end - begin;
  s->outputs = static_cast<int>(key.output.size());
  s->from = r.list().step(begin).at;
  compile(r, begin, end, key, *s, values);
  std::uint64_t hash = key.hash(guards);
  if (!s->varies) hash = key.hash_of_numbers(hash);
  return segments_.insert(hash, std::move(s));
}

/// A copy with the axis order that `t` has in memory.
inline Tensor copied_as_it_lies(const Tensor& t) {
  const detail::MemoryOrder order(t);
  if (order.is_row_major() || !order.has_no_gaps(t)) return t.clone();
  IntList there, back = IntList(t.impl().shape);
  for (int d = 0; d < t.dim(); ++d) {
    there.push_back(order.axis[d]);
    back[order.axis[d]] = d;
  }
  return t.permute(there).clone().permute(back);
}
TT_INLINE void SegmentStore::run(SegmentRecorder& r, int begin, int end, bool last) {
  if (begin >= end) return;
  const auto reading = segments_.read();
  thread_local constinit tt::detail::Spare<RangeKey> spare;
  std::unique_ptr<RangeKey> own(spare.take());
  RangeKey& key = *own;
  number_values(r, begin, end, last, key);
  if (key.output.empty() && key.update.empty()) {  // no result is in use
    spare.keep(own.release());
    return;
  }
  for (int k = 0; key.taped && k < key.inputs.count(); ++k)
    if (r.may_change_again(key.inputs[k]) && std::find(key.updated.begin(), key.updated.end(), k) == key.updated.end()) {
      const autograd::StepMode mode(true);
      Value& v = r.list().value(key.input_value[static_cast<std::size_t>(k)]);
      v.real = copied_as_it_lies(key.inputs[k]);
      key.inputs.tensor[k] = &v.real;
    }
  bool done = false;
  try {
    done = run_compiled(r, begin, end, key);
  } catch (const Error&) {  // the function may catch it: steps before the failing op must have run
    run_op_by_op(r, begin, r.first_gradient(begin, end), false);
    throw;
  }
  spare.keep(own.release());
  if (done) return;
  one_by_one_.fetch_add(1, std::memory_order_relaxed);
  run_op_by_op(r, begin, end, last);
}
/// False: there is no room for another segment.
TT_INLINE bool SegmentStore::run_compiled(SegmentRecorder& r, int begin, int end, RangeKey& key) {
  for (SizeFacts as_numbers;;) {
    const Guards guards(key.inputs, nullptr, as_numbers);
    describe(r, begin, end, guards, key);
    SymbolValues values;
    Segment* s = find(guards, key, values);
    if (!s) s = add(r, begin, end, guards, key, values);
    if (!s) return false;
    if (!s->run.function) {
      if (s->as_numbers == as_numbers) TT_THROW(InternalError(Text("tt::compile: ") << options_.name << ": sizes are needed that are known already."));
      as_numbers = s->as_numbers;
      continue;
    }
    s->calls.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t k = 0; k < key.number.size(); ++k)
      if (s->dynamic[k]) key.inputs.tensor.push_back(&r.list().value(key.number_value[k]).tensor);
    SmallVec<Tensor, few_results> out(static_cast<int>(key.output.size() + key.update.size()));
    execute(s->run, key.inputs, values, key.updated, static_cast<int>(key.output.size()), key.taped, false,
            options_.name, s->from, out.data());
    for (std::size_t k = 0; k < key.output.size(); ++k) {
      Value& v = r.list().value(key.output[k]);
      Tensor& made = out[static_cast<int>(k)];
      if (r.list().step(v.step).kind == StepKind::view) v.real = made;
      else SegmentRecorder::adopt(v.tensor, made);
    }
    return true;
  }
}

TT_INLINE void SegmentStore::run_op_by_op(SegmentRecorder& r, int begin, int end, bool last) {
  for (int i = begin; i < end; ++i) r.run_step(i);
  if (last) r.write_updates(begin, end);
}

TT_INLINE int SegmentStore::kernels() {
  const auto reading = segments_.read();
  int n = 0;
  segments_.each([&](const Segment& s) {
    const bool runs = s.run.function && !s.run.by_backend;
    if (runs) n = s.run.forward().kernels();
    return runs;
  });
  return n;
}
TT_INLINE backend::TileProgram::Calls SegmentStore::calls() {
  const auto reading = segments_.read();
  backend::TileProgram::Calls sum;
  segments_.each([&](const Segment& s) {
    if (!s.run.function || s.run.by_backend) return false;
    const auto [tier0, tier1] = s.run.forward().calls();
    sum.tier0 += tier0;
    sum.tier1 += tier1;
    return false;
  });
  return sum;
}

}  // namespace jit
}  // namespace tt
