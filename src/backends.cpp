// The compiled build of what backends share: the cache on disk.
#define TT_BUILD TT_PART_backends
#include "tt/backends/disk_cache.hpp"
