// Tensors, Arrays and graphs of up to 16 axes, on every path; and what is said of 17.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "rank_graphs.hpp"
#include "run_static.hpp"
#include "run_tiles.hpp"
#include "sanitizers.hpp"
#include "tensors.hpp"
#include "tt/io/tensors.hpp"

namespace {

using tt::IntList;
using tt::Shape;
using tt::Tensor;
using Places = std::vector<int>;

/// Numbers from 1 to 11.
Tensor counted(const Shape& s) {
  Tensor t = tt::zeros(s);
  float* const to = static_cast<float*>(t.data());
  for (std::int64_t k = 0; k < t.numel(); ++k) to[k] = static_cast<float>(k * 7 % 11 + 1);
  return t;
}
/// f(place) for each place of a shape, in row-major order.
Numbers each_place(const Shape& s, const std::function<double(const Places&)>& f) {
  Numbers all;
  Places at(static_cast<std::size_t>(s.rank), 0);
  for (std::int64_t n = 0; n < s.size().code; ++n) {
    std::int64_t rest = n;
    for (int k = s.rank - 1; k >= 0; --k) {
      at[static_cast<std::size_t>(k)] = static_cast<int>(rest % s.code[k]);
      rest /= s.code[k];
    }
    all.push_back(f(at));
  }
  return all;
}
/// The element at a place, which is beyond no axis of more than one element.
double element(const Numbers& v, const Shape& s, const Places& at) {
  std::int64_t n = 0;
  for (int k = 0; k < s.rank; ++k) n = n * s.code[k] + (s.code[k] == 1 ? 0 : at[static_cast<std::size_t>(k)]);
  return v[static_cast<std::size_t>(n)];
}
IntList reversed(int rank) {
  IntList axes;
  for (int k = rank - 1; k >= 0; --k) axes.push_back(k);
  return axes;
}
/// Every second axis.
IntList even(int rank) {
  IntList axes;
  for (int k = 0; k < rank; k += 2) axes.push_back(k);
  return axes;
}
Tensor mixed(const Tensor& x, const Tensor& y) {
  const int last = static_cast<int>(x.dim()) - 1;
  const Tensor turned = x.permute(reversed(last + 1)) * y + x;
  const Tensor joined = tt::cat({turned, y.expand(x.shape()), x}, 1);
  return tt::softmax(joined.slice(1, 1, 6, 2) * 0.1f, last).sum(even(last + 1)) + tt::matmul(x, y).sum();
}

template <void (*Record)(tt::Graph&, int), int Rank>
struct Model {
  static constexpr tt::Graph record() {
    tt::Graph g;
    Record(g, Rank);
    return g;
  }
};
struct Isa {};

template <void (*Record)(tt::Graph&, int)>
void check_tiles(int rank) {
  CAPTURE(rank);
  tt::Graph g;
  Record(g, rank);
  REQUIRE(!g.failure);
  fuzz::Random random(5);
  std::vector<fuzz::Values> in;
  for (int i : g.inputs) in.push_back(fuzz::random_values(random, g[i].dtype, g[i].shape.size().code, fuzz::Numbers::ordinary));
  const fuzz::GuardedResult r = fuzz::run_tiles(tt::compile_plan(g), g, {}, in);
  CHECK(std::string(r.trouble ? r.trouble : "") == "");
  CHECK_FALSE(fuzz::compare(g, fuzz::evaluate(g, {}, in), r.output));
}

}  // namespace

TEST_CASE("eager ops of 7 to 16 axes are plain loops") {
  for (int rank = 7; rank <= 16; ++rank) {
    CAPTURE(rank);
    const Shape s = twos(rank), row = twos(rank, 0xaaaa);
    const Tensor x = counted(s), y = counted(row) * 2;
    const Numbers a = numbers(x), b = numbers(y);
    CHECK(x.dim() == rank);
    CHECK(numbers(x.permute(reversed(rank))) == each_place(s, [&](const Places& at) { return element(a, s, {at.rbegin(), at.rend()}); }));
    CHECK(numbers(x.permute(reversed(rank)) + y) ==
          each_place(s, [&](const Places& at) { return element(a, s, {at.rbegin(), at.rend()}) + element(b, row, at); }));
    const Tensor sums = x.sum(even(rank), true);
    Numbers want(static_cast<std::size_t>(sums.numel()), 0.0);
    std::size_t place = 0;
    each_place(s, [&](const Places& at) {
      std::size_t n = 0;
      for (std::size_t k = 1; k < at.size(); k += 2) n = 2 * n + static_cast<std::size_t>(at[k]);
      want[n] += a[place++];
      return 0.0;
    });
    CHECK(numbers(sums) == want);
    CHECK(numbers(x.slice(0, 1, 2).slice(rank - 1, 0, 1).reshape(twos(rank - 2))) == each_place(twos(rank - 2), [&](Places at) {
            at.insert(at.begin(), 1);
            at.push_back(0);
            return element(a, s, at);
          }));
    const Tensor joined = tt::cat({x, x + 1}, rank - 2);
    CHECK(joined.size(rank - 2) == 4);
    CHECK(numbers(joined.slice(rank - 2, 1, 4, 2)) == each_place(s, [&](Places at) {
            const int from = 2 * at[static_cast<std::size_t>(rank - 2)] + 1;
            at[static_cast<std::size_t>(rank - 2)] = from % 2;
            return element(a, s, at) + from / 2;
          }));
    const Numbers soft = numbers(tt::softmax(x, 0));
    CHECK(soft.front() == doctest::Approx(1 / (1 + std::exp(a[a.size() / 2] - a[0]))));
    const Numbers products = numbers(tt::matmul(x, y.expand(s)));
    CHECK(products == each_place(s, [&](const Places& at) {
            Places left = at, right = at;
            double sum = 0;
            for (int k = 0; k < 2; ++k) {
              left.back() = right[right.size() - 2] = k;
              sum += element(a, s, left) * element(b, row, right);
            }
            return sum;
          }));
  }
}

TEST_CASE("programs of 7 to 16 axes have the same bits eager, captured, and in their gradients") {
  for (int rank = 7; rank <= 16; rank += 3) {
    CAPTURE(rank);
    Tensor x = counted(twos(rank)).requires_grad_(), y = counted(twos(rank, 0x5555 & ((1u << (rank - 2)) - 1)));
    auto compiled = tt::compile([](const Tensor& a, const Tensor& b) { return mixed(a, b); }, {.tier = 0});
    const Tensor want = mixed(x, y), got = compiled(x, y);
    CHECK(same_bits(want, got));
    (want * want).sum().backward();
    const Tensor gradient = x.grad().clone();
    x.grad().zero_();
    (got * got).sum().backward();
    CHECK(same_bits(gradient, x.grad()));
    CHECK(compiled.captures() == 1);
  }
}

TEST_CASE("graphs of many axes that cannot be made fewer: static programs and tiles have the bits of the reference") {
  for (int rank = 6; rank <= 16; rank += is_sanitized ? 5 : 1) {
    check_tiles<turned_and_summed>(rank);
    check_tiles<products>(rank);
    if (rank <= 12) check_tiles<cut>(rank);
  }
  check_static<Model<turned_and_summed, 9>, Isa>();
  check_static<Model<turned_and_summed, 16>, Isa>();
  check_static<Model<products, 13>, Isa>();
  check_static<Model<cut, 10>, Isa>();
}

TEST_CASE("Arrays of 16 axes") {
  using A = tt::Array<float, 2, 2, 2, 2, 2, 1, 1, 2, 2, 1, 1, 2, 1, 1, 2, 3>;
  using Row = tt::Array<float, 1, 2, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 3>;
  const Tensor x = counted(A().shape()), y = counted(Row().shape());
  const auto f = [](auto a, auto b) { return tt::sum<1, 3, 7>(tt::permute<0, 3, 2, 1, 4, 5, 6, 8, 7, 9, 10, 11, 12, 13, 14, 15>(a) * b + 1); };
  const Tensor want = (x.permute({0, 3, 2, 1, 4, 5, 6, 8, 7, 9, 10, 11, 12, 13, 14, 15}) * y + 1).sum({1, 3, 7});
  const auto r = tt::fuse(f)(tt::to_array<A>(x), tt::to_array<Row>(y));
  CHECK(r.shape() == want.shape());
  CHECK(Numbers(r.begin(), r.end()) == numbers(want));
}

TEST_CASE("Tensors of 16 axes are saved, loaded and printed") {
  const Tensor x = counted(twos(16));
  tt::save("test_rank.npz", x);
  Tensor y;
  tt::load("test_rank.npz", y);
  CHECK(same_bits(x, y));
  std::remove("test_rank.npz");
  const std::string text = tt::to_string(tt::ones(twos(16, 0xfffe))).c_str();
  CHECK(contains(text, "[[[[[[[[[[[[[[[[1."));
  CHECK(contains(text, "1.]]]]]]]]]]]]]]]]"));
}

TEST_CASE("17 axes are too many, and the message says so") {
  const Tensor x = tt::zeros(twos(16, 0xffff));
  CHECK(contains(message([&] { x.unsqueeze(0); }), "would have rank 17, at most is 16."));
  IntList many;
  for (int k = 0; k < 17; ++k) many.push_back(1);
  CHECK(contains(message([&] { x.reshape(many); }), "tt::reshape: rank is too high: 17, at most is 16."));
  CHECK(contains(message([&] { tt::zeros(many); }), "rank is too high: 17, at most is 16."));
  CHECK(contains(message([&] { x.expand(many); }), "tt::expand"));
  CHECK(contains(message([&] { tt::stack({x, x}); }), "would have rank 17, at most is 16."));
}

TEST_CASE("lists of sizes have any length") {
  IntList list;
  for (int k = 0; k < 100; ++k) list.push_back(k);
  CHECK(list.size() == 100);
  CHECK(list.value(99) == 99);
  const Tensor x = tt::ones(twos(16, 0xfffc));
  IntList pads;
  for (int k = 0; k < 32; ++k) pads.push_back(k >= 28);
  CHECK(shape(tt::pad(x, pads)) == "(4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)");
}

TEST_CASE("extents of many axes are counted without overflow") {
  CHECK(contains(message([] { tt::empty({512, 512, 512, 512, 512, 512, 512, 512}); }), "too many elements"));
}
