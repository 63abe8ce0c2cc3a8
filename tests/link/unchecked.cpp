// Built without TT_DEBUG.
#include "mode.hpp"

shared::Mode shared::mode_unchecked() { return describe_mode(); }
