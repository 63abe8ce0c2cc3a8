// Tile functions: each primitive and each intrinsic (OpaqueOps) over a tile of elements, one function for each dtype, in a table.
// The interpreter and eager ops call them; the bits are those of static kernels.
// Their definitions are in tile_functions_inl.hpp: 15 s of compile time that tt::compiled saves.
#pragma once
#include "tt/backends/cpu/reduce.hpp"
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/graph/sym.hpp"

namespace tt::cpu {

/// The tile functions of an intrinsic, by dtype.
struct CallTiles {
  const char* isa = TT_ISA_NAME;  ///< the instruction set whose vectors they use
  TileFunction of[dtype_count] = {};
};
/// One table for all files of a program: the linker keeps one file's copy of each function.
inline const CallTiles* enlisted_tiles[tt::detail::max_opaque_ops] = {};

inline namespace TT_ISA {

/// The tile function of an instruction; null for loads, stores and the like.
TT_INLINE TileFunction tile_function(Op op, DType dtype, DType from, int attribute);

}  // namespace TT_ISA
}  // namespace tt::cpu

#if TT_DEFINES(cpu)
#include "tt/backends/cpu/tile_functions_inl.hpp"
#endif
