// Where tt gave something else than PyTorch 2.15, one minimal case each: what it gives now against what PyTorch gives. Beside
// this file conformance_differences.txt has a line for each, `number | name | status`; a status is "mended", or says who mends
// it, or `meant: why` it stays. A case that differs and is not listed so fails, and one that is listed and differs no more.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tensors.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/jit/compile.hpp"

using tt::DType;
using tt::IntList;
using tt::Tensor;

namespace {

/// Of the sum of f(x).
template <class F>
Tensor gradient(const Tensor& of, const F& f) {
  Tensor x = of.detach().clone();
  x.requires_grad_();
  f(x).sum().backward();
  return x.grad();
}
Tensor square_matrix() { return tt::tensor({{1.0, 3.0}, {3.0, 0.0}}); }
Tensor logits() { return tt::tensor({{1.0, 2.0, 0.5}, {0.1, -1.0, 3.0}}); }
/// Weights of a convolution whose rows lie apart in memory.
Tensor cut_weights() { return tt::tensor({{{{1.0, 2.0, 99.0}, {3.0, 4.0, 99.0}}}}).slice(3, 0, 2); }

struct Case {
  const char* number;
  const char* name;
  const char* want;  ///< as it is printed; "throws" for any Error
  Tensor (*got)();
};

const Case cases[] = {
    // ---- wrong values
    {"1", "conv2d: gradient of the images, weights a view whose rows lie apart", "tensor([[[[1., 2.],\n          [3., 4.]]]])",
     [] { return gradient(tt::zeros({1, 1, 2, 2}), [](const Tensor& x) { return tt::conv2d(x, cut_weights(), {}); }); }},
    {"1b", "the same inside compile", "tensor([[[[1., 2.],\n          [3., 4.]]]])",
     [] {
       auto h = tt::compile([](const Tensor& x, const Tensor& w) { return tt::conv2d(x, w, {}).sum(); }, {.name = "h", .tier = 0});
       return gradient(tt::zeros({1, 1, 2, 2}), [&](const Tensor& x) { return h(x, cut_weights()); });
     }},
    {"2", "argmax by name over all axes", "tensor(1)", [] { return tt::call("argmax", {square_matrix()}); }},
    {"3", "var of no elements", "tensor(nan)", [] { return tt::zeros({0}).var(); }},
    {"4", "cross_entropy by name with a label that is no class", "throws",
     [] { return tt::call("cross_entropy", {logits(), tt::tensor({0, 3})}); }},
    {"5", "cross_entropy of (N, C, d)", "tensor(0.2613)",
     [] { return tt::cross_entropy(tt::tensor({{{1.0, 0.0}, {0.5, 3.0}}}), tt::tensor({{0, 1}})); }},
    {"6", "clamp with a bound that is NaN", "tensor([nan, nan])", [] { return tt::clamp(tt::tensor({1.0, -5.0}), -1.0, __builtin_nan("")); }},
    {"7", "pow of integers", "tensor([5559060566555523])", [] { return tt::pow(tt::tensor({3}), 33); }},
    {"8", "sign of NaN", "tensor([0.])", [] { return tt::sign(tt::tensor({__builtin_nan("")})); }},
    {"8b", "gradient of sign at NaN", "tensor([0.])",
     [] { return gradient(tt::tensor({__builtin_nan("")}), [](const Tensor& x) { return tt::sign(x); }); }},
    {"9", "gradient of amax where there is a NaN", "tensor([nan, nan])",
     [] { return gradient(tt::tensor({__builtin_nan(""), 1.0}), [](const Tensor& x) { return x.amax(); }); }},
    {"10", "arange of integers with a step below one", "tensor([0, 0, 0, 0])",
     [] { return tt::arange(0.0, 2.0, 0.5, {.dtype = DType::i64}); }},
    // ---- arguments taken for something else
    {"11", "max by name along an axis", "tensor([3., 3.])", [] { return tt::call_results("max", {square_matrix(), 1})[0]; }},
    {"12", "a bool is no axis", "throws", [] { return tt::call("sum", {square_matrix()}, {{"dim", true}}); }},
    {"13", "softmax by name without dim", "throws", [] { return tt::call("softmax", {square_matrix()}); }},
    {"14", "avg_pool2d by name without kernel_size", "throws", [] { return tt::call("avg_pool2d", {tt::ones({1, 1, 4, 4})}); }},
    {"15", "gather by name without dim", "throws", [] { return tt::call("gather", {square_matrix()}, {{"index", tt::tensor({{0, 1}})}}); }},
    // ---- dtypes
    {"16", "sign of bool", "tensor([ True, False])", [] { return tt::sign(tt::tensor({true, false})); }},
    {"17", "avg_pool2d of integers", "tensor([[[[3]]]])",
     [] { return tt::call("avg_pool2d", {tt::full({1, 1, 2, 2}, 3, {.dtype = DType::i64}), 2}); }},
    // ---- refused, PyTorch takes it
    {"18", "logical_and of numbers", "tensor([ True, False])", [] { return tt::logical_and(tt::tensor({1.0, 0.0}), tt::tensor({2, 2})); }},
    {"19", "logical_not of numbers", "tensor([False,  True])", [] { return tt::logical_not(tt::tensor({1.0, 0.0})); }},
    {"20", "bit_and of bool", "tensor([ True, False])",
     [] { return tt::call("bit_and", {tt::tensor({true, false}), tt::tensor({true, true})}); }},
    {"21", "sum along axis 0 of a Tensor of rank 0", "tensor(2.)", [] { return tt::tensor(2.0).sum({0}); }},
    {"22", "reshape by name to a size of -1", "tensor([1., 3., 3., 0.])", [] { return tt::call("reshape", {square_matrix(), IntList{-1}}); }},
    {"23", "expand by name with sizes of -1", "tensor([[[1., 3.],\n         [3., 0.]]])",
     [] { return tt::call("expand", {square_matrix(), IntList{1, -1, -1}}); }},
    {"24", "scatter_add by name with more source than index", "tensor([[1., 1., 0.],\n        [0., 1., 0.],\n        [1., 0., 0.]])",
     [] { return tt::call("scatter_add", {tt::zeros({3, 3}), 0, tt::tensor({{0, 1}, {2, 0}}), tt::ones({3, 3})}); }},
    {"25", "cat with an empty vector among matrices", "tensor([[1., 3.],\n        [3., 0.]])",
     [] { return tt::cat({tt::zeros({0}), square_matrix()}); }},
    {"26", "square of bool", "tensor([1])", [] { return tt::square(tt::tensor({true})); }},
    {"27", "cross_entropy ignores label -100", "tensor(1.4644)", [] { return tt::cross_entropy(logits(), tt::tensor({0, -100})); }},
    {"28", "conv2d of one image without a batch axis", "tensor([[[4.]]])",
     [] { return tt::conv2d(tt::ones({1, 2, 2}), tt::ones({1, 1, 2, 2}), {}); }},
    {"29", "pad by a negative size", "tensor([2., 3.])", [] { return tt::pad(tt::tensor({1.0, 2.0, 3.0}), {-1, 0}); }},
    {"30", "take_along_dim with an index from the end", "tensor([[3.],\n        [3.]])",
     [] { return tt::take_along_dim(square_matrix(), tt::tensor({{-1}, {0}}), 1); }},
    {"31", "compile of pad of no elements keeps the gradient", "tensor([], size=(0, 3))",
     [] {
       auto h = tt::compile([](const Tensor& x) { return tt::pad(x, {1, 1}); }, {.name = "pad", .tier = 0});
       return gradient(tt::zeros({0, 3}), [&](const Tensor& x) { return h(x); });
     }},
    {"32", "in place on a view of what is recorded", "tensor([6., 6., 2.])",
     [] {
       return gradient(tt::tensor({1.0, 2.0, 3.0}), [](const Tensor& x) {
         Tensor z = x * 2;
         Tensor v = z.slice(0, 0, 2);
         v.mul_(3.0);
         return z;
       });
     }},
    // ---- conventions
    {"33", "max_pool2d: gradient among equals to the first", "tensor([[[[1., 0.],\n          [0., 0.]]]])",
     [] { return gradient(tt::ones({1, 1, 2, 2}), [](const Tensor& x) { return tt::max_pool2d(x, {.kernel_size = 2}); }); }},
    {"34", "clamp: gradient at its bounds", "tensor([0., 1., 0.])",
     [] { return gradient(tt::tensor({1.0, 2.0, 3.0}), [](const Tensor& x) { return tt::clamp(x, 1.0, 3.0); }); }},
    {"35", "hardswish: gradient at 3", "tensor([1.])", [] { return gradient(tt::tensor({3.0}), [](const Tensor& x) { return tt::hardswish(x); }); }},
    {"36", "results keep the strides of operands", "tensor([1, 3])",
     [] {
       const Tensor t = tt::zeros({2, 3}).t() + 1;
       return tt::tensor({t.stride(0), t.stride(1)});
     }},
    {"37", "in place where operands overlap", "throws",
     [] {
       Tensor z = tt::arange(3.0f);
       z.slice(0, 1, 3).add_(z.slice(0, 0, 2));
       return z;
     }},
    {"38", "mean of integers", "throws", [] { return tt::mean(tt::tensor({1, 2})); }},
    {"39", "subtraction of bool", "throws", [] { return tt::tensor({1.0}) - tt::tensor({true}); }},
};

std::string said(const Case& c) {
  try {
    return std::string(tt::to_string(c.got()));
  } catch (const tt::Error& e) {
    return std::string("throws ") + e.what();
  }
}

struct Line {
  std::string name, status;
};
std::map<std::string, Line> listed() {
  std::map<std::string, Line> lines;
  std::ifstream file("tests/conformance_differences.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 3);
    REQUIRE_MESSAGE(second != std::string::npos, line);
    const bool fresh = lines.emplace(line.substr(0, first), Line{line.substr(first + 3, second - first - 3), line.substr(second + 3)}).second;
    CHECK_MESSAGE(fresh, "listed twice: ", line);
  }
  return lines;
}

}  // namespace

TEST_CASE("each case gives what PyTorch gives, or is listed as one that does not") {
  tt::register_all_ops();
  std::map<std::string, Line> lines = listed();
  for (const Case& c : cases) {
    const auto line = lines.find(c.number);
    if (line == lines.end()) {
      FAIL_CHECK("no line for ", c.number, " ", c.name);
      continue;
    }
    const std::string got = said(c), want = c.want;
    const bool same = got == want || (want == "throws" && got.starts_with("throws")), mended = line->second.status == "mended";
    CHECK_MESSAGE(line->second.name == c.name, c.number);
    CHECK_MESSAGE(same == mended, c.number, " ", c.name, " is listed as '", line->second.status, "'\n   got  ", got, "\n   want ", want);
    CHECK_MESSAGE(!line->second.status.empty(), c.number);
    lines.erase(line);
  }
  for (const auto& [number, line] : lines) FAIL_CHECK("a line without a case: ", number, " ", line.name);
}
