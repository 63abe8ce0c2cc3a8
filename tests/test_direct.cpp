// Calls of one op without a graph (dispatch/direct_call_inl.hpp): operands that lie in rows, repeated, apart, at the end of memory, in place, on threads; and
// calls that stay calls in the programs of eager ops.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include <doctest/doctest.h>

#include <atomic>

#include "sanitizers.hpp"
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
  constexpr int sizes[] = {1, 2, 3, 5, 17, 32, 41, 64, 128, 129, 143, 200, 257};
  for (;;) {
    IntList s;
    std::int64_t n = 1;
    for (int rank = 1 + below(4), k = 0; k < rank; ++k) {
      s.push_back(sizes[below(13)]);
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
    const Tensor square = filled({7, 7, columns}, DType::f32);
    Tensor d = square.clone();
    d.add_(d.transpose(0, 1));  // the same memory, lying otherwise
    CHECK(same_bits(d, square + square.transpose(0, 1).clone()));
    Tensor e = x.clone();
    e.sub_(e.slice(0, 0, 1).expand({37, columns}));
    CHECK(same_bits(e, x - whole(x.slice(0, 0, 1).clone(), {37, columns})));
    Tensor c = x.clone();
    c.sub_(c[3]);  // a row of itself
    CHECK(same_bits(c, x - whole(x[3].clone(), {37, columns})));
  }
}

TEST_CASE("a few long rows are shared by threads along their columns") {
  const int threads = tt::get_num_threads();
  for (const IntList& shape : {IntList{2, 150'001}, IntList{1, 300'011}, IntList{300'011}, IntList{300, 1'033}}) {
    const Tensor x = filled(shape, DType::f32), row = filled({shape[shape.size() - 1]}, DType::f32), number = filled({1}, DType::f32);
    tt::set_num_threads(1);
    const Tensor a = x + row, b = x * number;
    tt::set_num_threads(3);
    CHECK(same_bits(x + row, a));
    CHECK(same_bits(x * number, b));
    Tensor c = x.clone();
    c.add_(row);
    CHECK(same_bits(c, a));
  }
  tt::set_num_threads(threads);
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

TEST_CASE("cdist's operands: floats, of equal widths") {
  CHECK(message([] { tt::cdist(tt::ones({30, 4}, DType::i8), tt::ones({5, 4}, DType::i8)); }).starts_with("tt::cdist: dtype is not accepted: i8."));
  CHECK(message([] { tt::cdist(tt::ones({30, 4}), tt::ones({5, 5})); }).starts_with("tt::cdist: "));
  CHECK(message([] { tt::cdist(tt::ones({3, 1}), tt::ones({5, 5})); }).starts_with("tt::cdist: "));
}

TEST_CASE("one_hot, index_fill, cross, histc and randint where little is left to take for granted") {
  CHECK(numbers(tt::one_hot(tt::tensor({2, 0}))) == Numbers{0, 0, 1, 1, 0, 0});
  CHECK(shape(tt::one_hot(tt::zeros({0, 2}, DType::i64), 3)) == "(0, 2, 3)");
  CHECK(message([] { tt::one_hot(tt::tensor({-3, 2})); }).starts_with("tt::one_hot: label -3 is none of 3 classes, 0 and on."));
  CHECK(message([] { tt::one_hot(tt::tensor({0, 7}), 7); }).starts_with("tt::one_hot: label 7 is none of 7 classes, 0 and on."));
  const auto compiled = tt::compile([](const Tensor& x) { return tt::one_hot(x, 4); });
  CHECK(same_bits(compiled(tt::tensor({3, 0, 1})), tt::one_hot(tt::tensor({3, 0, 1}), 4)));

  const Tensor x = tt::arange(12, {.dtype = DType::f32}).reshape({3, 4}), places = tt::tensor({1, -1, 1});
  Tensor expected = x.clone();
  for (int column : {1, 3}) expected.slice(1, column, column + 1).copy_(tt::full({3, 1}, -7.0));
  CHECK(same_bits(tt::index_fill(x, 1, places, tt::tensor(-7.0)), expected));
  CHECK(same_bits(tt::index_fill(x, -1, tt::zeros({0}, DType::i64), tt::tensor(-7.0)), x));
  CHECK(message([&] { tt::index_fill(x, 1, tt::tensor({-5}), tt::tensor(0.0)); }).starts_with("tt::index_fill: index -5 is out of range"));
  const Tensor filling = tt::tensor(2.0, DType::f32).requires_grad_(true), taped = x.clone().requires_grad_(true);
  const Tensor by_tape = tt::index_fill(taped, 1, places, filling);
  CHECK(same_bits(by_tape, tt::index_fill(x, 1, places, tt::tensor(2.0))));
  by_tape.sum().backward();
  CHECK(filling.grad().item() == 6);  // a place that is named twice is one
  CHECK(taped.grad().sum().item() == 6);

  const Tensor a = tt::randn({2, 3, 5}), b = tt::randn({2, 3, 5});
  const auto part = [](const Tensor& t, int k) { return t.select(1, k); };
  const Tensor product = tt::cross(a, b, 1);
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    CHECK(same_bits(part(product, k), part(a, i) * part(b, j) - part(a, j) * part(b, i)));
  }
  CHECK(shape(tt::cross(tt::zeros({0, 3}), tt::zeros({0, 3}))) == "(0, 3)");

  CHECK(numbers(tt::histc(tt::tensor({0.0, 0.25, 0.5, 1.0, 5.0, -3.0}), 4, 0, 1)) == Numbers{1, 1, 1, 1});
  CHECK(numbers(tt::histc(tt::tensor({2.0, 2.0}), 3)) == Numbers{0, 2, 0});
  CHECK(numbers(tt::histc(tt::zeros({0}), 2)) == Numbers{0, 0});
  CHECK(message([] { tt::histc(tt::tensor({1.0, std::numeric_limits<double>::quiet_NaN()}), 3); }).starts_with("tt::histc: "));

  const std::int64_t far = std::int64_t{1} << 60;
  const Tensor drawn = tt::randint(far, far + 3, {1000});
  CHECK(drawn.min().item<std::int64_t>() == far);
  CHECK(drawn.max().item<std::int64_t>() == far + 2);
}

TEST_CASE("kernels of the host give the same bits on one thread and on three") {
  const int threads = tt::get_num_threads();
  const Tensor x = tt::randn({300, 1'000}), p = tt::rand({300, 1'000}) + 0.5, j = tt::randint(1, 500, {300, 1'000}), places = tt::randint(0, 1'000, {300, 1'000}), rows = tt::randint(0, 300, {300, 1'000}),
               some = tt::randint(0, 300, {700}), images = tt::randn({6, 50, 100, 9}), few = tt::randint(0, 100, {300});
  const auto all = [&] {
    std::vector<Tensor> r;
    for (const int dim : {0, 1}) {
      for (const Tensor& t : {tt::cumsum(x, dim), tt::cumprod(p, dim), tt::logcumsumexp(x, dim), tt::prod(p, dim), tt::cummax(x, dim).values, tt::median(x, dim).values, tt::mode(j, dim).values,
                              tt::kthvalue(x, 7, dim).indices, tt::gather(x, dim, dim ? places : rows), tt::scatter(x, dim, dim ? places : rows, p), tt::scatter_add(x, dim, dim ? places : rows, p),
                              tt::index_select(x, dim, dim ? places[0] : some), tt::sort(x, dim, true).indices, tt::topk(x, 5, dim).values, tt::cat({x, p, x.slice(dim, 0, 7)}, dim), tt::stack({x, p}, dim),
                              tt::pad(x, {3, 1, 2, 0}, 0.5)})
        r.push_back(t);
    }
    r.push_back(tt::index_select(images, 2, few));
    r.push_back(tt::searchsorted(tt::sort(x[0]).values, x));
    r.push_back(tt::gcd(j, places + 1));
    r.push_back(tt::take(x, places * 299));
    r.push_back(tt::take(x, -places - 1));
    r.push_back(tt::full({300, 1'001}, 2.5));
    Tensor written = x.clone();
    written.slice(1, 1, 1'000, 2).copy_(p.slice(1, 0, 500));
    written.slice(0, 100, 250).slice(1, 20, 900).copy_(p.slice(0, 0, 150).slice(1, 0, 880));
    r.push_back(written);
    r.push_back(tt::call("scatter_reduce", {x, 1, places, p, "amax"}));
    return r;
  };
  tt::set_num_threads(1);
  const std::vector<Tensor> alone = all();
  tt::set_num_threads(3);
  const std::vector<Tensor> shared = all();
  CHECK_THROWS_AS((void)tt::take(x, places + 300'000), tt::Error);
  for (std::size_t k = 0; k < alone.size(); ++k) {
    CAPTURE(k);
    CHECK(same_bits(alone[k], shared[k]));
  }
  tt::set_num_threads(threads);
}

TEST_CASE("threads share one long row, and combine its blocks in their order") {
  struct Restore {
    int threads = tt::get_num_threads();
    ~Restore() { tt::set_num_threads(threads); }
  } restore;
  const auto results = [](const Tensor& x, const Tensor& y) {
    const Tensor part = x.slice(0, 1, x.size(0), 2), f = x.to(tt::DType::f64);
    return std::vector<Tensor>{x.sum(), x.mean(), x.var(), x.amax(), x.amin(), x.softmax(0), x.log_softmax(0), tt::mse_loss(x, y), tt::linalg::vector_norm(x), tt::linalg::vector_norm(x, 3), tt::logsumexp(x, {0}),
                               tt::layer_norm(x, {x.size(0)}), part.sum(), f.sum(), f.to(tt::DType::i64).sum(), (x > 0).any(), (x * y).sum(), tt::cosine_similarity(x, y, 0), x.to(tt::DType::bf16).sum(),
                               tt::nansum(tt::where(x > 1, __builtin_nan(""), x))};
  };
  for (const std::int64_t n : {65536, 65537, 100003, 131072 + 4097, 300000}) {
    tt::manual_seed(static_cast<std::uint64_t>(n));
    const Tensor x = tt::randn({n}), y = tt::randn({n});
    tt::set_num_threads(1);
    const std::vector<Tensor> alone = results(x, y);
    for (const int threads : {2, 3, 7}) {
      tt::set_num_threads(threads);
      const std::vector<Tensor> shared = results(x, y);
      for (std::size_t k = 0; k < alone.size(); ++k) {
        INFO(n << " elements, " << threads << " threads, result " << k);
        CHECK(same_bits(shared[k], alone[k]));
      }
    }
  }
}

namespace {
using Strides = std::vector<std::int64_t>;
Strides strides(const Tensor& t) {
  Strides s;
  for (int d = 0; d < t.dim(); ++d) s.push_back(t.stride(d));
  return s;
}
}  // namespace
TEST_CASE("elementwise results lie as their operands do") {
  const Tensor x = tt::arange(24).to(DType::f32).reshape({2, 3, 4}), a = tt::arange(12).to(DType::f32).reshape({3, 4}), b = tt::arange(12).to(DType::f32).reshape({4, 3});
  // What PyTorch 2.15 gives.
  CHECK(strides(a.t() * 2) == Strides{1, 4});
  CHECK(strides(1 - a.t()) == Strides{1, 4});
  CHECK(strides(a.t() + b) == Strides{1, 4});
  CHECK(strides(b + a.t()) == Strides{3, 1});
  CHECK(strides(a.t() + tt::ones({3})) == Strides{1, 4});
  CHECK(strides(tt::ones({3}) + a.t()) == Strides{1, 4});
  CHECK(strides(tt::ones({4, 1}) + a.t()) == Strides{1, 4});
  CHECK(strides(x.permute({2, 0, 1}).exp()) == Strides{1, 12, 4});
  CHECK(strides(x.permute({1, 0, 2}) + 1) == Strides{4, 12, 1});
  CHECK(strides(x.permute({2, 1, 0}).slice(0, 0, 4, 2).slice(1, 1, 3) + 1) == Strides{1, 2, 4});
  CHECK(strides(a.t().unsqueeze(0).expand({5, 4, 3}) + 0) == Strides{12, 1, 4});
  CHECK(strides(tt::ones({3, 1}).expand({3, 4}).t() * 2) == Strides{3, 1});
  CHECK(strides(tt::ones({3, 1, 2}).permute({2, 1, 0}) * 2) == Strides{1, 2, 2});
  CHECK(strides(tt::ones({2, 2, 2}).permute({0, 2, 1}) + tt::ones({2, 2, 2})) == Strides{4, 1, 2});
  CHECK(strides(tt::gelu(a.t())) == Strides{1, 4});
  CHECK(strides(tt::call("leaky_relu", {a.t(), 0.1})) == Strides{1, 4});
  CHECK(strides(tt::clamp(a.t(), 1, 2)) == Strides{1, 4});
  CHECK(strides(a.t() < b) == Strides{1, 4});
  CHECK(strides(a.t().to(DType::f16)) == Strides{1, 4});
  CHECK(strides(a.t().to(DType::f16) + 1) == Strides{1, 4});
  CHECK(strides(tt::where(a.t() > 3, b, a.t())) == Strides{1, 4});
  CHECK(strides(tt::call("lerp", {a.t(), b, 0.5})) == Strides{1, 4});
  CHECK(strides(tt::call("addcmul", {b, a.t(), b})) == Strides{3, 1});
  CHECK(strides(tt::call("isnan", {a.t()})) == Strides{1, 4});
  CHECK(strides(tt::call_results("frexp", {a.t()})[1]) == Strides{1, 4});
  CHECK(strides(tt::call("masked_fill", {a.t(), b > 3, 0.})) == Strides{3, 1});
  CHECK(strides(tt::softmax(a.t(), 0)) == Strides{3, 1});
  CHECK(strides(tt::call("prelu", {a.t(), tt::ones({3})})) == Strides{3, 1});  // PyTorch: {1, 4}
  CHECK(strides(a.t().cumsum(0)) == Strides{3, 1});
  CHECK(strides(a.to(tt::Device("meta")).t() * 2) == Strides{1, 4});
  CHECK((a.t() + b).t().is_contiguous());

  // Not elementwise, though nothing is left to reduce or to move.
  CHECK(same_bits(x.permute({2, 1, 0}).unsqueeze(-1).sum({-1}, true).contiguous(), x.permute({2, 1, 0}).contiguous().unsqueeze(-1)));
  CHECK(same_bits(x.permute({2, 1, 0}).unsqueeze(1).flip({1}).contiguous(), x.permute({2, 1, 0}).contiguous().unsqueeze(1)));
  CHECK(same_bits(tt::matmul(a.slice(1, 0, 1), b.slice(1, 0, 1).t()).contiguous(), tt::matmul(a.slice(1, 0, 1).contiguous(), b.slice(1, 0, 1).t().contiguous())));

}
TEST_CASE("elements are those of dense operands, whatever the operands' order") {
  constexpr int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const auto in_order = [](const Tensor& t, const int (&o)[3]) {  // as it is, lying in that order of axes
    int back[3];
    for (int k = 0; k < 3; ++k) back[o[k]] = k;
    return t.permute({o[0], o[1], o[2]}).contiguous().permute({back[0], back[1], back[2]});
  };
  for (const DType d : {DType::f32, DType::f64, DType::bf16, DType::i32})
    for (const auto& first : orders)
      for (const auto& second : orders) {
        if (is_sanitized && (d != DType::f32 || &first == &second)) continue;
        const Tensor u = (tt::randn({5, 130, 3}) * 9).to(d), v = (tt::randn({5, 130, 3}) * 9).to(d), w = (tt::randn({130, 1}) * 9).to(d);
        const Tensor p = in_order(u, first), q = in_order(v, second);
        CHECK(same_bits((p + q).contiguous(), u + v));
        CHECK(strides(p + q) == strides(p));
        CHECK(same_bits((p * w).contiguous(), u * w));
        CHECK(same_bits((w - p).contiguous(), w - u));
        CHECK(same_bits(tt::where(p > q, p, 2 * q).contiguous(), tt::where(u > v, u, 2 * v)));
        if (tt::is_floating(d)) CHECK(same_bits(tt::gelu(p).contiguous(), tt::gelu(u)));
        Tensor to = in_order(u.clone(), second);
        const Strides lies = strides(to);
        to.add_(p);
        to.mul_(q);
        CHECK(strides(to) == lies);
        CHECK(same_bits(to.contiguous(), (u + u) * v));
        tt::call("sub", {p, q}, {{"out", to}});
        CHECK(strides(to) == lies);
        CHECK(same_bits(to.contiguous(), u - v));
      }
  // A result that has another shape is none, wherever operands lie; one without elements in other places keeps them.
  const Tensor p = tt::randn({3, 4}).t(), higher = tt::zeros({1, 3, 4}).transpose(1, 2), lower = tt::zeros({3});
  for (const Tensor& wrong : {higher, lower}) CHECK_THROWS_AS(tt::call("sub", {p, p}, {{"out", wrong}}), tt::Error);
  CHECK(higher.abs().sum().item() == 0);
  Tensor same_size = p * 2;
  tt::call("resize_", {same_size, tt::IntList{4, 3}});
  CHECK(same_bits(same_size, p * 2));
  Tensor target = tt::zeros({3, 4}).t();
  target.copy_(p);
  CHECK(same_bits(target.contiguous(), p.contiguous()));
  target.copy_(p.contiguous() * 3);
  CHECK(same_bits(target.contiguous(), p.contiguous() * 3));
  target.copy_(tt::arange(3).to(DType::f32));
  CHECK(same_bits(target.contiguous(), tt::arange(3).to(DType::f32).expand({4, 3}).contiguous()));
  Tensor turned = tt::arange(9).to(DType::f32).reshape({3, 3});
  turned.t().copy_(turned);  // what is read is what was there
  CHECK(same_bits(turned, tt::arange(9).to(DType::f32).reshape({3, 3}).t().contiguous()));
}
TEST_CASE("gradients, and what compiled functions give, lie as the elements of eager ones do") {
  const Tensor a = tt::arange(12).to(DType::f32).reshape({3, 4}), b = tt::arange(12).to(DType::f32).reshape({4, 3});
  const auto loss = [](const Tensor& r, const Tensor& s) { return ((r.t() * s).tanh() + r.t()).square().sum(); };
  Tensor r = tt::randn({7, 9}).requires_grad_(), s = tt::randn({7, 9}).t().requires_grad_();
  Tensor dense_r = r.detach().clone().requires_grad_(), dense_s = s.detach().clone().requires_grad_();
  loss(r, s).backward();
  ((dense_r.t().contiguous() * dense_s).tanh() + dense_r.t().contiguous()).square().sum().backward();
  CHECK(same_bits(r.grad().contiguous(), dense_r.grad().contiguous()));
  CHECK(same_bits(s.grad().contiguous(), dense_s.grad().contiguous()));
  CHECK(message([&] { a.t() + a; }).find("test_direct.cpp") != std::string::npos);

  // Compiled functions give what eager ones give: as one graph, with a graph break, and on the tape.
  const auto several = [](const Tensor& y, const Tensor& z) {
    Tensor added = y.t() + 1;
    added.add_(z);
    return std::vector<Tensor>{y.t() * 2 + z, (y + 1).t(), tt::gelu(y.t()), y.t().matmul(y), z.t().to(DType::f64), (y.t() + z).reshape({-1}), added, y.unsqueeze(0).permute({2, 0, 1}).exp()};
  };
  const auto broken = [&](const Tensor& y, const Tensor& z) {
    const Tensor sum = y.t() + z;
    return several(sum.sum().item() > 1e9 ? y : y * 2, sum);
  };
  const auto lies_alike = [](const auto& f, const auto& compiled, const Tensor& y, const Tensor& z) {
    const std::vector<Tensor> expected = f(y, z), got = compiled(y, z);
    for (std::size_t k = 0; k < got.size(); ++k) {
      CAPTURE(k);
      CHECK(same_bits(got[k].contiguous(), expected[k].contiguous()));
      CHECK(strides(got[k]) == strides(expected[k]));
    }
  };
  const auto one_graph = tt::compile(several);
  const auto with_breaks = tt::compile(tt::frozen(broken));
  for (const int n : {4, 6})
    for (const bool taped : {false, true})
      for (int turn = 0; turn < 2; ++turn) {  // the second time its kernels may be others
        const Tensor u = tt::randn({3, n}).requires_grad_(taped), v = tt::randn({n, 3});
        lies_alike(several, one_graph, u, v);
        lies_alike(broken, with_breaks, u, v);
        const Tensor ut = tt::randn({n, 3}).t().requires_grad_(taped), vt = tt::randn({3, n}).t();
        lies_alike(several, one_graph, ut, vt);
        lies_alike(broken, with_breaks, ut, vt);
        lies_alike(several, one_graph, u, vt);
      }
  const auto with_constant = [](const Tensor& y) { return y + tt::arange(6).to(DType::f32).reshape({2, 3}).t() * 2; };  // made by the function, and lies transposed
  CHECK(same_bits(tt::compile(with_constant)(b.slice(1, 0, 2).slice(0, 0, 3)).contiguous(), with_constant(b.slice(1, 0, 2).slice(0, 0, 3)).contiguous()));
  const auto rows = [](const Tensor& y) {
    return tt::scan([](const Tensor& sum, const Tensor& row) { return std::pair(sum + row.sum(), row.t() * 2); }, tt::tensor(0.0), y).second;
  };
  const Tensor batch = tt::randn({5, 3, 4});
  CHECK(same_bits(rows(batch).contiguous(), (batch.transpose(1, 2) * 2).contiguous()));
  CHECK(same_bits(tt::compile(rows)(batch).contiguous(), (batch.transpose(1, 2) * 2).contiguous()));
  const auto changes = [](const Tensor& y, const Tensor& z) {
    Tensor x = y;
    x.masked_fill_(x < 0, -1.0);
    return std::vector<Tensor>{x, x.matmul(z)};
  };
  const auto changing = tt::compile(changes);
  for (const bool apart : {false, true}) {  // an argument that lies otherwise, or whose elements lie apart
    const auto gradient = [&](const auto& f) {
      const Tensor whole = tt::randn({8, 3}, 1).requires_grad_();
      const Tensor argument = apart ? (whole * 1).slice(0, 0, 8, 2) : (whole.t() * 1);
      const std::vector<Tensor> given = f(argument, tt::randn({argument.size(1), 2}, 2));
      for (const Tensor& t : given) CHECK(t.requires_grad());
      (given[0].square().sum() + given[1].square().sum()).backward();
      return whole.grad();
    };
    CHECK(tt::allclose(gradient(changes), gradient(changing), 1e-5, 1e-5));
  }
  Tensor leaf = tt::randn({3, 4}).requires_grad_(), eager_leaf = leaf.detach().clone().requires_grad_();
  one_graph(leaf, b)[0].square().sum().backward();
  several(eager_leaf, b)[0].square().sum().backward();
  CHECK(same_bits(leaf.grad().contiguous(), eager_leaf.grad().contiguous()));
}

TEST_CASE("what lies in another order is computed as it lies, compiled too, and its gradients lie so") {
  using Tensors = std::vector<Tensor>;
  using F = Tensor (*)(const Tensors&);
  struct Case {
    F of;
    int kernels;
  };
  const Tensor image = tt::randn({2, 5, 6, 3}, 1).permute({0, 3, 1, 2}), channel = tt::randn({1, 3, 1, 1}, 2), matrix = tt::randn({6, 4}, 3).t(), dense = tt::randn({4, 6}, 4);
  for (const Case& c : {Case{[](const Tensors& t) { return tt::relu(t[0]); }, 1}, {[](const Tensors& t) { return t[0] * t[1] + t[1]; }, 1}, {[](const Tensors& t) { return tt::gelu(t[0]) * tt::sigmoid(t[0] + 1); }, 1},
                        {[](const Tensors& t) { return tt::atan(t[2]); }, 1}, {[](const Tensors& t) { return (t[2] - 1) * t[2].exp() + 2; }, 1}, {[](const Tensors& t) { return t[2] + t[3]; }, 2},
                        {[](const Tensors& t) { return tt::where(t[2] > 0, t[2], tt::arange(6).to(DType::f32)); }, 2}}) {
    const auto compiled = tt::compile(tt::frozen([of = c.of](const Tensors& t) { return of(t); }));
    for (const bool taped : {false, true}) {
      Tensors given;
      for (const Tensor& t : {image, channel, matrix, dense}) given.push_back(t.detach().requires_grad_(taped));
      const Tensor y = c.of(given), z = compiled(given);
      CHECK(same_bits(y.contiguous(), z.contiguous()));
      CHECK(strides(y) == strides(z));
      if (!taped) CHECK(compiled.kernels() == c.kernels);
    }
  }
  for (const F of : {F{[](const Tensors& t) { return t[0].tanh(); }}, F{[](const Tensors& t) { return t[0] * t[0].exp(); }}, F{[](const Tensors& t) { return tt::relu(t[0]) / (t[0] * t[0] + 1); }}})
    for (const Tensor& x : {image, matrix}) {
      const Tensor as_it_lies = x.detach().requires_grad_(), contiguous = x.contiguous().requires_grad_();
      for (const bool repeated : {false, true}) {  // the gradient that comes in
        const auto gradient = [&](const Tensor& of_which) {
          const Tensor y = of({of_which});
          return tt::grad(Tensors{repeated ? y.sum() : y}, Tensors{of_which}, Tensors{repeated ? tt::tensor(1.f) : tt::rand_like(y, 5).contiguous()})[0];
        };
        CHECK(same_bits(gradient(as_it_lies), gradient(contiguous)));
      }
    }
  const Tensor leaf = tt::rand({3, 4}).requires_grad_(), across = tt::rand({4, 3}).t();  // gradients that are seen are contiguous, as those of compiled functions
  Tensor product = leaf * 1;
  int seen = 0;
  product.register_hook([&](const Tensor& g) {
    seen += g.is_contiguous();
    return g;
  });
  (across * product).sum().backward();
  CHECK(seen == 1);
  CHECK(leaf.grad().is_contiguous());
  CHECK(same_bits(leaf.grad(), across.contiguous()));
  CHECK(tt::grad(Tensors{(across * leaf).sum()}, Tensors{leaf})[0].is_contiguous());
  const Tensor changed = (tt::rand({4, 3}).requires_grad_().t() * 1.0), square = changed * changed;
  changed.detach().add_(1.0);
  CHECK(message([&] { square.backward(tt::rand({4, 3}).t()); }).find("argument 0 of mul, f32 (3, 4), was changed in place") != std::string::npos);
  const Tensor whole = tt::randn({6, 4}, 6).requires_grad_(), seed = tt::randn({6, 4}, 7).t();
  const Tensor d = tt::grad(Tensors{(whole * 1).t()}, Tensors{whole}, Tensors{seed})[0];  // the caller's elements are not given out
  CHECK(same_bits(d, seed.t().contiguous()));
  CHECK(!d.shares_storage(seed));
}

TEST_CASE("views are laid out as their strides say") {
  // element by element, from where each lies
  const auto reference = [](const Tensor& t) {
    Tensor r = tt::zeros(t.shape(), {.dtype = t.dtype()});
    tt::with_dtype(t.dtype(), [&]<class T>(T) {
      const T* const from = static_cast<const T*>(t.data());
      T* const to = r.data_ptr<T>();
      for (std::int64_t k = 0; k < t.numel(); ++k) {
        std::int64_t rest = k, place = 0;
        for (int d = t.dim() - 1; d >= 0; --d) {
          place += rest % t.size(d) * t.stride(d);
          rest /= t.size(d);
        }
        to[k] = from[place];
      }
    });
    return r;
  };
  const int threads = tt::get_num_threads();
  tt::manual_seed(11);
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::u8, tt::DType::boolean}) {
    if (is_sanitized && d != tt::DType::f32 && d != tt::DType::u8) continue;
    const Tensor x = (tt::randn({6, 5, 4, 40}) * 50).to(d), wide = (tt::randn({300, 700}) * 50).to(d), square = (tt::randn({8, 16, 2, 2, 32, 32}) * 50).to(d);
    for (const Tensor& t : {x.permute({0, 2, 1, 3}), x.permute({3, 0, 1, 2}), x.permute({0, 1, 3, 2}), x.permute({2, 3, 0, 1}), x.slice(3, 1, 40, 3), x.slice(3, 0, 3), x.slice(1, 0, 5, 2), x.select(3, 7),
                            x.slice(2, 1, 3).slice(3, 5, 37), x[0].expand({7, 5, 4, 40}), x.select(3, 0).unsqueeze(-1).expand({6, 5, 4, 5}), wide.slice(1, 1, 699), wide.t(), wide.slice(0, 0, 300, 2), wide.t().slice(1, 0, 3),
                            wide.reshape({300, 1, 700}).expand({300, 4, 700}), square.permute({0, 1, 4, 2, 5, 3}), wide.unfold(1, 5, 3), wide.slice(1, 0, 0), wide.as_strided({20, 30, 4}, {7, 3, 100})}) {
      const Tensor want = reference(t);
      for (const int n : {1, 3}) {
        tt::set_num_threads(n);
        CHECK(same_bits(t.contiguous(), want));
        CHECK(same_bits(t.clone(), want));
      }
      tt::set_num_threads(threads);
    }
  }
}

TEST_CASE("an exception of one thread's part comes out when all have ended") {
  const int threads = tt::get_num_threads();
  tt::set_num_threads(3);
  for (int run = 0; run < 3; ++run) {
    std::atomic<std::int64_t> done{0};
    CHECK_THROWS_AS(tt::detail::in_ranges(1 << 20, 1, [&](std::int64_t begin, std::int64_t end) {
      if (begin > 0) throw tt::Error("a part");
      done += end - begin;
    }), tt::Error);
    CHECK(done > 0);
    CHECK(tt::ones({1 << 20}).sum().item() == 1 << 20);
  }
  tt::set_num_threads(threads);
}
