// What the files of this program share: Arrays in signatures, a named function to fuse, a parameter
// struct and an op of its own. Each file is built with other -march flags.
#pragma once
#include <string>

#include <tt/tt.hpp>

namespace shared {

using Vector = tt::Array<float, 100>;
using Matrix = tt::Array<float, tt::dyn, 24>;

template <class Kind>
struct Layer {
  tt::leaf<Kind, float, 24, 7> weight;
  tt::leaf<Kind, float, 7> bias;
};

struct Bump {
  static constexpr tt::OpInfo info{.name = "bump"};
  static constexpr auto body(auto x) { return tt::exp(-(x * x)); }
};
constexpr tt::Elementwise<Bump> bump{};

/// An ordinary struct with a call operator: has a name, so all files mean the same type.
struct Chain {
  constexpr auto operator()(auto x, auto y) const { return bump(x) * tt::tanh(y) + tt::silu(x - y); }
};
struct Loss {
  constexpr auto operator()(const auto& layer, auto x) const {
    const auto h = tt::sigmoid(tt::matmul(x, layer.weight) + layer.bias);
    return tt::mean(tt::logsumexp(h, 1));
  }
};

struct Results {
  Vector chain, expression;
  tt::Array<float> loss, total;
  tt::Array<float, 24, 7> gradient;
};

/// Everything of this header once. Static: each file has its own, with its own instructions.
static inline Results compute(const Vector& x, const Vector& y, const Layer<tt::arrays>& layer,
                       const Matrix& rows) {
  Results r;
  r.chain = tt::fuse(Chain{})(x, y);
  r.expression = tt::sqrt(x * x + y * y) / (1 + tt::abs(y));
  const auto [loss, gradient] = tt::value_and_grad(Loss{})(layer, rows);
  r.loss = loss;
  r.gradient = gradient.weight;
  r.total = tt::sum(rows);
  return r;
}

Results compute_plain(const Vector&, const Vector&, const Layer<tt::arrays>&, const Matrix&);
Results compute_avx2(const Vector&, const Vector&, const Layer<tt::arrays>&, const Matrix&);
Results compute_native(const Vector&, const Vector&, const Layer<tt::arrays>&, const Matrix&);
std::string isa_plain();
std::string isa_avx2();
std::string isa_native();

/// Arrays and expressions that one file makes and another one uses up.
Matrix make_rows(int n);
void add_in_place(Vector& to, const Vector& what);

}  // namespace shared
