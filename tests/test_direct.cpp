// Calls of one op without a graph (dispatch/direct_call_inl.hpp): operands that lie in rows, repeated, apart, at the end of memory, in place, on threads; and
// calls that stay calls in the programs of eager ops.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include <doctest/doctest.h>

#include "tensors.hpp"

using tt::DType;
using tt::IntList;
using tt::Tensor;

namespace {

std::mt19937 random_engine(7);
int below(int n) { return static_cast<int>(random_engine() % static_cast<unsigned>(n)); }

/// The functions of eager ops that were made since: a call without a graph makes none.
struct MadeFunctions {
  int before = tt::function_stats().kept;
  int count() const { return tt::function_stats().kept - before; }
};

IntList random_shape() {
  constexpr int sizes[] = {1, 2, 3, 5, 17, 64, 128, 129, 143, 200, 257};
  for (;;) {
    IntList s;
    std::int64_t n = 1;
    for (int rank = 1 + below(4), k = 0; k < rank; ++k) {
      s.push_back(sizes[below(11)]);
      n *= s.value(k);
    }
    if (n <= 300'000) return s;
  }
}
Tensor filled(const IntList& shape, DType d) {
  const Tensor x = tt::randint(-50, 50, shape);
  return is_floating(d) ? (x.to(DType::f64) * 0.37).to(d) : x.to(d);
}
/// Something that is broadcast to a shape, and how it lies.
Tensor operand(const IntList& shape, DType d) {
  IntList own;
  const int dropped = below(4) == 0 ? below(shape.size()) : 0;
  for (int k = dropped; k < shape.size(); ++k) own.push_back(below(4) == 0 ? tt::Size(1) : shape[k]);
  if (below(8) == 0) own = IntList();
  const int last = own.size() - 1;
  switch (below(5)) {
    case 0:
      if (last < 1) break;
      return filled(own, d).transpose(last, last - 1).contiguous().transpose(last, last - 1);
    case 1: {  // a part of something larger
      if (last < 0) break;
      IntList larger = own;
      larger[last] = larger[last] + 3;
      return filled(larger, d).slice(last, 2, own[last] + 2);
    }
    case 2: {
      if (last < 0) break;
      IntList larger = own;
      larger[0] = larger[0] * 2;
      return filled(larger, d).slice(0, 0, larger[0], 2);
    }
    default: break;
  }
  return filled(own, d);
}
/// As a dense Tensor of the whole shape.
Tensor whole(const Tensor& x, const IntList& shape) { return x.expand(shape).clone().contiguous(); }

}  // namespace

TEST_CASE("operands in rows give the bits of dense ones, on one thread and on three") {
  struct Case {
    const char* name;
    int operands;
    bool integers;
  };
  constexpr Case cases[] = {{"add", 2, true}, {"sub", 2, true}, {"mul", 2, true}, {"lt", 2, true}, {"div", 2, false}, {"hypot", 2, false}, {"fmax", 2, true}, {"lerp", 3, false}, {"addcmul", 4, false}};
  constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i64, DType::i32};
  const int threads = tt::get_num_threads();
  int without_graph = 0, count = 0;
  for (int k = 0; k < 600; ++k) {
    const Case& c = cases[below(9)];
    const DType d = dtypes[below(c.integers ? 4 : 2)];
    const IntList to = random_shape();
    std::vector<tt::BoxedValue> rows, dense;
    Tensor all;  // which they have together
    for (int j = 0; j < c.operands; ++j) {
      const Tensor x = j == 3 ? filled({}, d) : operand(to, d);
      rows.push_back(x);
      all = all.defined() ? all + x : x;
    }
    for (const tt::BoxedValue& x : rows) dense.push_back(x.tensor().dim() == 0 ? x.tensor() : whole(x.tensor(), all.shape()));
    tt::set_num_threads(k % 2 ? 3 : 1);
    const MadeFunctions made;
    const Tensor got = tt::call_results(c.name, rows, {})[0];
    without_graph += made.count() == 0;
    ++count;
    const Tensor expected = tt::call_results(c.name, dense, {})[0];
    if (!same_bits(got, expected)) {
      std::string shapes;
      for (const tt::BoxedValue& x : rows) shapes += shape(x.tensor());
      FAIL("number " << k << ": " << c.name << shapes << " of " << tt::name(d));
    }
  }
  tt::set_num_threads(threads);
  CHECK(without_graph > count / 2);
}

TEST_CASE("a row in place keeps to itself") {
  for (int columns : {128, 129, 143, 300}) {
    const Tensor x = filled({37, columns}, DType::f32), row = filled({columns}, DType::f32), column = filled({37, 1}, DType::f32);
    Tensor a = x.clone(), b = x.clone();
    const void* const memory = a.data();
    a.add_(row);
    b.mul_(column);
    CHECK(a.data() == memory);
    CHECK(same_bits(a, x + whole(row, {37, columns})));
    CHECK(same_bits(b, x * whole(column, {37, columns})));
    Tensor c = x.clone();
    c.sub_(c[3]);  // a row of itself
    CHECK(same_bits(c, x - whole(x[3].clone(), {37, columns})));
  }
}

TEST_CASE("nothing is read or written beyond the memory of operands") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = 16 * page;
  auto* const memory = static_cast<std::byte*>(mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + bytes, page, PROT_NONE) == 0);
  for (int columns : {130, 143, 257}) {
    const std::int64_t n = 5 * columns;
    auto* const at = reinterpret_cast<float*>(memory + bytes) - n;
    for (std::int64_t k = 0; k < n; ++k) at[k] = static_cast<float>(k % 91);
    const Tensor x = tt::from_blob(at, {5, columns}), column = filled({5, 1}, DType::f32), row = filled({columns}, DType::f32);
    CHECK(same_bits(x + column, x.clone() + column));
    CHECK(same_bits(row * x, row * x.clone()));
    Tensor y = tt::from_blob(at, {5, columns});
    const Tensor expected = y.clone() - row;
    y.sub_(row);
    CHECK(same_bits(y, expected));
  }
  munmap(memory, bytes + page);
}

TEST_CASE("programs of eager ops call elementwise ops as one step, and compiled ones have their bodies") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (DType d : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const Tensor x = tt::tensor({1.5, -inf, nan, inf, -0.0, 3e4}).to(d), y = tt::tensor({2.0, 0.0, 1.0, -1.0, 1.0, -inf}).to(d);
    const auto same_compiled = [&](auto f) {
      const auto compiled = tt::compile(f);
      CHECK(same_bits(f(x, y), compiled(x, y)));
    };
    same_compiled([](const Tensor& a, const Tensor&) { return tt::nan_to_num(a); });
    same_compiled([](const Tensor& a, const Tensor&) { return tt::nan_to_num(a, 2, 7, -7); });
    same_compiled([](const Tensor& a, const Tensor&) { return tt::nansum(a); });
    same_compiled([](const Tensor& a, const Tensor& b) { return tt::smooth_l1_loss(tt::nan_to_num(a, 1, 5, -5), tt::nan_to_num(b, 1, 4, -4)); });
    if (d != DType::f16) same_compiled([](const Tensor& a, const Tensor& b) { return tt::nextafter(a, b); });
  }
}

TEST_CASE("euclidean distances of many rows are computed from products, unless it is said") {
  const Tensor x = tt::randn({40, 7}), y = tt::randn({30, 7});
  const Tensor exact = tt::cdist(x, y, 2, tt::EuclidDistance::donot_use_mm_for_euclid_dist), quick = tt::cdist(x, y);
  CHECK((exact - quick).abs().max().item() < 1e-4);
  CHECK(!same_bits(exact, quick));
  CHECK(same_bits(quick, tt::cdist(x, y, 2, tt::EuclidDistance::use_mm_for_euclid_dist)));
  CHECK(same_bits(tt::cdist(x.slice(0, 0, 25), y.slice(0, 0, 25)), exact.slice(0, 0, 25).slice(1, 0, 25)));
  CHECK(same_bits(tt::cdist(x, y, 1), tt::cdist(x, y, 1, tt::EuclidDistance::use_mm_for_euclid_dist)));  // other norms have no products
  CHECK(same_bits(tt::call("cdist", {x, y}, {{"compute_mode", "donot_use_mm_for_euclid_dist"}}), exact));
  const auto compiled = tt::compile([](const Tensor& a, const Tensor& b) { return tt::cdist(a, b); });
  CHECK(same_bits(compiled(x, y), quick));
  CHECK(same_bits(compiled(x.slice(0, 0, 9), y.slice(0, 0, 9)), exact.slice(0, 0, 9).slice(1, 0, 9)));
  const Tensor own = x.clone().requires_grad_(true);
  tt::cdist(own, own).sum().backward();  // the diagonal is about 0
  CHECK(own.grad().isfinite().all().item<bool>());
}
