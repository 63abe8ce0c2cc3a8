// expect: tt: Array elements are bool, int32, int64, float or double
#include <tt/tt.hpp>

tt::Array<unsigned, 8> a;
