// The instruction set of a simulated NPU. A kernel is one of three things over a grid of elements: vector instructions that end with
// a store, the same with a reduction behind them, or a product of matrices. units.hpp carries them out.
//   ld   r0, [0]        a load: the chip's address unit turns places of the grid into places of an operand, see Place
//   fma  r2, r0, r1, r0
//   st   [1], r2
// A register is a vector of 256 lanes of 8 bytes; f32, i32, i64 and bool ("bit") are its types.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <tt/tt.hpp>
#include <vector>

#include "arena.hpp"

namespace npu {

// [isa]
enum class Code : std::uint8_t {
  load, immediate, index,  // from memory; a number; the place along an axis of the grid
  move, add, sub, mul, div, min, max, fma, neg, abs, sqrt, floor, ceil, round, trunc,
  bit_and, bit_or, bit_xor, bit_not, shift_left, shift_right, shift_right_logical,
  less, less_equal, equal, not_equal, select, convert,
};
constexpr const char* mnemonic(Code c) {
  constexpr const char* names[] = {"ld", "imm", "idx", "mov", "add", "sub", "mul", "div", "min", "max", "fma", "neg", "abs", "sqrt", "flr", "ceil",
                                   "rnd", "trn", "and", "or", "xor", "not", "shl", "sar", "shr", "lt", "le", "eq", "ne", "sel", "cvt"};
  return names[static_cast<int>(c)];
}
struct Instruction {
  Code code = Code::move;
  tt::DType type = tt::DType::f32;  ///< of the operands
  tt::DType to_type = tt::DType::f32;
  int to = -1, a = -1, b = -1, c = -1;  ///< registers
  std::uint64_t bits = 0;               ///< of a number; of a load its Place; an axis, a shift
};
// [/isa]

inline constexpr int lanes = 256;

using Sizes = std::vector<std::int64_t>;
inline std::int64_t count_of(const Sizes& s) {
  std::int64_t n = 1;
  for (const std::int64_t e : s) n *= e;
  return n;
}

// [place]
/// The address unit: steps from a place of the grid to the place of an element. Places are coordinates, one for each axis.
struct Step {
  enum Kind { align, permute, slice, window, reshape, pad } kind = align;
  Sizes shape = {};                             ///< of what is reached
  Sizes from = {};                              ///< reshape: what is left
  Sizes axes = {};                              ///< permute: where each coordinate goes; pad: elements before
  std::int64_t axis = 0, start = 0, times = 1;  ///< slice; window, with `start` as the dilation
};
struct Place {
  int operand = -1;
  std::vector<Step> steps = {};
  Sizes shape = {}, strides = {};  ///< of the operand
  bool dense = false;    ///< it lies as the grid does: no steps, no gaps
};
// [/place]

/// Does the place lie in the operand? Outside of a pad it does not.
inline bool follow(const std::vector<Step>& steps, std::int64_t* c, int rank) {
  for (const Step& s : steps) {
    std::int64_t old[tt::max_rank];
    std::copy_n(c, rank, old);
    const int n = static_cast<int>(s.shape.size());
    const auto extent = [&](int k) { return s.shape[static_cast<std::size_t>(k)]; };
    switch (s.kind) {
      case Step::align:
        for (int k = 0; k < n; ++k) c[k] = extent(k) == 1 ? 0 : old[rank - n + k];
        break;
      case Step::permute:
        for (int k = 0; k < n; ++k) c[s.axes[static_cast<std::size_t>(k)]] = old[k];
        break;
      case Step::slice: c[s.axis] = s.start + old[s.axis] * s.times; break;
      case Step::window: c[s.axis] = old[s.axis] * s.times + old[n] * s.start; break;
      case Step::reshape: {
        std::int64_t at = 0;
        for (int k = 0; k < rank; ++k) at = at * s.from[static_cast<std::size_t>(k)] + old[k];
        for (int k = n - 1; k >= 0; --k) c[k] = at % extent(k), at /= extent(k);
        break;
      }
      case Step::pad:
        for (int k = 0; k < n; ++k) {
          c[k] = old[k] - s.axes[static_cast<std::size_t>(k)];
          if (c[k] < 0 || c[k] >= extent(k)) return false;
        }
    }
    rank = n;
  }
  return true;
}
inline void coordinates(const Sizes& grid, std::int64_t index, std::int64_t* c) {
  for (std::size_t k = grid.size(); k-- > 0;) c[k] = index % grid[k], index /= grid[k];
}

struct Kernel {
  enum Kind { elements, reduction, product } kind = elements;
  Sizes grid = {};  ///< of a reduction: of what is reduced; of a product: of its result
  std::vector<Instruction> code = {};
  std::vector<Place> places = {};
  int registers = 0, result = -1;  ///< the register that is stored
  tt::DType type = tt::DType::f32; ///< of the result
  int to = -1;                     ///< the operand that is written, dense
  // reduction
  tt::Op reduce = tt::Op::sum;
  unsigned axes = 0;
  bool row_order = false;
  // product: places[0] and places[1] bring the factors together
  Sizes a_shape = {}, b_shape = {};
};

/// A program for some sizes: kernels in order, operands (arguments, then scratch memory) and where in that they are.
struct Assembly {
  std::vector<Kernel> kernels;
  std::vector<std::size_t> scratch;  ///< bytes from the begin of the scratch memory, for operands behind the arguments
  std::size_t scratch_bytes = 0;
  int instructions() const {
    int n = 0;
    for (const Kernel& k : kernels) n += static_cast<int>(k.code.size());
    return n;
  }
};

/// The listing of a kernel.
inline std::string listing(const Kernel& k) {
  const auto shown = [](const Sizes& s) {
    std::string t = "(";
    for (std::size_t i = 0; i < s.size(); ++i) t += (i ? ", " : "") + std::to_string(s[i]);
    return t + ")";
  };
  constexpr const char* kinds[] = {"elements", "reduction", "product"};
  std::string t = std::string(kinds[k.kind]) + " over " + shown(k.grid) + '\n';
  const auto reg = [](int r) { return 'r' + std::to_string(r); };
  const auto operand = [](int o) { return '[' + std::to_string(o) + ']'; };
  for (const Instruction& i : k.code) {
    std::string line = std::string("  ") + mnemonic(i.code) + '.' + (i.to_type == tt::DType::boolean ? "bit" : tt::name(i.to_type));
    line.resize(12, ' ');
    line += reg(i.to);
    for (const int r : {i.a, i.b, i.c})
      if (r >= 0) line += ", " + reg(r);
    if (i.code == Code::load) line += ", " + operand(k.places[i.bits].operand);
    if (i.code == Code::immediate) line += ", " + std::string(tt::number_text(i.to_type, i.bits).c_str());
    if (i.code == Code::index) line += ", axis " + std::to_string(i.bits);
    if (i.code == Code::shift_left || i.code == Code::shift_right || i.code == Code::shift_right_logical) line += ", " + std::to_string(i.bits);
    t += line + '\n';
  }
  if (k.kind == Kernel::product) return t + "  mma       " + operand(k.to) + ", " + operand(k.places[0].operand) + ", " + operand(k.places[1].operand) + '\n';
  if (k.kind == Kernel::reduction) t += std::string("  red.") + tt::name(k.reduce) + "   " + reg(k.result) + '\n';
  return t + "  st        " + operand(k.to) + ", " + reg(k.result) + '\n';
}

}  // namespace npu
