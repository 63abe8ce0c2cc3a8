// What works on tiles, as a table for each instruction set: all that the interpreter and eager ops know of vectors.
//   const TileOperand in[] = {{a}, {b}};   tile_kernels().function(Op::add, DType::f32, DType::f32, 0)(d, in, n, 0, nullptr);
// A program has the table of its own flags. tt::compiled may have further ones, for processors that the program may meet,
// and takes the best that this one runs (src/tile_kernels.cpp).
#pragma once
#include "tt/backends/cpu/windows.hpp"

namespace tt::cpu {

/// What a function reads: n elements, and up to the next multiple of `lanes`; or `lanes` of them, again and again.
struct TileOperand {
  const void* elements = nullptr;
  bool repeated = false;
};
/// Several rows of n elements. Those of the result lie one behind the other, those of operand k apart[k] bytes from each other; if single[k], there is one element a row, repeated along it.
struct TileRows {
  static constexpr int most_operands = 4;
  std::int64_t count = 1;
  std::int64_t apart[most_operands] = {};
  bool single[most_operands] = {};
};
/// d holds n elements, or rows of them, and may be written up to the next multiple of `lanes`. There are as many operands as the op has. `rows` is null for one row; what
/// takes_rows may have several.
using TileFunction = void (*)(void* d, const TileOperand* operands, std::int64_t n, int attribute, const TileRows* rows);
constexpr bool takes_rows(Op op) { return op == Op::call || is_comparison(op) || (op > Op::copy && is_arithmetic(op)); }

/// A reduction of elements of one dtype, which all pointers are to. `b`, if not null, holds second factors: then products
/// of floats are summed.
struct ReductionTiles {
  /// Lanes of no elements, up to the next multiple of `lanes`.
  void (*start)(void* lane, std::int64_t n) = nullptr;
  /// Part of a row, added to 64 lanes; and these as one value.
  void (*part)(void* lane, const void* a, const void* b, std::int64_t n) = nullptr;
  void (*fold)(void* value, const void* lane) = nullptr;
  /// Whole rows one behind the other, each to a value.
  void (*rows)(void* value, const void* a, const void* b, std::int64_t rows, std::int64_t columns) = nullptr;
  /// Rows one behind the other, added to a lane for each column; each `rows` of them to a row of values; all elements to as many.
  void (*columns)(void* lane, const void* x, std::int64_t rows, std::int64_t columns) = nullptr;
  void (*groups)(void* to, const void* x, std::int64_t groups, std::int64_t rows, std::int64_t columns) = nullptr;
  void (*elements)(void* to, const void* x, std::int64_t n) = nullptr;
};

/// Elements of the rows of a product that go to `take` together, at most, where these are whole.
inline constexpr std::int64_t most_products = 512;

/// A part of a product: rows of `columns` elements, `pitch` apart, at `elements`.
struct ProductTile {
  std::int64_t row, col, rows, columns, pitch;
  const void* elements;
  bool first;  ///< of those that go together: what is read for all rows alike is to be read
};
/// A matrix product, in elements of its dtype, and who takes its parts.
struct ProductTiles {
  /// Small ones that go together, one behind the other in rows: how far their sides lie behind those of the first, in elements.
  static constexpr int most_matrices = 64;
  struct Further {
    std::int64_t a, b;
  };
  std::int64_t rows, cols, inner;
  const void* a;
  DType a_dtype;           ///< what a is stored as: the product's dtype; or integers of fewer bits, or bf16, as b then
  std::int64_t a_row, a_inner;
  const void* b;
  DType b_dtype;           ///< what b is stored as: the product's dtype, or one that is computed in it
  std::int64_t b_inner, b_column;
  bool b_padded;           ///< the last vector of b's rows may be read whole
  bool few_columns;        ///< of few columns and little to add up: many rows go to `take` together
  int matrices = 1;        ///< of few columns; their products are most_products at most, where there are several
  const Further* further = nullptr;  ///< of each matrix
  void* panel;             ///< memory for a panel of b, or null
  const Windows* windows;  ///< b's columns are these, from `first_column` on; or null
  std::int64_t first_column;
  void* context;
  void (*take)(void* context, const ProductTile& part);
};
/// Of what is summed up by products that count as those of few columns, at most.
inline constexpr int few_columns_inner = 16;

struct TileKernels {
  const char* isa;
  int lanes;  ///< floats in a vector: all dtypes are worked on as many elements at a time
  /// The function of an instruction; null for loads, stores and the like.
  TileFunction (*function)(Op op, DType dtype, DType from, int attribute);
  /// Of floats and integers; booleans are not reduced.
  const ReductionTiles& (*reduction)(Op op, DType dtype);
  /// Of floats and integers.
  void (*multiply)(DType dtype, const ProductTiles& product);
  /// to[c * to_row + r] = from[r * row + c * column], of elements of so many bytes.
  void (*transpose)(int size, const void* from, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t cols, void* to,
                    std::int64_t to_row);
  /// May both sides of a product be bf16? Its sums are then rounded as the processor does it.
  bool (*has_bf16_products)();
};

// Further tables of tt::compiled: see src/tile_kernels.cpp.
const TileKernels& avx2_kernels();
const TileKernels& avx512_kernels();

inline namespace TT_ISA {

/// Those that this program runs.
TT_INLINE const TileKernels& tile_kernels();

}  // namespace TT_ISA
}  // namespace tt::cpu
