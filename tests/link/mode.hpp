// The text that checked.cpp and unchecked.cpp have in common.
#pragma once
#include <optional>
#include <typeinfo>

#include "modes.hpp"
#include "shared.hpp"

namespace shared {

/// Static: each file has its own. Without TT_DEBUG the ended operand is not evaluated.
static inline Mode describe_mode() {
  Mode m{.array = typeid(void(tt::Array<float, 3>&)).name(),
         .layer = typeid(void(Layer<tt::arrays>&)).name(),
         .bytes = sizeof(tt::Array<float, 3>),
         .right = false,
         .throws = false};
  const tt::Array<float, 3> a{1, 2, 3};
  const auto twice = a * 2;
  m.right = tt::eval(twice)(2) == 6 && tt::fuse(Chain{})(a, a)(0) == tt::fuse(Chain{})(a, tt::eval(twice / 2))(0);
  if (TT_DEBUG) {
    std::optional<tt::Array<float, 3>> b = a;
    const auto e = *b + 1;
    b.reset();
    try {
      tt::eval(e);
    } catch (const tt::Error&) {
      m.throws = true;
    }
  }
  return m;
}

}  // namespace shared
