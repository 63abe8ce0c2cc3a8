// The compiled build of core/: Tensors and their storage.
#define TT_BUILD TT_PART_core
#include "tt/core/kept_text.hpp"
#include "tt/core/size_guard.hpp"
#include "tt/core/tensor.hpp"
