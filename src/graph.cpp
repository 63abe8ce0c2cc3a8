// The compiled build of graph/: the graph compiler as it runs at run time, and a table of all opaque ops.
#define TT_BUILD TT_PART_graph
#include "tt/graph/sym.hpp"
#include "tt/plan/memory.hpp"
