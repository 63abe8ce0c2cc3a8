// Attributes of structured ops: parameters besides operands, a struct per op. `each` names the members once; from that follow how a graph keeps the struct (as
// words, in a list of its own), compares it, writes it as text and reads it back.
//   g.attributes<SliceAttribute>(id).start
#pragma once
#include "tt/core/shape.hpp"
#include "tt/core/vec.hpp"
#include "tt/ops/opcode.hpp"

namespace tt {

/// Limit of sizes, steps, dilations and paddings of windows: the product of two of them fits in 64 bits.
inline constexpr std::int64_t most_step = (std::int64_t{1} << 30) - 1;

/// Elements of one axis from `start` on, `step` apart; the length is in the node's shape.
struct SliceAttribute {
  int axis = 0;
  Extent start = 0;
  std::int64_t step = 1;
  static constexpr void each(auto&& self, auto&& f) {
    f("axis", self.axis);
    f("from", self.start);
    f("step", self.step);
  }
};
/// Axis k of the result is axis `axis[k]` of the operand.
struct PermuteAttribute {
  int axis[max_rank] = {};
  int rank = 0;
  static constexpr void each(auto&& self, auto&& f) { f("axes", self.axis, self.rank); }
};
/// The axis along which elements are taken.
struct TakeAttribute {
  int axis = 0;
  static constexpr void each(auto&& self, auto&& f) { f("axis", self.axis); }
};
/// Windows along one axis: their distance (step), and the distance of the elements of one window (dilation).
struct WindowAttribute {
  int axis = 0;
  std::int64_t step = 1, dilation = 1;
  constexpr bool fits() const { return step > 0 && step <= most_step && dilation > 0 && dilation <= most_step; }
  static constexpr void each(auto&& self, auto&& f) {
    f("axis", self.axis);
    f("step", self.step);
    f("dilation", self.dilation);
  }
};
/// Where the operand begins in a padded value, along one or two axes; the padding behind it follows from the node's shape.
struct PadAttribute {
  int axis[2] = {0, 0};  ///< equal: one axis, and before[0] counts
  Extent before[2] = {0, 0};
  /// Elements before the value, along axis k.
  constexpr Extent along(int k) const { return k == axis[0] ? before[0] : k == axis[1] ? before[1] : Extent(0); }
  static constexpr void each(auto&& self, auto&& f) {
    f("axes", self.axis);
    f("from", self.before);
  }
};
/// Of the last two axes of images: the distance of windows, the distance of the elements of one window, and the zeros on either side.
struct ConvAttribute {
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
  constexpr bool fits() const {
    for (int k = 0; k < 2; ++k)
      if (stride[k] < 1 || stride[k] > most_step || dilation[k] < 1 || dilation[k] > most_step || padding[k] < 0 || padding[k] > most_step)
        return false;
    return true;
  }
  static constexpr void each(auto&& self, auto&& f) {
    f("stride", self.stride);
    f("dilation", self.dilation);
    f("padding", self.padding);
  }
};

namespace detail {

/// Appends the members of an attribute struct as words; a list follows its length.
struct WordWriter {
  Vec<std::int64_t>& to;
  constexpr void operator()(const char*, std::int64_t x) { to.push_back(x); }
  constexpr void operator()(const char*, Extent e) { to.push_back(e.code); }
  template <class T, int N>
  constexpr void operator()(const char* name, const T (&list)[N]) {
    for (int k = 0; k < N; ++k) (*this)(name, list[k]);
  }
  template <class T>
  constexpr void operator()(const char* name, const T* list, int count) {
    to.push_back(count);
    for (int k = 0; k < count; ++k) (*this)(name, list[k]);
  }
};
struct WordReader {
  const std::int64_t* from;
  constexpr void operator()(const char*, int& x) { x = static_cast<int>(*from++); }
  constexpr void operator()(const char*, std::int64_t& x) { x = *from++; }
  constexpr void operator()(const char*, Extent& e) { e = Extent::from_code(*from++); }
  template <class T, int N>
  constexpr void operator()(const char* name, T (&list)[N]) {
    for (int k = 0; k < N; ++k) (*this)(name, list[k]);
  }
  template <class T>
  constexpr void operator()(const char* name, T* list, int& count) {
    count = static_cast<int>(*from++);
    for (int k = 0; k < count; ++k) (*this)(name, list[k]);
  }
};
/// f(A{}) with the attribute struct of an op, if it has one.
constexpr bool with_attribute_struct(Op op, auto&& f) {
  switch (op) {
    case Op::slice: f(SliceAttribute{}); return true;
    case Op::permute: f(PermuteAttribute{}); return true;
    case Op::window: f(WindowAttribute{}); return true;
    case Op::pad: case Op::slice_scatter: f(PadAttribute{}); return true;
    case Op::conv: f(ConvAttribute{}); return true;
    case Op::take: f(TakeAttribute{}); return true;
    default: return false;
  }
}

}  // namespace detail

template <class A>
concept AttributeStruct = requires(const A& a, Vec<std::int64_t>& words) { A::each(a, detail::WordWriter{words}); };

}  // namespace tt
