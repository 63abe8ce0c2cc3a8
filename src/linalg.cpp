// The compiled build of linear algebra through LAPACK.
#define TT_BUILD TT_PART_linalg
#include "tt/dispatch/eager.hpp"
