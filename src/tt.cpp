// The optional compiled build: everything that is declared with TT_INLINE, defined once.
#include "tt/autograd/engine.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/backends/runtime.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/jit/captures.hpp"
#include "tt/jit/code_cache.hpp"
#include "tt/jit/emit_c.hpp"
