// A further table of tile kernels for tt::compiled, for the instruction set of this file's compiler flags; a program uses it on a
// processor that supports them (backends/cpu/tile_kernels_inl.hpp). Also needs the macros TT_COMPILED, TT_TILE_KERNELS (the
// name of the function to define), and TT_HAS_FMA as in the rest of the library, so that all of a program rounds alike. Without
// TT_TILE_KERNELS the file is empty, so that all of src/ can be compiled by one command.
#if defined(TT_TILE_KERNELS)
#include "tt/backends/cpu/tile_kernels_inl.hpp"

namespace tt::cpu {

const TileKernels& TT_TILE_KERNELS() { return detail::own_kernels; }

}  // namespace tt::cpu
#endif
