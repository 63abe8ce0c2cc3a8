// expect: tt: too many results. Split the function
// expect: number<130>, tt::detail::at_most<128>
#include <tt/tt.hpp>

constexpr auto five = [](auto x, float k) {
  return std::tuple{x + k, x + (k + 1), x + (k + 2), x + (k + 3), x + (k + 4)};
};
constexpr auto many = [](auto x) {
  return std::tuple{five(x, 0),  five(x, 5),  five(x, 10), five(x, 15), five(x, 20),
                    five(x, 25), five(x, 30), five(x, 35), five(x, 40), five(x, 45),
                    five(x, 50), five(x, 55), five(x, 60)};
};
constexpr auto twice = [](auto x) { return std::tuple{many(x), many(-x)}; };

void f(const tt::Array<float, 8>& a) { tt::fuse(twice)(a); }
