// The optional compiled build: everything that is declared with TT_INLINE, defined once.
#include "tt/backends/runtime.hpp"
#include "tt/autograd/engine.hpp"
#include "tt/jit/emit_c.hpp"
