// CaptureMode: the interface by which a running capture learns of Tensors beside the calls of the dispatcher: of
// accesses to elements, of in-place changes, of gradients. A thread has at most one capture.
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

/// A transform (vmap, jvp) of a function of Tensors whose body was recorded as a region: it is recorded again as another function.
struct TransformCall {
  enum Kind { vmap, jvp } kind = vmap;
  const Tensor* const* operand = nullptr;  ///< jvp: the inputs, then tangents of the floating ones
  int operands = 0;
  Tensor* result = nullptr;                ///< jvp: the results, then tangents of the floating ones
  int results = 0;
  SourceLine at{};
};
/// Control flow as in graph/control.hpp: its operands, without the other values that its bodies read, and its results.
struct ControlCall {
  int kind = 0, regions = 1;  ///< kind: a Control
  const Tensor* const* operand = nullptr;
  int operands = 0, carried = 0, xs = 0;
  bool reverse = false;
  Tensor* result = nullptr;
  int results = 0;
  SourceLine at{};
};

/// How an op uses elements that it needs: it reads them; it changes them, or returns a pointer through which they may
/// change; or it returns an untyped pointer, which is given also for Tensors unknown to the capture.
enum class Use : std::uint8_t { reads, may_write, untyped_pointer };

class CaptureMode {
 public:
  std::uint64_t capture_number = 0;  ///< of this capture; Tensors that another capture recorded are foreign

  /// A call of the dispatcher.
  virtual void record(Call& c) = 0;
  /// `op` needs elements of `t`, or its position on the tape: afterwards they are available, or this throws. `at`
  /// without a line: errors name the line of the op that made the Tensor.
  virtual void need(const Tensor& t, const char* op, SourceLine at, Use use = Use::reads) = 0;
  /// `op`, the next one, is not recorded: afterwards all recorded values are available, or this throws.
  virtual void break_graph(const char* op, SourceLine at) = 0;
  /// Memory of unknown Tensors may be written: afterwards recorded values are available, if possible.
  virtual void run_recorded() {}
  /// Gradients with respect to this Tensor will be taken, so it may not be an intermediate value of a program.
  virtual void will_need_history(const Tensor&) {}
  /// `op` gives another result at every call: the graph ends here, or this throws.
  virtual void varies(const char* op, SourceLine at) = 0;
  /// The expression of the size of one axis of `t`, or of its number of elements (axis -1); the constant -1 if there is none.
  virtual Extent size_of(const Tensor&, int /*axis*/) { return -1; }
  /// Guards that an expression is in this interval, as it is in this call.
  virtual void guard_size(Extent, std::int64_t /*least*/, std::int64_t /*most*/, SourceLine) {}
  /// The elements of `t` may be written through a pointer.
  virtual void may_be_written(const Tensor&) {}
  /// `target` is about to change in place. True: the caller computes the new value and hands it to finish_update;
  /// false: the caller changes the elements now, while the capture is paused.
  virtual bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) = 0;
  virtual void finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) = 0;
  /// When a recorded Tensor has changed, were its old elements kept for gradients?
  virtual bool keeps_old(const Tensor&) const { return true; }
  /// The device that the captured function runs on; its Tensors are on that device, though they may have no elements.
  virtual Device device() const = 0;
  /// Is made() to be called for the results of factories?
  virtual bool hears_of_factories() const { return false; }
  /// `t`, a concrete Tensor, is the result of `op` on a fill of its shape and dtype and on numbers; null: `t` was a
  /// literal in the program's text.
  virtual void made(const Tensor&, const Operator*, const Tensor* const*, int) {}
  /// The elements of this Tensor follow from numbers alone; numbers that were sizes are guarded.
  virtual void made_of_numbers(const Tensor&) {}
  /// A concrete Tensor has sizes that are expressions; or is a number that is an expression.
  virtual void made_of_sizes(const Tensor&, const IntList&) {}
  virtual void made_of_size(const Tensor&, Extent) {}
  // Control flow whose bodies become graphs: each body is called once, between open_region and close_region, on Tensors
  // that stand for its inputs; then control_flow makes one node of the bodies recorded last.
  /// Is control flow recorded? Else it runs as written.
  virtual bool records_control() const { return false; }
  /// Is a call of an op with an effect recorded here? Else it runs at once, or the graph ends.
  virtual bool records_effects() const { return false; }
  virtual void open_region() {}
  /// A Tensor that stands for one like `t`, or like a row of it.
  virtual Tensor region_input(const Tensor& t, bool row) = 0;
  /// `result`: the results of the body; null: it threw.
  virtual void close_region(const Tensor* const* /*result*/, int /*count*/) {}
  virtual void control_flow(const ControlCall&) {}
  /// Records the body recorded last again, as a function of batches (along axis 0 of its inputs), or with tangents.
  virtual void transform(const TransformCall&) {}
  /// Called around a function that is differentiated.
  virtual void open_gradient() = 0;
  virtual void close_gradient() = 0;
  /// The Tensor that is passed to the function in place of `t`.
  virtual Tensor variable(const Tensor& t) = 0;
  /// The gradients of `value` with respect to `variables`; false: take them from the tape.
  virtual bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) = 0;

 protected:
  ~CaptureMode() = default;
};

/// The capture of this thread, or null.
inline constinit thread_local CaptureMode* capture_mode = nullptr;

}  // namespace detail
}  // namespace tt
