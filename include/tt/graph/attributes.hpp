// What nodes of structured ops are told besides their operands, each op's own struct; in a node it is one number. Constant
// expressions have room for what the comments say; at run time what does not fit is kept in the WordTable.
//   SliceAttribute::unpack(node.attribute).start
#pragma once
#include <initializer_list>

#include "tt/core/shape.hpp"
#include "tt/core/word_table.hpp"

namespace tt {
namespace detail {

/// What does not fit into the bits of a node's attribute, as one number all the same. Run time only.
inline std::int64_t keep_attribute(std::initializer_list<std::int64_t> words) {
  return Extent::at(WordTable::number_of(words.begin(), static_cast<int>(words.size()))).code;
}
constexpr bool is_kept(std::int64_t attribute) { return attribute <= Extent::kept; }
inline WordTable::List kept_attribute(std::int64_t attribute) { return WordTable::list(Extent::from_code(attribute).place()); }

}  // namespace detail

/// One axis cut by start and step; the length is in the node's shape. Packed: the axis in 4 bits,
/// the start in 36, the step in 24 with its sign.
struct SliceAttribute {
  int axis = 0;
  Extent start = 0;
  std::int64_t step = 1;
  constexpr bool packs() const {
    return start.is_constant() && start.code >= 0 && start.code < std::int64_t{1} << 36 && step < 1 << 20 && step >= -(1 << 20);
  }
  constexpr std::int64_t pack() const {
    return packs() ? axis | start.code << 4 | step * (std::int64_t{1} << 40) : detail::keep_attribute({axis, start.code, step});
  }
  static constexpr SliceAttribute unpack(std::int64_t packed) {
    if (!detail::is_kept(packed)) return {static_cast<int>(packed & 15), packed >> 4 & 0xfffffffff, packed >> 40};
    const auto w = detail::kept_attribute(packed);
    return {static_cast<int>(w[0]), Extent::from_code(w[1]), w[2]};
  }
};
/// How windows along one axis lie: the axis in 4 bits, step and dilation in 28 each.
struct WindowAttribute {
  int axis = 0;
  std::int64_t step = 1, dilation = 1;
  constexpr bool fits() const { return step > 0 && step < 1 << 28 && dilation > 0 && dilation < 1 << 28; }
  constexpr std::int64_t pack() const { return axis | step << 4 | dilation << 32; }
  static constexpr WindowAttribute unpack(std::int64_t packed) {
    return {static_cast<int>(packed & 15), packed >> 4 & 0xfffffff, packed >> 32};
  }
};
/// Where a padded value begins, along one or two axes; how much follows is in the node's shape.
struct PadAttribute {
  int axis[2] = {0, 0};  ///< equal: one axis, and the first number counts
  Extent before[2] = {0, 0};
  constexpr bool packs() const {
    if (!before[0].is_constant() || !before[1].is_constant()) return false;
    if (axis[0] == axis[1]) return before[0].code >= 0 && before[0].code >> 52 == 0;
    for (Extent b : before)
      if (b.code < 0 || b.code >> 26 != 0) return false;
    return true;
  }
  constexpr std::int64_t pack() const {
    return packs() ? axis[0] | axis[1] << 4 | before[0].code << 8 | before[1].code << 34
                   : detail::keep_attribute({axis[0], axis[1], before[0].code, before[1].code});
  }
  static constexpr PadAttribute unpack(std::int64_t packed) {
    if (detail::is_kept(packed)) {
      const auto w = detail::kept_attribute(packed);
      return {{static_cast<int>(w[0]), static_cast<int>(w[1])}, {Extent::from_code(w[2]), Extent::from_code(w[3])}};
    }
    const int first = static_cast<int>(packed & 15), second = static_cast<int>(packed >> 4 & 15);
    if (first == second) return {{first, first}, {packed >> 8, 0}};
    return {{first, second}, {packed >> 8 & 0x3ffffff, packed >> 34}};
  }
  /// Elements before the value, along axis k.
  constexpr Extent along(int k) const { return k == axis[0] ? before[0] : k == axis[1] ? before[1] : Extent(0); }
};
/// Of the last two axes of images: how far apart windows are, and what one window holds; and the zeros on either side.
struct ConvAttribute {
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
  static constexpr int bits = 10;
  constexpr bool fits() const {
    for (int k = 0; k < 2; ++k)
      if (stride[k] < 1 || stride[k] >> bits || dilation[k] < 1 || dilation[k] >> bits || padding[k] < 0 || padding[k] >> bits)
        return false;
    return true;
  }
  constexpr std::int64_t pack() const {
    std::int64_t packed = 0;
    for (int k = 0; k < 2; ++k)
      packed |= stride[k] << (k * bits) | dilation[k] << ((2 + k) * bits) | padding[k] << ((4 + k) * bits);
    return packed;
  }
  static constexpr ConvAttribute unpack(std::int64_t packed) {
    const auto part = [packed](int k) { return packed >> (k * bits) & ((1 << bits) - 1); };
    return {{part(0), part(1)}, {part(2), part(3)}, {part(4), part(5)}};
  }
};

}  // namespace tt
