// A further table of tile kernels for tt::compiled, of the instruction set whose flags this file is given; a program takes it on a
// processor that has them (backends/cpu/tile_kernels_inl.hpp). With it are given: TT_COMPILED, TT_TILE_KERNELS, the
// name of the function to define, and TT_HAS_FMA as in the rest of the library: all of a program rounds alike. Without
// TT_TILE_KERNELS there is nothing in it, so that all of src/ can be compiled by one command.
#if defined(TT_TILE_KERNELS)
#include "tt/backends/cpu/tile_kernels_inl.hpp"

namespace tt::cpu {

const TileKernels& TT_TILE_KERNELS() { return detail::own_kernels; }

}  // namespace tt::cpu
#endif
