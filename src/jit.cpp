// The compiled build of jit/: captures, compiled functions, and the cache of their kernels.
#define TT_BUILD TT_PART_jit
#include "tt/jit/captures.hpp"
#include "tt/jit/code_cache.hpp"
#include "tt/jit/vmap_call.hpp"
