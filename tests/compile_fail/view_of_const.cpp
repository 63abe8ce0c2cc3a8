// expect: tt: an ArrayView of const elements is for reading
// max-lines: 16
#include <tt/tt.hpp>

void f(tt::ArrayView<const float, 4> view, const tt::Array<float, 4>& a) { view = a * 2; }
