// Views: other shapes and strides over the same elements, as operators, so that the tape and captured
// graphs see them. Only a reshape that no strides can express copies.
#pragma once
#include "tt/dispatch/eager.hpp"

namespace tt {
namespace detail {

/// A Tensor over the storage of `t`, whose first element is at `data`.
/// `alias`: it shares elements, but no history.
TT_INLINE Tensor make_view(const Tensor& t, const Shape& shape, const std::int64_t* strides, std::byte* data, bool alias = false);

/// Offsets of the lowest and the highest element from the first one, of a Tensor that is not empty.
struct Reach {
  std::int64_t low = 0, high = 0;
};
/// Do several elements share memory, as in an expanded Tensor?
inline bool has_repeats(const TensorImpl& t) {
  if (t.contiguous) return false;
  std::int64_t reach = 0;  // of axes with smaller strides: the next axis must step beyond it
  unsigned left = 0;
  for (int k = 0; k < t.shape.rank; ++k) left |= t.shape.code[k] > 1 ? 1u << k : 0;
  while (left) {
    int axis = -1;
    for (int k = 0; k < t.shape.rank; ++k)
      if ((left >> k & 1) && (axis < 0 || t.stride[k] < t.stride[axis])) axis = k;
    if (t.stride[axis] <= reach) return true;
    reach += (t.shape.code[axis] - 1) * t.stride[axis];
    left &= ~(1u << axis);
  }
  return false;
}
inline Reach reach_of(const TensorImpl& t) {
  Reach r;
  for (int k = 0; k < t.shape.rank; ++k) (t.stride[k] < 0 ? r.low : r.high) += (t.shape.code[k] - 1) * t.stride[k];
  return r;
}

/// The strides that show the elements of `t`, in row-major order, in another shape; false if there are none.
TT_INLINE bool reshaped_strides(const TensorImpl& t, const Shape& to, std::int64_t* strides);

inline Shape shape_attribute(const Attributes& a) { return shape_of(a.list(0)); }

inline Operator& copy_operator() {
  static Operator& op = []() -> Operator& {
    Operator& o = define_recorded("clone", 1, &record_copy);
    o.materializes = true;
    return o;
  }();
  return op;
}

TT_INLINE void record_reshape(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void reshape_kernel(Call& c, void*);
TT_INLINE void record_permute(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void permute_kernel(Call& c, void*);
TT_INLINE void record_expand(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void expand_kernel(Call& c, void*);
TT_INLINE void record_diagonal(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void diagonal_kernel(Call& c, void*);
TT_INLINE void record_slice(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void slice_kernel(Call& c, void*);
TT_INLINE void record_detach(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out);
TT_INLINE void detach_kernel(Call& c, void*);
TT_INLINE void record_view_as(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void view_as_kernel(Call& c, void*);
TT_INLINE void view_as_front(Call& c);

TT_INLINE Operator& define_view(const char* name, const char* attributes, RecordFunction record, OpKernel kernel, OpFront front = nullptr, bool cuts_history = false);
inline Operator& reshape_operator() {
  static Operator& op = define_view("reshape", "int[] shape", &record_reshape, &reshape_kernel,
                                    [](Call& c) { c.result[0] = c[0].reshape(c.attrs().list(0), c.at); });
  return op;
}
inline Operator& permute_operator() {
  static Operator& op = define_view("permute", "int[] dims", &record_permute, &permute_kernel,
                                    [](Call& c) { c.result[0] = c[0].permute(c.attrs().list(0), c.at); });
  return op;
}
inline Operator& expand_operator() {
  static Operator& op = define_view("expand", "int[] size", &record_expand, &expand_kernel,
                                    [](Call& c) { c.result[0] = c[0].expand(c.attrs().list(0), c.at); });
  return op;
}
/// [offset, first axis, second axis]; axes not negative.
inline Operator& diagonal_operator() {
  static Operator& op = define_view("_diagonal", "int[] where", &record_diagonal, &diagonal_kernel);
  return op;
}
inline Operator& slice_operator() {
  static Operator& op = define_view("_slice", "int dim, int start, int length, int step=1", &record_slice, &slice_kernel);
  return op;
}
inline Operator& detach_operator() {
  static Operator& op = define_view("detach", "", &record_detach, &detach_kernel, nullptr, true);
  return op;
}
/// The same bytes as elements of another dtype. Graphs have this for 32 and 64 bits (bitcast), and end before other sizes.
inline Operator& view_as_operator() {
  static Operator& op = define_view("_view_as", "dtype dtype", &record_view_as, &view_as_kernel, &view_as_front, true);
  return op;
}
inline Operator& view_bytes_operator() {
  static Operator& op = define_view("_view_bytes", "dtype dtype", nullptr, &view_as_kernel, &view_as_front, true);
  return op;
}
TT_INLINE Tensor viewed_as(const Tensor& x, DType dtype, SourceLine at);

TT_INLINE int axis_of(const Tensor& t, int axis, const char* op, SourceLine at, int rank);
/// Throws Error at the maximum rank.
TT_INLINE void need_room_for_axis(const Tensor& t, const char* op, SourceLine at);
inline Tensor call_list(const Operator& op, const Tensor& t, const IntList& list, SourceLine at) {
  Attributes a;
  a.push(list);
  return call_unary(op, t, a, at);
}

template <int A0, int A1>
struct TensorFunction<TransposeFn<A0, A1>> {
  static Tensor run(SourceLine at, const Tensor& a) { return a.transpose(A0, A1, at); }
};
template <int... Axes>
struct TensorFunction<PermuteFn<Axes...>> {
  static Tensor run(SourceLine at, const Tensor& a) { return a.permute({Axes...}, at); }
};
template <std::int64_t... E>
struct TensorFunction<ReshapeFn<E...>> {
  static Tensor run(SourceLine at, const Tensor& a) { return a.reshape({E...}, at); }
};
template <std::int64_t... E>
struct TensorFunction<BroadcastFn<E...>> {
  static Tensor run(SourceLine at, const Tensor& a) { return a.expand({E...}, at); }
};
template <int Axis, std::int64_t Start, std::int64_t End, std::int64_t Step>
struct TensorFunction<SliceFn<Axis, Start, End, Step>> {
  static Tensor run(SourceLine at, const Tensor& a) { return a.slice(Axis, Start, End, Step, at); }
};
template <>
struct TensorFunction<DetachFn> {
  static Tensor run(SourceLine, const Tensor& a) { return a.detach(); }
};

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/views_inl.hpp"
#endif
