// Built with TT_DEBUG.
#include "mode.hpp"

shared::Mode shared::mode_checked() { return describe_mode(); }
