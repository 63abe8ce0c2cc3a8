// Tensors without tt::compiled: a program has the code of the ops that it uses, and says so where one is missing.
#include <doctest/doctest.h>

#include "tensors.hpp"

using tt::DType;
using tt::Tensor;

TEST_CASE("ops, the tape and compiled functions bring in what they run") {
  const Tensor x = tt::tensor({{0.5f, -1.0f}, {2.0f, 0.25f}}, {.requires_grad = true});
  const Tensor w = tt::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}});
  const auto f = [](const Tensor& a, const Tensor& b) { return tt::sum(tt::softmax(tt::matmul(tt::sigmoid(a), b), 1) * a); };
  const Tensor y = f(x, w);
  y.backward();
  const auto compiled = tt::compile(f);
  const Tensor z = compiled(x.detach(), w);
  CHECK(z.item() == y.item());
  CHECK(x.grad().shape() == x.shape());
  CHECK(same_bits(tt::grad<0>(f)(x.detach(), w), x.grad()));
  CHECK(numbers(w) == Numbers{1, 2, 3, 4});
}

TEST_CASE("an op that no graph of the program has is named") {
  const auto function = [] { return tt::backend::tile_kernels().function(tt::Op::call, DType::f32, DType::f32, tt::op_def<tt::Erf>.code); };
  CHECK(message([&] { (void)function(); }) == "tt: this program has no code for erf: no file that includes tt/tt.hpp "
                                              "records it at run time. Link tt::compiled, or record the graph in such a file?");
  tt::Graph g;
  g.output(g.call(tt::op_def<tt::Erf>, {g.input(DType::f32, {4})}));  // which brings it in
  CHECK((function() != nullptr));
}

TEST_CASE("a reduction that no graph of the program has is named") {
  const auto smallest = [] { return &tt::cpu::reduction_tiles(tt::Op::amin, DType::f32); };
  CHECK(message([&] { (void)smallest(); }).starts_with("tt: this program has no code for amin: "));
  const Tensor x = tt::tensor({3.0f, -1.0f, 2.0f});
  CHECK(x.amin().item() == -1);  // which brings it in
  CHECK((smallest()->rows != nullptr));
}
