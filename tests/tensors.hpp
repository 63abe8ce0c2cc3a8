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

/// f(a, b) for all pairs of shapes of one to four axes whose extents are 1 or 2: each pair is a capture of its own.
template <class F>
void each_pair_of_shapes(const F& f) {
  for (int rank = 1; rank <= 4; ++rank)
    for (int ones = 0; ones < 1 << rank; ++ones)
      for (int other = 0; other < 1 << rank; ++other) {
        tt::IntList a, b;
        for (int k = 0; k < rank; ++k) {
          a.push_back(ones >> k & 1 ? 1 : 2);
          b.push_back(other >> k & 1 ? 1 : 2);
        }
        f(a, b);
      }
}
