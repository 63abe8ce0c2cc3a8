// What a compiled function keeps: its captures, each with what it was made for, and what explain() says.
#pragma once
#include "tt/jit/segments.hpp"

namespace tt {
namespace jit {

/// A recording, ready to run. Without a function: sizes turned out to be needed as numbers, or the graph ends
/// within the function, which then is recorded at every call.
struct Capture {
  Guards guards;
  Recording recording;
  Executable run;
  bool breaks = false;
  unsigned as_numbers = 0;  ///< nothing runs: sizes that must be numbers
  Text why;  ///< it was made
  std::atomic<std::int64_t> calls = 0;
  Capture* next = nullptr;  ///< made before

  bool is_ready() const { return run.function || breaks; }
  /// What is not ready: the sizes that must be numbers.
  TT_INLINE unsigned numbers_for(const Guards& now, const char* name) const;
};

/// The captures of a function. Grows only: reading takes no lock.
struct CompiledState {
  std::atomic<Capture*> newest = nullptr;
  std::atomic_flag busy;
  SegmentStore segments;
  CompileOptions options;
  Tensor held[max_inputs];  ///< Tensors that a frozen function met
  std::atomic<int> held_count = 0;

  TT_INLINE CompiledState(const CompileOptions& o, SourceLine at);
  CompiledState(const CompiledState&) = delete;
  TT_INLINE ~CompiledState();
  TT_INLINE Capture* find(const Guards& now) const;
  /// Captures that differ in numbers only: of a call with others the ops are recorded, where numbers that vary are inputs.
  static constexpr int most_numbers = 8;
  std::atomic<std::int64_t> further_numbers = 0;  ///< such calls
  TT_INLINE bool numbers_vary(const Guards& now);
  /// The capture for these guards, made if there is none; null: the function holds one more Tensor.
  TT_INLINE Capture* capture(const RecordOnce& once, const Guards& now, const Arguments& argument);
  /// One that waits to be filled: its reason is known.
  TT_INLINE std::unique_ptr<Capture> fresh(const Guards& now) const;
  TT_INLINE Capture* keep(std::unique_ptr<Capture> c);
  /// Something else is needed: sizes as numbers, elements in between.
  TT_INLINE static void note(Capture& c, const SizesNeeded& e);
  TT_INLINE static void note(Capture& c, const GraphBreak& e);
  /// The function holds one more Tensor.
  TT_INLINE void hold(const Tensor& t);
  /// What an error about a graph break begins with.
  TT_INLINE Text whole() const;
  TT_INLINE Text explain() const;
};

#if !defined(TT_COMPILED) || defined(TT_BUILD)

TT_INLINE CompiledState::CompiledState(const CompileOptions& o, SourceLine at) : segments(o, at), options(o) {}
TT_INLINE Capture* CompiledState::find(const Guards& now) const {
  for (Capture* c = newest.load(std::memory_order_acquire); c; c = c->next)
    if (c->guards.same(now)) return c;
  return nullptr;
}
TT_INLINE bool CompiledState::numbers_vary(const Guards& now) {
  int others = 0;
  for (const Capture* c = newest.load(std::memory_order_acquire); c; c = c->next)
    others += c->run.function && c->guards.differs_in_numbers_only(now);
  if (options.fullgraph || others < most_numbers) return false;
  further_numbers.fetch_add(1, std::memory_order_relaxed);
  return true;
}
TT_INLINE Text CompiledState::whole() const { return Text("compile: ") << options.name << ": a graph break, and fullgraph is set: "; }
TT_INLINE unsigned Capture::numbers_for(const Guards& now, const char* name) const {
  if (now.sizes.is_constant()) TT_THROW(InternalError(Text("tt::compile: ") << name << ": sizes are needed although all are known."));
  return as_numbers;
}
TT_INLINE CompiledState::~CompiledState() {
  for (Capture* c = newest; c;) {
    Capture* const next = c->next;
    delete c;
    c = next;
  }
}
TT_INLINE std::unique_ptr<Capture> CompiledState::fresh(const Guards& now) const {
  auto c = std::unique_ptr<Capture>(new Capture{now, {}, {}, false, 0, Text("first call"), 0, newest.load()});
  if (c->next && !c->next->is_ready()) c->why = c->next->why;
  const Guards* alike = nullptr;  // the reason is what differs from the capture that is most alike
  int least = 0;
  for (const Capture* o = c->next; o && o != c.get(); o = o->next) {
    if (!c->next->is_ready()) break;
    const auto &a = o->guards.sizes, &b = now.sizes;
    int differing = a.words < b.words ? b.words - a.words : a.words - b.words;
    for (int k = 0; k < a.words && k < b.words; ++k)
      differing += k == now.requires_grad ? std::popcount(static_cast<std::uint64_t>(a.word[k] ^ b.word[k])) : a.word[k] != b.word[k];
    if (!o->is_ready() || (alike && differing >= least)) continue;
    alike = &o->guards;
    least = differing;
  }
  if (alike) c->why = difference(*alike, now);
  return c;
}
TT_INLINE Capture* CompiledState::capture(const RecordOnce& once, const Guards& now, const Arguments& argument) {
  const detail::FlagLock lock(busy);  // captures one at a time
  if (Capture* c = find(now)) return c;  // another thread was first
  auto c = fresh(now);
  try {
    c->recording = record(once, now);
    c->run = make_executable(c->recording.graph, argument, now.sizes.values, now.on_tape(), false, options);
  } catch (const TensorMet& e) {
    hold(e.tensor);
    return nullptr;
  } catch (const SizesNeeded& e) {
    note(*c, e);
  } catch (const GraphBreak& e) {
    note(*c, e);
  }
  return keep(std::move(c));
}
TT_INLINE Capture* CompiledState::keep(std::unique_ptr<Capture> c) {
  newest.store(c.get(), std::memory_order_release);
  return c.release();
}
TT_INLINE void CompiledState::note(Capture& c, const SizesNeeded& e) {
  c.as_numbers = e.as_numbers;
  c.why = Text("sizes are needed as numbers by ") << e.why;
  if (e.at.line) c.why << " at " << e.at.file << ':' << e.at.line;
}
TT_INLINE void CompiledState::note(Capture& c, const GraphBreak&) { c.breaks = true; }
TT_INLINE void CompiledState::hold(const Tensor& t) {
  const int n = held_count.load();
  if (n == max_inputs) TT_THROW(Error(Text("tt::compile: ") << options.name << ": a frozen function holds at most " << max_inputs << " Tensors."));
  held[n] = t;
  held_count.store(n + 1, std::memory_order_release);
}

/// What a call is compared with, in words.
inline void list_guards(Text& t, const Guards& g) {
  t << "     guards:";
  for (int k = 0; k < g.sizes.arguments; ++k) {
    t << (k ? ", " : " ") << name(g.sizes.dtype[k]) << ' ' << g.sizes.shape[k];
    if (g.sizes.strides[k].rank > 0) t << " with strides " << g.sizes.strides[k];
    if (g.sizes.word[g.requires_grad] >> k & 1) t << " that requires a gradient";
  }
  const std::int64_t modes = g.sizes.word[g.requires_grad + 1];
  if (g.sizes.as_numbers != 0) t << (g.sizes.is_constant() ? "; sizes as numbers" : "; some sizes as numbers");
  bool shared = false, elsewhere = false;
  for (int k = g.overlaps; k < g.requires_grad - 1; ++k) (g.sizes.word[k] < 0 ? elsewhere : shared) = true;
  t << (shared ? "; some share memory" : "") << (elsewhere ? "; on other devices" : "");
  if (const int n = g.sizes.words - g.numbers - 1; n > 0) t << "; " << n << (n == 1 ? " number" : " numbers");
  t << "; gradients " << (modes & 1 ? "enabled" : "disabled") << (modes & 2 ? "; inference mode" : "") << '\n';
}
inline void list_capture(Text& t, const Capture& c, int number, const CompileOptions& options) {
  t << "  " << number << ": ";
  if (c.breaks) {
    t << "has graph breaks, recorded at each of " << c.calls.load() << " calls; " << c.why << '\n';
    return list_guards(t, c.guards);
  }
  t << c.run.function->graph().size() << " nodes, ";
  if (c.run.by_backend) t << "called " << c.calls.load() << " times";
  else t << c.run.forward().kernels() << " kernels, called " << c.calls.load() << " times, "
         << c.run.forward().calls().tier1 << " of them on tier 1";
  t << "; " << c.why << '\n';
  list_guards(t, c.guards);
  for (std::size_t k = 0; k < c.recording.updated.size(); ++k)
    t << (k ? ", " : "     changes in place: ") << "argument " << c.recording.updated[k];
  if (!c.recording.updated.empty()) t << '\n';
  list_kernels(t, c.run, options);
}

TT_INLINE Text CompiledState::explain() const {
  std::vector<const Capture*> list;
  for (const Capture* c = newest.load(std::memory_order_acquire); c; c = c->next)
    if (c->is_ready()) list.insert(list.begin(), c);
  Text t;
  t << options.name << ": " << list.size() << (list.size() == 1 ? " capture\n" : " captures\n");
  int k = 0;
  for (const Capture* c : list) list_capture(t, *c, ++k, options);
  if (const std::int64_t n = further_numbers.load())
    t << "  " << n << " calls with other numbers, recorded at each: more than " << most_numbers << " were met\n";
  segments.explain(t);
  for (k = 0; k < held_count.load(); ++k)
    t << (k ? ", " : "  holds ") << name(held[k].dtype()) << ' ' << held[k].shape();
  if (k) t << '\n';
  if (options.tier > 0) t << "  " << CodeCache::get().report();
  return t;
}

TT_INLINE void SegmentStore::explain(Text& t) const {
  std::vector<const Break*> breaks;
  for (const Break* b = breaks_.load(std::memory_order_acquire); b; b = b->next) breaks.insert(breaks.begin(), b);
  if (!breaks.empty()) t << "  graph breaks:\n";
  for (const Break* b : breaks) {
    t << "     " << b->what << ", " << b->count.load() << " times";
    if (b->at.line) t << "   " << b->at.file << ':' << b->at.line;
    t << '\n';
  }
  std::vector<const Segment*> list;
  for (const Segment* s = newest_.load(std::memory_order_acquire); s; s = s->before)
    if (s->run.function) list.insert(list.begin(), s);
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
  if (const std::int64_t n = one_by_one_.load())
    t << "  " << n << " times a segment ran op by op: there are more than " << most << " different ones\n";
}

#endif

}  // namespace jit
}  // namespace tt
