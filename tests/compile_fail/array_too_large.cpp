// expect: tt: an Array of this shape has more elements than memory can hold
#include <tt/tt.hpp>

tt::Array<float, 4294967296, 4294967296> a;
