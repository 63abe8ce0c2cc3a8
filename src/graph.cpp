// The compiled build of graph/: the graph compiler at run time, and a table of all intrinsics (OpaqueOps).
#define TT_BUILD TT_PART_graph
#include "tt/graph/sym.hpp"
#include "tt/plan/memory.hpp"
