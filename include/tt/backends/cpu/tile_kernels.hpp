// The table of functions on tiles for an instruction set: the only knowledge of vectors that the interpreter and eager ops have.
//   const TileOperand in[] = {{a}, {b}};   tile_kernels().function(Op::add, DType::f32, DType::f32, 0)(d, in, n, 0, nullptr);
// A program has the table for its own compiler flags. tt::compiled may have further tables, for newer processors, and uses the
// best one that the present processor supports (src/tile_kernels.cpp).
#pragma once
#include "tt/backends/cpu/windows.hpp"

namespace tt::cpu {

/// An operand: n elements, readable up to the next multiple of `lanes`; or `lanes` elements that are used repeatedly.
struct TileOperand {
  const void* elements = nullptr;
  bool repeated = false;
};
/// Several rows of n elements. The result's rows are contiguous, those of operand k are apart[k] bytes apart; single[k]: operand k has one
/// element a row, used for all columns.
struct TileRows {
  static constexpr int most_operands = 4;
  std::int64_t count = 1;
  std::int64_t apart[most_operands] = {};
  bool single[most_operands] = {};
};
/// d holds n elements, or rows of them, and may be written up to the next multiple of `lanes`. There are as many operands as the op has.
/// `rows` is null for one row; only ops with takes_rows accept several.
using TileFunction = void (*)(void* d, const TileOperand* operands, std::int64_t n, int attribute, const TileRows* rows);
constexpr bool takes_rows(Op op) { return op == Op::call || is_comparison(op) || (op > Op::copy && is_arithmetic(op)); }

/// A reduction of elements of one dtype, to which all pointers point. `b`, if not null, holds second factors: then products of floats
/// are summed.
struct ReductionTiles {
  /// Sets n lanes to the identity, up to the next multiple of `lanes`.
  void (*start)(void* lane, std::int64_t n) = nullptr;
  /// Combines a part of a row with 64 lanes; fold: combines these to one value.
  void (*part)(void* lane, const void* a, const void* b, std::int64_t n) = nullptr;
  void (*fold)(void* value, const void* lane) = nullptr;
  /// Reduces whole contiguous rows, each to a value.
  void (*rows)(void* value, const void* a, const void* b, std::int64_t rows, std::int64_t columns) = nullptr;
  /// Contiguous rows, combined with a lane for each column; groups: each `rows` of them give a row of values; elements: n combined with n others.
  void (*columns)(void* lane, const void* x, std::int64_t rows, std::int64_t columns) = nullptr;
  void (*groups)(void* to, const void* x, std::int64_t groups, std::int64_t rows, std::int64_t columns) = nullptr;
  void (*elements)(void* to, const void* x, std::int64_t n) = nullptr;
};

/// The most elements of a product that go to `take` together in whole rows.
inline constexpr std::int64_t most_products = 512;

/// A part of a product: rows of `columns` elements, `pitch` apart, at `elements`.
struct ProductTile {
  std::int64_t row, col, rows, columns, pitch;
  const void* elements;
  bool first;  ///< the first of several that are taken together: operands common to all rows must be loaded
};
/// A matrix product, in elements of its dtype, and the function that takes its parts.
struct ProductTiles {
  /// Small products computed together, their rows contiguous: the offsets of each one's sides from those of the first, in elements.
  static constexpr int most_matrices = 64;
  struct Further {
    std::int64_t a, b;
  };
  std::int64_t rows, cols, inner;
  const void* a;
  DType a_dtype;           ///< storage dtype of a: the product's dtype; or integers of fewer bits, or bf16, which b then is too
  std::int64_t a_row, a_inner;
  const void* b;
  DType b_dtype;           ///< storage dtype of b: the product's dtype, or one whose compute dtype that is
  std::int64_t b_inner, b_column;
  bool b_padded;           ///< the last vector of b's rows may be read whole
  bool few_columns;        ///< few columns and a short inner extent: many rows go to `take` together
  int matrices = 1;        ///< of few columns; if there are several, they have at most most_products elements together
  const Further* further = nullptr;  ///< one for each matrix
  void* panel;             ///< memory for a panel of b, or null
  const Windows* windows;  ///< windows that are b's columns, from `first_column` on; or null
  std::int64_t first_column;
  void* context;
  void (*take)(void* context, const ProductTile& part);
};
/// The longest inner extent of a product that counts as one of few columns.
inline constexpr int few_columns_inner = 16;

struct TileKernels {
  const char* isa;
  int lanes;  ///< floats in a vector: all dtypes are processed by as many elements at a time
  /// The function of an instruction; null for loads, stores and the like.
  TileFunction (*function)(Op op, DType dtype, DType from, int attribute);
  /// For floats and integers; booleans are not reduced.
  const ReductionTiles& (*reduction)(Op op, DType dtype);
  /// For floats and integers.
  void (*multiply)(DType dtype, const ProductTiles& product);
  /// to[c * to_row + r] = from[r * row + c * column], for elements of `size` bytes.
  void (*transpose)(int size, const void* from, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t cols, void* to,
                    std::int64_t to_row);
  /// May both sides of a product be stored as bf16? Its sums are then rounded as the processor's instruction does.
  bool (*has_bf16_products)();
};

// Further tables in tt::compiled: see src/tile_kernels.cpp.
const TileKernels& avx2_kernels();
const TileKernels& avx512_kernels();

inline namespace TT_ISA {

/// The table that this program uses.
TT_INLINE const TileKernels& tile_kernels();

}  // namespace TT_ISA
}  // namespace tt::cpu
