// expect: tt: what is assigned has another dtype than the Array; use tt::cast<T>(...)
#include <tt/tt.hpp>

void f(tt::Array<std::int32_t, 8>& a) { a *= 0.5; }
