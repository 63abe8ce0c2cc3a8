// The compiled build of jit/: captures, compiled functions, emitted C and its cache.
#define TT_BUILD TT_PART_jit
#include "tt/jit/captures.hpp"
#include "tt/jit/code_cache.hpp"
#include "tt/jit/emit_c.hpp"
