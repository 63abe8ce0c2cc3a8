// What nodes of structured ops are told besides their operands: each op's own struct. `each` names its members once; from that
// follow how a graph keeps them (as words, in a list of its own), how they are compared, written as text and read back.
//   g.attributes<SliceAttribute>(id).start
#pragma once
#include "tt/core/shape.hpp"
#include "tt/core/vec.hpp"
#include "tt/ops/opcode.hpp"

namespace tt {

/// Of sizes, steps, dilations and paddings of windows: products of two of them are whole numbers of 64 bits.
inline constexpr std::int64_t most_step = (std::int64_t{1} << 30) - 1;

/// One axis cut by start and step; the length is in the node's shape.
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
/// The axis along which places are taken.
struct TakeAttribute {
  int axis = 0;
  static constexpr void each(auto&& self, auto&& f) { f("axis", self.axis); }
};
/// How windows along one axis lie.
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
/// Where a padded value begins, along one or two axes; how much follows is in the node's shape.
struct PadAttribute {
  int axis[2] = {0, 0};  ///< equal: one axis, and the first number counts
  Extent before[2] = {0, 0};
  /// Elements before the value, along axis k.
  constexpr Extent along(int k) const { return k == axis[0] ? before[0] : k == axis[1] ? before[1] : Extent(0); }
  static constexpr void each(auto&& self, auto&& f) {
    f("axes", self.axis);
    f("from", self.before);
  }
};
/// Of the last two axes of images: how far apart windows are, and what one window holds; and the zeros on either side.
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

/// The members of an attribute struct as words, behind those that are there; a list behind its length.
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
