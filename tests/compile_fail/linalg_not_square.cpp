// expect: tt: linalg takes Arrays that are square matrices of floats, up to 8 x 8. Others as Tensors, tt::linalg::inv(tt::as_tensor(a))?
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 4>& a) { return tt::linalg::inv(a); }
