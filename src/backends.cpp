// The compiled build of the parts that backends share: the disk cache, and the C text of kernels.
#define TT_BUILD TT_PART_backends
#include "tt/backends/cpu/emit_c.hpp"
#include "tt/backends/disk_cache.hpp"
