// expect: tt: Array elements are bool, int8, uint8, int16, int32, int64, tt::float16, tt::bfloat16, float or double
#include <tt/tt.hpp>

tt::Array<unsigned, 8> a;
