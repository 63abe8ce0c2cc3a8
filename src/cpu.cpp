// The compiled build of backends/cpu/: the tile interpreter, with the kernels of all ops.
#define TT_BUILD TT_PART_cpu
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
