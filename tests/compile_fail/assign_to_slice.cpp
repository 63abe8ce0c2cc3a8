// expect: tt: an expression has no elements to write to. For a slice of an Array: a = tt::slice_scatter<Axis, Start>(a, x)?
#include <tt/tt.hpp>

void f(tt::Array<float, 4, 4>& a, const tt::Array<float, 2, 4>& x) { tt::slice<0, 0, 2>(a) = x; }
