// The captures of a compiled function with their guards, and explain(). A call takes a capture whose guards fit, or makes one. Without room
// for it, the call runs op by op; with graph breaks, or too many captures for different numbers or sizes, its ops are recorded
// (segments.hpp).
//   CallPlan p = state.plan(record, argument, numbers, holds);   p.way, p.capture
#pragma once
#include "tt/jit/segments.hpp"

namespace tt {
namespace jit {

/// A recording, ready to run. Without `run.function`: sizes must be specialised, or the function has graph breaks, and is recorded at every
/// call.
struct Capture {
  Guards guards;
  Recording recording;
  Executable run;
  bool breaks = false;
  SizeFacts as_numbers;  ///< without a function: sizes that must be specialised, or have a divisor
  Vec<SizeGuard> size_guards;  ///< assumptions of the function on sizes
  Text why;  ///< the reason of the capture
  std::atomic<std::int64_t> calls = 0;

  bool is_ready() const { return run.function || breaks; }
  /// The first of the size guards that does not hold, or null.
  const SizeGuard* broken_guard(const SymbolValues& symbols) const {
    for (const SizeGuard& g : size_guards)
      if (!g.holds(symbols)) return &g;
    return nullptr;
  }
  /// May it run on duals? Not with changes in place, effects (random draws) or while loops, as tangents are a program of their own.
  TT_INLINE bool takes_duals() const;
  /// For a capture that is not ready: the sizes to specialise.
  TT_INLINE SizeFacts numbers_for(const Guards& now, const char* name) const;
};

/// How a call of a compiled function goes on.
struct CallPlan {
  enum class Way { op_by_op, recorded, compiled } way;
  RecentTable<Capture, 128>::Reading reading;  ///< held while the capture is used
  const Capture* capture = nullptr;            ///< that runs compiled
  SymbolValues sizes{};                        ///< of the capture's symbols
  bool plain = false;                          ///< neither on the tape nor in inference mode
};

/// The captures of a function.
struct CompiledState {
  /// At most 128. Where all were in use lately, calls that would need another one run op by op.
  RecentTable<Capture, 128> captures;
  detail::BusyFlag busy;
  SegmentStore segments;
  const CompileOptions options;
  /// Tensors that a frozen function uses. The list only grows.
  struct Held {
    Tensor tensor;
    std::atomic<Held*> next = nullptr;
  };
  std::atomic<Held*> held = nullptr;

  TT_INLINE CompiledState(const CompileOptions& o, SourceLine at);
  CompiledState(const CompiledState&) = delete;
  TT_INLINE ~CompiledState();
  /// Chooses a capture for a call, or makes one with `record`. `holds`: Tensors that the function holds become arguments, too.
  TT_INLINE CallPlan plan(const Record& record, Arguments& argument, Numbers& numbers, bool holds);
  /// The newest capture first, until f returns true.
  TT_INLINE void each_capture(CallableRef<bool(const Capture&)> f);
  /// Call it while captures are read. `values`: of the symbols of the capture.
  TT_INLINE Capture* find(const Guards& now, SymbolValues& values);
  /// At most so many captures differ in numbers only, or in sizes that the function looks at. Calls with further ones are recorded
  /// (segments.hpp): there, numbers that vary are inputs and sizes are symbols.
  static constexpr int most_alike = 8;
  /// Sizes of parameters are specialised, so that loops over them have constant ends, until one changes.
  struct ParameterSizes {
    BitSet parameters;
    std::uint64_t hash = 0;
  };
  std::vector<ParameterSizes> parameter_sizes;
  std::atomic<bool> parameters_vary = false;
  const BitSet* fixed(const Arguments& a) const { return parameters_vary.load(std::memory_order_relaxed) ? &none_ : &a.parameters; }
  /// For a call that no capture fits: have specialised sizes of parameters changed? From then on they are symbols.
  TT_INLINE bool parameters_changed(const Arguments& a);
  std::atomic<std::int64_t> calls_with_tangents = 0, calls_without_room = 0;  ///< that ran op by op
  std::atomic<std::int64_t> further_numbers = 0, further_sizes = 0;  ///< calls that numbers_vary() found, by reason
  TT_INLINE bool numbers_vary(const Guards& now);
  /// Is there no room for a capture, as all others were in use lately? Recording such calls would take longer than running them.
  bool is_full() { return !(options.fullgraph || captures.has_room()); }
  /// The capture for these guards, made if there is none; `values`: of its symbols at this call. Null: the function holds one more Tensor,
  /// or there is no room.
  TT_INLINE Capture* capture(const Record& record, const Guards& now, const Arguments& argument, SymbolValues& values);
  /// A capture still to be filled, with its reason.
  TT_INLINE std::unique_ptr<Capture> fresh(const Guards& now) const;
  /// Marks `c` as one that needs specialised sizes, or has graph breaks.
  TT_INLINE static void note(Capture& c, const SizesNeeded& e);
  TT_INLINE static void note(Capture& c, const GraphBreak& e);
  /// Adds a Tensor that the function holds.
  TT_INLINE void hold(const Tensor& t);
  /// The beginning of an error about a graph break.
  TT_INLINE Text whole() const;
  TT_INLINE Text explain();

 private:
  const BitSet none_;
  /// A cache for calls with equal sizes that fit a capture of different sizes: the hash of that capture, by the hash of the call. A capture
  /// found by it is compared like any other.
  std::atomic<std::uint64_t> last_for_equal_[64] = {};
};

#if TT_DEFINES(jit)

inline void write(Text& t, const SizeGuard& g) {
  if (g.least == g.most) t << g.extent << " is " << g.least;
  else if (g.least != INT64_MIN && g.most != INT64_MAX) t << g.extent << " is " << g.least << " to " << g.most;
  else if (g.most == INT64_MAX) t << g.extent << " is at least " << g.least;
  else t << g.extent << " is at most " << g.most;
  if (g.at.line) t << " (" << g.at.file << ':' << g.at.line << ')';
}
inline CompileOptions with_name(CompileOptions o) {
  if (!o.name.text) o.name = CompileOptions().name;
  return o;
}
TT_INLINE CompiledState::CompiledState(const CompileOptions& o, SourceLine at) : segments(with_name(o), at), options(with_name(o)) {}
TT_INLINE Capture* CompiledState::find(const Guards& now, SymbolValues& values) {
  values = now.sizes.values;
  const std::uint64_t hash = now.sizes.hash();
  if (Capture* c = captures.find(hash, [&](const Capture& o) { return o.guards.same(now) && !o.broken_guard(values); })) return c;
  const auto does = [&](const Capture& c) { return c.run.function && now.fits(c.guards, values) && !c.broken_guard(values); };
  std::atomic<std::uint64_t>& last = last_for_equal_[hash % (sizeof(last_for_equal_) / sizeof(last_for_equal_[0]))];
  if (Capture* c = captures.find_again(last.load(std::memory_order_relaxed), does)) return c;
  Capture* const found = captures.find_any(does);
  if (found) last.store(found->guards.sizes.hash(), std::memory_order_relaxed);
  else values = now.sizes.values;
  return found;
}
TT_INLINE void CompiledState::each_capture(CallableRef<bool(const Capture&)> f) {
  const auto reading = captures.read();
  captures.each(f);
}
TT_INLINE CallPlan CompiledState::plan(const Record& record, Arguments& argument, Numbers& numbers, bool holds) {
  using Way = CallPlan::Way;
  CallPlan call{Way::op_by_op, captures.read()};
  const std::atomic<Held*>* next_held = &held;
  for (const Arguments::Absent& a : argument.absent) numbers.push(a.place, false);
  for (SizeFacts as_numbers;;) {
    if (holds)
      while (Held* h = next_held->load(std::memory_order_acquire)) {
        argument.add(options.name, h->tensor, true);
        next_held = &h->next;
      }
    const Guards now(argument, &numbers, as_numbers, fixed(argument));
    Capture* c = find(now, call.sizes);
    if (!c) {
      if (parameters_changed(argument)) {
        as_numbers = {};
        continue;
      }
      if (numbers_vary(now)) {
        if (argument.may_have_tangents) calls_with_tangents.fetch_add(1, std::memory_order_relaxed);
        else call.way = Way::recorded;
        return call;
      }
      if (is_full()) {
        calls_without_room.fetch_add(1, std::memory_order_relaxed);
        return call;
      }
      c = capture(record, now, argument, call.sizes);
      if (!c) continue;  // the function holds one more Tensor, or there is no room any more
    }
    if (!c->is_ready()) {
      as_numbers = c->numbers_for(now, options.name);
      continue;
    }
    c->calls.fetch_add(1, std::memory_order_relaxed);
    if (argument.may_have_tangents && !c->takes_duals()) {
      calls_with_tangents.fetch_add(1, std::memory_order_relaxed);
    } else if (c->breaks) {
      call.way = Way::recorded;
    } else {
      call.way = Way::compiled;
      call.capture = c;
      argument.add_constants(c->recording.constants);
      call.plain = !now.on_tape() && !now.in_inference_mode();
    }
    return call;
  }
}
TT_INLINE bool CompiledState::parameters_changed(const Arguments& a) {
  if (parameters_vary.load()) return false;
  std::uint64_t hash = 0;
  for (int k : a.parameters) hash = Signature::hash_words(a[k].impl().shape.code, a[k].dim(), hash);
  const detail::FlagLock lock(busy);
  for (const ParameterSizes& known : parameter_sizes)
    if (known.parameters == a.parameters) {
      if (known.hash != hash) parameters_vary.store(true);
      return known.hash != hash;
    }
  parameter_sizes.push_back({a.parameters, hash});
  return false;
}
TT_INLINE bool CompiledState::numbers_vary(const Guards& now) {
  if (options.fullgraph) return false;
  int in_numbers = 0, in_sizes = 0;
  captures.each([&](const Capture& c) {
    in_numbers += c.guards.differs_in_numbers_only(now);  // ready, or waiting for sizes to specialise
    in_sizes += c.run.function && (c.guards.differs_in_sizes_only(now) || c.guards.same(now));
    return in_numbers >= most_alike || in_sizes >= most_alike;
  });
  if (in_numbers < most_alike && in_sizes < most_alike) return false;
  (in_numbers < most_alike ? further_sizes : further_numbers).fetch_add(1, std::memory_order_relaxed);
  return true;
}
TT_INLINE Text CompiledState::whole() const { return Text("compile: ") << options.name << ": a graph break, and fullgraph is set: "; }
TT_INLINE SizeFacts Capture::numbers_for(const Guards& now, const char* name) const {
  if (now.sizes.is_constant()) TT_THROW(InternalError(Text("tt::compile: ") << name << ": sizes are needed although all are known."));
  return as_numbers;
}
TT_INLINE CompiledState::~CompiledState() {
  for (Held* h = held; h;) {
    Held* const next = h->next;
    delete h;
    h = next;
  }
}
TT_INLINE std::unique_ptr<Capture> CompiledState::fresh(const Guards& now) const {
  auto c = std::unique_ptr<Capture>(new Capture{now, {}, {}, false, {}, {}, Text("first call"), 0});
  const Capture* newest = nullptr;
  const Capture* alike = nullptr;  // the reason is the difference from the most similar capture
  int least = 0;
  captures.each([&](const Capture& o) {
    if (!newest) newest = &o;
    if (!newest->is_ready()) return true;
    const auto &a = o.guards.sizes.word, &b = now.sizes.word;
    int differing = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
    for (int k = 0; k < a.size() && k < b.size(); ++k)
      differing += k >= now.requires_grad && k < now.modes ? std::popcount(static_cast<std::uint64_t>(a[k] ^ b[k])) : a[k] != b[k];
    if (o.is_ready() && (!alike || differing < least)) {
      alike = &o;
      least = differing;
    }
    return false;
  });
  if (newest && !newest->is_ready()) c->why = newest->why;
  else if (alike && alike->guards.same(now)) write(c->why = Text("it is otherwise that "), *alike->broken_guard(now.sizes.values));
  else if (alike) c->why = difference(alike->guards, now);
  return c;
}
TT_INLINE Capture* CompiledState::capture(const Record& record, const Guards& now, const Arguments& argument, SymbolValues& values) {
  const detail::FlagLock lock(busy);  // captures one at a time
  if (Capture* c = find(now, values)) return c;  // another thread was first
  auto c = fresh(now);
  try {
    c->recording = record(now);
    c->size_guards = static_cast<Vec<SizeGuard>&&>(c->recording.guards);
    check_marks(argument, now, {}, c->size_guards, options.name, "", {});
    Arguments all = argument;
    all.add_constants(c->recording.constants);
    c->run = make_executable(c->recording.graph, all, now.sizes.values, now.on_tape(), false, options);
    c->run.ordered = c->recording.ordered;
  } catch (const TensorMet& e) {
    hold(e.tensor);
    return nullptr;
  } catch (const SizesNeeded& e) {
    check_marks(argument, now, e.as_numbers, {}, options.name, e.why, e.at);
    note(*c, e);
  } catch (const GraphBreak& e) {
    note(*c, e);
  }
  return captures.insert(now.sizes.hash(), std::move(c), options.fullgraph);
}
TT_INLINE void CompiledState::note(Capture& c, const SizesNeeded& e) {
  c.as_numbers = e.as_numbers;
  c.size_guards = e.guards;
  c.why = in_words(e);
}
TT_INLINE void CompiledState::note(Capture& c, const GraphBreak&) { c.breaks = true; }
TT_INLINE void CompiledState::hold(const Tensor& t) {
  std::atomic<Held*>* last = &held;
  while (Held* h = last->load()) last = &h->next;
  last->store(new Held{t}, std::memory_order_release);
}

/// The guards of a capture, in words.
inline void list_guards(Text& t, const Guards& g, const Vec<SizeGuard>& sizes) {
  t << "     guards:";
  int k = 0;
  for (const Signature::Input& in : g.sizes.inputs()) {
    t << (k ? ", " : " ") << name(in.dtype) << ' ' << in.shape;
    if (in.strides.rank > 0) t << " with strides " << in.strides;
    if (g.requires_gradient(k++)) t << " that requires a gradient";
  }
  const std::int64_t modes = g.sizes.word[g.modes];
  if (!static_cast<const SizeSet&>(g.sizes.as_numbers).empty()) t << (g.sizes.is_constant() ? "; sizes as numbers" : "; some sizes as numbers");
  bool shared = false, elsewhere = false;
  for (k = g.overlaps; k < g.requires_grad - 1; ++k) (g.sizes.word[k] < 0 ? elsewhere : shared) = true;
  t << (shared ? "; some share memory" : "") << (elsewhere ? "; on other devices" : "");
  if (const int n = g.sizes.word.size() - g.numbers - 1; n > 0) t << "; " << n << (n == 1 ? " number" : " numbers");
  for (const SizeGuard& s : sizes) write(t << "; ", s);
  t << "; gradients " << (modes & 1 ? "enabled" : "disabled") << (modes & 2 ? "; inference mode" : "") << '\n';
}
inline void list_capture(Text& t, const Capture& c, int number, const CompileOptions& options) {
  t << "  " << number << ": ";
  if (c.breaks) {
    t << "has graph breaks, recorded at each of " << c.calls.load() << " calls; " << c.why << '\n';
    return list_guards(t, c.guards, c.size_guards);
  }
  t << c.recording.graph.size() << " nodes, ";
  if (c.run.by_backend) t << "called " << c.calls.load() << " times";
  else t << c.run.forward().kernels() << " kernels, called " << c.calls.load() << " times, "
         << c.run.forward().calls().tier1 << " of them on tier 1";
  t << "; " << c.why << '\n';
  list_guards(t, c.guards, c.size_guards);
  for (std::size_t k = 0; k < c.recording.updated.size(); ++k)
    t << (k ? ", " : "     changes in place: ") << "argument " << c.recording.updated[k];
  if (!c.recording.updated.empty()) t << '\n';
  if (c.recording.shared)
    for (const auto& s : c.recording.shared->list)
      if (s.result >= 0) t << "     result " << s.result << (s.steps.empty() ? " is argument " : " is a view of argument ") << s.argument << '\n';
  list_kernels(t, c.run, options);
}

TT_INLINE bool Capture::takes_duals() const { return !breaks && recording.updated.empty() && !run.by_backend && !has_effects(recording.graph); }
TT_INLINE Text CompiledState::explain() {
  const auto reading = captures.read();
  std::vector<const Capture*> list;
  captures.each([&](const Capture& c) {
    if (c.is_ready()) list.insert(list.begin(), &c);
    return false;
  });
  Text t;
  t << options.name << ": " << list.size() << (list.size() == 1 ? " capture\n" : " captures\n");
  int k = 0;
  for (const Capture* c : list) list_capture(t, *c, ++k, options);
  if (k > 0) t << "  numbers that are no arguments (globals, captured variables) are those of the capture: nothing guards them\n";
  if (const std::int64_t n = further_numbers.load())
    t << "  " << n << " calls with other numbers, recorded at each: more than " << most_alike << " were met\n";
  if (const std::int64_t n = further_sizes.load())
    t << "  " << n << " calls with other sizes, recorded at each: the function looks at sizes, and more than " << most_alike << " were met\n";
  if (captures.evicted() + captures.refused() > 0)
    t << "  " << captures.evicted() << " captures were dropped for others, " << captures.refused() << " were not kept: at most " << captures.most
      << " are\n";
  segments.explain(t);
  if (const std::int64_t n = calls_without_room.load()) t << "  " << n << (n == 1 ? " call" : " calls") << " found no room for a capture and ran op by op\n";
  if (const std::int64_t n = calls_with_tangents.load()) t << "  " << n << (n == 1 ? " call" : " calls") << " with tangents of a tt::DualLevel ran op by op\n";
  const char* between = "  holds ";
  for (const Held* h = held.load(std::memory_order_acquire); h; h = h->next.load(std::memory_order_acquire)) {
    t << between << name(h->tensor.dtype()) << ' ' << h->tensor.shape();
    between = ", ";
  }
  if (held.load()) t << '\n';
  if (options.tier > 0) t << "  " << CodeCache::get().report();
  return t;
}

TT_INLINE void SegmentStore::explain(Text& t) {
  std::vector<const Break*> breaks;
  for (const Break* b = breaks_.load(std::memory_order_acquire); b; b = b->next) breaks.insert(breaks.begin(), b);
  if (!breaks.empty()) t << "  graph breaks:\n";
  for (const Break* b : breaks) {
    t << "     " << b->what << ", " << b->count.load() << " times";
    if (b->at.line) t << "   " << b->at.file << ':' << b->at.line;
    t << '\n';
  }
  const auto reading = segments_.read();
  std::vector<const Segment*> list;
  segments_.each([&](const Segment& s) {
    if (s.run.function) list.insert(list.begin(), &s);
    return false;
  });
  if (!list.empty()) t << "  segments:\n";
  int k = 0;
  for (const Segment* s : list) {
    t << "  " << ++k << ": " << s->steps << (s->steps == 1 ? " step, " : " steps, ") << s->run.function->graph().size() << " nodes, ";
    if (!s->run.by_backend) t << s->run.forward().kernels() << " kernels, ";
    t << s->outputs << (s->outputs == 1 ? " result, " : " results, ") << s->updated.size() << " changed in place, called "
      << s->calls.load() << " times";
    if (!s->run.by_backend) t << ", " << s->run.forward().calls().tier1 << " of them on tier 1";
    t << "; " << s->why << '\n';
    list_kernels(t, s->run, options_);
  }
  if (segments_.evicted() > 0) t << "  " << segments_.evicted() << " segments were dropped for others: at most " << segments_.most << " are kept\n";
  if (const std::int64_t n = one_by_one_.load())
    t << "  " << n << " times a segment ran op by op: there are more than " << segments_.most << " different ones\n";
}

#endif

}  // namespace jit
}  // namespace tt
