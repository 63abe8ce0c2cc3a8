// expect: tt needs C++20: add -std=c++20
// flags: -std=c++17
#include <tt/config.hpp>
