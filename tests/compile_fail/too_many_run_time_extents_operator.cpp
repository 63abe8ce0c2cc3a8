// expect: tt: too many run-time extents. Give some of them constants, or split the function
// expect: run_time_extents_are_few<10, 8>
#include <tt/tt.hpp>

using Matrix = tt::Array<float, tt::dyn, tt::dyn>;

Matrix f(const Matrix& a) { return a + a + a + a + a; }
