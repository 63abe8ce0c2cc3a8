// expect: tt::compile: a pointer says at run time which function it is, and what is compiled must be known: write a lambda that calls it
#include <tt/tt.hpp>

tt::Tensor twice(const tt::Tensor& x) { return x * 2; }

void f(const tt::Tensor& a) { tt::compile(twice)(a); }
