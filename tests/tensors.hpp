// What tests of Tensors share: elements as numbers, equal bits, and what an Error says.
#pragma once
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tt/tt.hpp"

using Numbers = std::vector<double>;

/// Every element in row-major order, whatever dtype and strides.
inline Numbers numbers(const tt::Tensor& t) {
  const tt::Tensor dense = t.detach().contiguous();
  Numbers v;
  tt::with_dtype(t.dtype(), [&]<class T>(T) {
    for (T x : dense.elements<T>()) v.push_back(static_cast<double>(x));
  });
  return v;
}
/// Equal dtype, shape and bits.
inline bool same_bits(const tt::Tensor& a, const tt::Tensor& b) {
  const tt::Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return x.dtype() == y.dtype() && x.shape() == y.shape() &&
         (x.numel() == 0 || std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel() * tt::size_of(x.dtype()))) == 0);
}
inline std::string shape(const tt::Tensor& t) { return tt::Text() << t.shape(); }

/// What the E that `f` throws says.
template <class E = tt::Error, class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
