// What a capture is told about Tensors beside the calls of the dispatcher: that their elements are asked
// for, that they change in place, that gradients are taken. One capture at most runs on a thread.
//   if (detail::capture_mode) detail::capture_mode->need(t, "item", at);
#pragma once
#include "tt/core/error.hpp"

namespace tt {

class Tensor;
class Operator;
struct Call;
struct Device;

namespace detail {

class CaptureMode {
 public:
  /// A call of the dispatcher.
  virtual void record(Call& c) = 0;
  /// `op` reads or writes elements of `t`, or its place on the tape: they are there afterwards, or this
  /// throws. Without a line: that of the op that made the Tensor.
  virtual void need(const Tensor& t, const char* op, SourceLine at) = 0;
  /// The symbols, as bits, that the size of one axis of `t` is made of, or of all axes (-1).
  virtual unsigned symbols_of(const Tensor&, int /*axis*/) { return 0; }
  /// The function looks at a size that is made of these.
  virtual void tell_sizes(unsigned /*symbols*/, SourceLine) {}
  /// What points to the elements of `t` may be written to.
  virtual void may_be_written(const Tensor&) {}
  /// `target` is about to change in place. True: compute the new value and hand it over; false: change it now,
  /// while the capture is paused.
  virtual bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) = 0;
  virtual void finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) = 0;
  /// Where the function runs; its Tensors are there, though they may have no elements.
  virtual Device device() const = 0;
  /// Does it want to hear of what factories make?
  virtual bool hears_of_factories() const { return false; }
  /// `t`, which is there, is what `op` makes of a fill of its shape and dtype, and of numbers; null: it was written in
  /// the program's text.
  virtual void made(const Tensor&, const Operator*, const Tensor* const*, int) {}
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
