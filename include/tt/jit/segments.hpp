// Segments: the steps that a function records between two graph breaks, compiled and kept. A segment is found by its steps, by which of
// their results are still in use, and by dtypes, shapes and strides of the Tensors that they read; sizes are symbols here too. Numbers are
// constants until they change from call to call.
#pragma once
#include <memory>
#include <new>

#include "tt/jit/compile_options.hpp"

namespace tt {
namespace jit {

class SegmentRecorder;
struct Break;
struct RangeKey;
struct Segment;

class SegmentStore {
 public:
  TT_INLINE SegmentStore(const CompileOptions& o, SourceLine at);
  SegmentStore(const SegmentStore&) = delete;
  TT_INLINE ~SegmentStore();

  /// Runs steps [begin, end) of a recorder; `last`: also writes the updates in place.
  TT_INLINE void run(SegmentRecorder& r, int begin, int end, bool last);
  TT_INLINE void note_break(const char* op, SourceLine at, const Text& what);
  bool broken() const { return breaks_.load(std::memory_order_acquire); }
  TT_INLINE int segments();
  TT_INLINE int kernels();
  TT_INLINE backend::TileProgram::Calls calls();
  std::int64_t fallbacks() const { return one_by_one_.load(std::memory_order_relaxed); }
  TT_INLINE void explain(Text& t);
  const char* name() const { return options_.name; }
  SourceLine where() const { return where_; }

 private:
  CompileOptions options_;
  SourceLine where_;
  RecentTable<Segment, 256> segments_;  ///< where there is no room, further ones run op by op
  std::atomic<Break*> breaks_ = nullptr;
  std::atomic<std::int64_t> one_by_one_ = 0;  ///< ranges that ran op by op
  detail::BusyFlag busy_;

  TT_INLINE static void number_values(SegmentRecorder& r, int begin, int end, bool last, RangeKey& key);
  TT_INLINE static void describe(SegmentRecorder& r, int begin, int end, const Guards& guards, RangeKey& key);
  TT_INLINE Segment* find(const Guards& guards, const RangeKey& key, SymbolValues& values);
  TT_INLINE std::unique_ptr<Segment> fresh(const Guards& guards, const RangeKey& key) const;
  TT_INLINE void compile(SegmentRecorder& r, int begin, int end, const RangeKey& key, Segment& s, SymbolValues& values) const;
  TT_INLINE Segment* add(SegmentRecorder& r, int begin, int end, const Guards& guards, const RangeKey& key, SymbolValues& values);
  TT_INLINE Graph build(SegmentRecorder& r, int begin, int end, const RangeKey& key, const SymbolValues& values, Segment& s, std::vector<OrderedOutput>& ordered) const;
  TT_INLINE bool run_compiled(SegmentRecorder& r, int begin, int end, RangeKey& key);
  TT_INLINE void run_op_by_op(SegmentRecorder& r, int begin, int end, bool last);
};

/// One call of a function with graph breaks, while its ops are recorded: a SegmentRecorder, on the stack of the caller.
class RecordedCall {
 public:
  TT_INLINE RecordedCall(SegmentStore& store, const Arguments& arguments, bool holds);
  RecordedCall(const RecordedCall&) = delete;
  TT_INLINE ~RecordedCall();
  /// `left`: the arguments after the run, which are moved from. Assigns them to the caller's arguments, all at once, and runs the remaining
  /// steps.
  TT_INLINE void finish(const Leaves& left, SourceLine at);

 private:
  alignas(16) std::byte recorder_[256];
};

}  // namespace jit
}  // namespace tt

#if TT_DEFINES(jit)
#include "tt/jit/segment_recorder_inl.hpp"
#endif
