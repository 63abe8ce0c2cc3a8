// The compiled build of what backends share: the cache on disk, and C text of kernels.
#define TT_BUILD TT_PART_backends
#include "tt/backends/cpu/emit_c.hpp"
#include "tt/backends/disk_cache.hpp"
