// The compiled build of dispatch/functions.hpp: functions made of operators, and their names.
#define TT_BUILD TT_PART_functions
#include "tt/dispatch/functions.hpp"
