// What a capture is told about Tensors beside the calls of the dispatcher: that their elements are asked
// for, that they change in place, that gradients are taken. One capture at most runs on a thread.
//   if (detail::capture_mode) detail::capture_mode->need(t, "item", at);
#pragma once
#include "tt/core/error.hpp"
#include "tt/core/size_set.hpp"

namespace tt {

class IntList;
class Tensor;
class Operator;
struct Call;
struct Device;

namespace detail {

/// A function of Tensors whose body was recorded as a region, to be recorded again as another function.
struct TransformCall {
  enum Kind { vmap, jvp } kind = vmap;
  const Tensor* const* operand = nullptr;  ///< of jvp: inputs, then the tangents of those that are floating
  int operands = 0;
  Tensor* result = nullptr;                ///< of jvp: results, then the tangents of those that are floating
  int results = 0;
  SourceLine at{};
};
/// Control flow as graph/control.hpp has them: operands but for what the bodies read besides, results.
struct ControlCall {
  int kind = 0, regions = 1;  ///< kind: a Control
  const Tensor* const* operand = nullptr;
  int operands = 0, carried = 0, xs = 0;
  bool reverse = false;
  Tensor* result = nullptr;
  int results = 0;
  SourceLine at{};
};

/// What an op does with elements that it needs: it reads them; it changes them, or gives a pointer through which they may be changed; or gives one without a type, which is
/// given of Tensors too that the capture knows nothing of.
enum class Use : std::uint8_t { reads, may_write, untyped_pointer };

class CaptureMode {
 public:
  std::uint64_t capture_number = 0;  ///< of the capture: what is recorded by another one is foreign

  /// A call of the dispatcher.
  virtual void record(Call& c) = 0;
  /// `op` needs elements of `t`, or its place on the tape: they are there afterwards, or this
  /// throws. Without a line: that of the op that made the Tensor.
  virtual void need(const Tensor& t, const char* op, SourceLine at, Use use = Use::reads) = 0;
  /// `op`, which comes next, is not recorded: all that was is there afterwards, or this throws.
  virtual void break_graph(const char* op, SourceLine at) = 0;
  /// Memory may be written that nobody names: what was recorded is there afterwards, if it can be.
  virtual void run_recorded() {}
  /// Gradients will be asked for by this Tensor, so no program may have it inside.
  virtual void will_need_history(const Tensor&) {}
  /// `op` gives something else at every call: a graph ends here, or this throws.
  virtual void varies(const char* op, SourceLine at) = 0;
  /// What the size of one axis of `t` is an expression of, or its number of elements (-1); a constant, -1, where that is nothing.
  virtual Extent size_of(const Tensor&, int /*axis*/) { return -1; }
  /// From now on it is taken for granted that an expression is in this interval, as it is in this call.
  virtual void guard_size(Extent, std::int64_t /*least*/, std::int64_t /*most*/, SourceLine) {}
  /// What points to the elements of `t` may be written to.
  virtual void may_be_written(const Tensor&) {}
  /// `target` is about to change in place. True: compute the new value and hand it over; false: change it now,
  /// while the capture is paused.
  virtual bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) = 0;
  virtual void finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) = 0;
  /// Is what a recorded Tensor was still there, for gradients, when it has changed?
  virtual bool keeps_old(const Tensor&) const { return true; }
  /// Where the function runs; its Tensors are there, though they may have no elements.
  virtual Device device() const = 0;
  /// Does it want to hear of what factories make?
  virtual bool hears_of_factories() const { return false; }
  /// `t`, which is there, is what `op` makes of a fill of its shape and dtype, and of numbers; null: it was written in
  /// the program's text.
  virtual void made(const Tensor&, const Operator*, const Tensor* const*, int) {}
  /// The elements of this Tensor follow from numbers alone, which are guarded where they were sizes.
  virtual void made_of_numbers(const Tensor&) {}
  /// A Tensor that is there has sizes that are expressions; or is a number that is one.
  virtual void made_of_sizes(const Tensor&, const IntList&) {}
  virtual void made_of_size(const Tensor&, Extent) {}
  // Control flow whose bodies become graphs: each is called once, between open_region and close_region, on Tensors that stand for its
  // inputs; then control_flow makes one node of the bodies recorded last.
  /// Is it recorded? Else it runs as it is written.
  virtual bool records_control() const { return false; }
  /// Is a call of an op with an effect recorded, here? Else it runs at once, or the graph ends.
  virtual bool records_effects() const { return false; }
  virtual void open_region() {}
  /// Stands for a Tensor like `t`, or like a row of it.
  virtual Tensor region_input(const Tensor& t, bool row) = 0;
  /// What the body gives; null: it threw.
  virtual void close_region(const Tensor* const* /*result*/, int /*count*/) {}
  virtual void control_flow(const ControlCall&) {}
  /// Records the body recorded last as a function of batches (along axis 0 of its inputs), or with tangents.
  virtual void transform(const TransformCall&) {}
  /// Around a function that is differentiated.
  virtual void open_gradient() = 0;
  virtual void close_gradient() = 0;
  /// What the function gets in place of `t`.
  virtual Tensor variable(const Tensor& t) = 0;
  /// The gradients of `value` by variables; false: take them from the tape.
  virtual bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) = 0;

 protected:
  ~CaptureMode() = default;
};

/// The capture of this thread, or null.
inline constinit thread_local CaptureMode* capture_mode = nullptr;

}  // namespace detail
}  // namespace tt
