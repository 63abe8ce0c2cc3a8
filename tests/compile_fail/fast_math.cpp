// expect: tt: -ffast-math changes results between paths; remove it, or define TT_ALLOW_FAST_MATH
// flags: -ffast-math
#include <tt/tt.hpp>
