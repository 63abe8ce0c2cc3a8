// Ops with kernels of their own inside captured graphs: one node each, called between fused programs, with the derivative that the
// tape has too. A program of such ops is one capture; no graph ends there.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"

namespace {

using tt::DType;
using tt::Tensor;

/// Rows in another order, and how far each went: two results, an option that is a size, a Tensor that may be left out.
struct Shuffle {
  struct Options {
    tt::SizeOption shifts = 1;
    double scale = 1;
  };
  struct Results {
    Tensor rows, moved;
  };
  struct Like {
    tt::Sym rows, moved;
  };
  static constexpr tt::OpInfo info{.name = "test_shuffle", .arguments = "input, bias?"};
  static Like like(const tt::Sym& x, const tt::Sym&, const Options&) {
    return {x, {x.graph, x.graph->constant(DType::i64, 0, tt::Shape{x.shape()[0]})}};
  }
  static inline int calls = 0;
  static void kernel(tt::Call& c, const Options& o) {
    const Tensor* bias = c.optional(1);
    if (bias && bias->dim() != 1) TT_THROW(tt::Error(tt::Text("tt::test_shuffle: the bias is no vector: ") << bias->shape() << "." << c.at));
    c.result[0] = tt::empty_like(c[0].contiguous());
    c.result[1] = tt::empty({c[0].size(0)}, {DType::i64, c[0].device()});
    if (c[0].is_meta()) return;
    ++calls;
    const Tensor x = bias ? c[0] * o.scale + *bias : c[0] * o.scale;
    const std::int64_t n = x.size(0), k = ((o.shifts.value % n) + n) % n;
    c.result[0] = tt::cat({x.slice(0, n - k, n), x.slice(0, 0, n - k)}, 0);
    c.result[1] = tt::full({n}, static_cast<double>(k), {DType::i64});
  }
  static void derivative(const auto& s, const Options& o) {
    if (!s.gradient[0].defined()) return;
    Options back = o;
    back.shifts.value = -o.shifts.value;
    back.shifts.extent = tt::Extent(0) - o.shifts.extent;
    s.out[0] = tt::call_with<Shuffle>(s.at, back, s.gradient[0])[0];
    if (s.arguments > 1) s.out[1] = tt::sum(s.gradient[0], tt::Axes(0));
  }
};
auto shuffle(const Tensor& x, const tt::SizeOption& shifts, double scale = 1, const Tensor& bias = {}, tt::SourceLine at = tt::here()) {
  return tt::call_with<Shuffle>(at, {shifts, scale}, x, bias);
}

const Tensor rows = tt::tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}, {9.0, 7.0, 8.0}, {-1.0, -3.0, -2.0}});
const Tensor places = tt::tensor({2, 0, 2, 3, 1}).to(DType::i64);

/// f with gradients of its arguments, eager and captured: the same bits, one graph.
template <class F>
void check_captured(const F& f, const std::vector<Tensor>& given) {
  for (const bool wait : {false, true}) {
    const auto c = tt::compile(f, {.tier = wait, .wait = wait, .fullgraph = true});
    std::vector<Tensor> x, y;
    for (const Tensor& t : given)
      for (std::vector<Tensor>* to : {&x, &y}) {
        to->push_back(t.clone());
        if (tt::is_floating(t.dtype())) to->back().requires_grad_();
      }
    const Tensor a = f(x), b = c(y);
    CHECK(same_bits(a, b));
    a.sum().backward();
    b.sum().backward();
    for (std::size_t k = 0; k < given.size(); ++k)
      if (tt::is_floating(given[k].dtype())) CHECK(same_bits(x[k].grad(), y[k].grad()));
    CHECK(c.captures() == 1);
  }
}

}  // namespace

TEST_CASE("index ops and embeddings are nodes of one graph, with gradients") {
  check_captured([](const std::vector<Tensor>& t) { return (tt::embedding(t[1], t[0] * 2) + 1).sum(1) * 3; }, {rows, places});
  check_captured([](const std::vector<Tensor>& t) { return tt::exp(t[0]).index_select(1, t[1]) * t[0].index_select(1, t[1]); }, {rows, tt::tensor({1, 1, 0}).to(DType::i64)});
  check_captured([](const std::vector<Tensor>& t) { return tt::gather(t[0] * t[0], 1, t[1]).sum(1); }, {rows, tt::tensor({{0, 0}, {2, 1}}).to(DType::i64)});
  check_captured([](const std::vector<Tensor>& t) { return tt::index_add(t[0] * 2, 0, t[1], tt::exp(t[2])) - 1; }, {rows, places, tt::rand({5, 3}, 1)});
  check_captured([](const std::vector<Tensor>& t) { return tt::scatter_add(t[0], 0, t[1], t[2] * 2); }, {rows, tt::tensor({{0, 3, 1}, {0, 2, 2}}).to(DType::i64), tt::rand({2, 3}, 2)});
  check_captured([](const std::vector<Tensor>& t) { return (t[0] + 1)[t[1]] * 2; }, {rows, tt::tensor({{-1, 0}, {2, -4}}).to(DType::i64)});
}

TEST_CASE("chains of calls: each reads what the one before made, alone or fused with more") {
  check_captured(
      [](const std::vector<Tensor>& t) {
        const Tensor a = t[0].index_select(0, t[1]), b = a.index_select(0, t[1]);  // nothing between them
        const Tensor c = (a * b).index_select(1, t[2]);
        return (c + b.index_select(1, t[2])) * a.index_select(1, t[2]);
      },
      {rows, tt::tensor({1, 3, 0, 2}).to(DType::i64), tt::tensor({0, 2}).to(DType::i64)});
}

TEST_CASE("results that are calls' own, inputs, and the same value twice") {
  const auto f = [](const Tensor& x, const Tensor& i) {
    const Tensor y = x.index_select(0, i);
    return std::vector<Tensor>{y, x, y, x + 1, i, y.index_select(0, i)};
  };
  const Tensor i = tt::tensor({3, 1, 1, 0}).to(DType::i64);
  const auto c = tt::compile(f, {.fullgraph = true});
  const std::vector<Tensor> a = f(rows, i), b = c(rows, i);
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(same_bits(a[k], b[k]));
  CHECK(b[1].is_same(rows));
}

TEST_CASE("an argument that changes in place is read by calls before it changes") {
  const auto f = [](Tensor& x, const Tensor& i) {
    const Tensor y = x.index_select(0, i);
    x.mul_(2);
    return y + x.index_select(0, i);
  };
  const Tensor i = tt::tensor({3, 1}).to(DType::i64);
  Tensor x = rows.clone(), y = rows.clone();
  const auto c = tt::compile(f);
  const Tensor a = f(x, i), b = c(y, i);
  CHECK(same_bits(a, b));
  CHECK(same_bits(x, y));
  CHECK(same_bits(y, rows * 2));
}

TEST_CASE("sizes are symbols: one capture for all of them") {
  const auto f = [](const Tensor& x, const Tensor& i) { return tt::embedding(i, x * 2).sum(-1) + x.size(0); };
  const auto c = tt::compile(f, {.tier = 0, .fullgraph = true});
  for (const std::int64_t n : {4, 5, 9, 17})
    for (const std::int64_t m : {3, 6, 8}) {
      const Tensor x = tt::rand({n, 7}, n), i = tt::arange(m).to(DType::i64);
      if (m <= n) CHECK(same_bits(c(x, i), f(x, i)));
    }
  CHECK(c.captures() == 1);
}

TEST_CASE("errors: of shapes at the line of the call, of elements when the kernel finds them") {
  const auto f = [](const Tensor& x, const Tensor& i) {
    return x.index_select(0, i) + 1; };
  const auto c = tt::compile(f, {.fullgraph = true});
  const Tensor wrong = tt::tensor({0.5, 1.0}), out = tt::tensor({1, 7}).to(DType::i64);
  CHECK(message([&] { c(rows, wrong); }) == message([&] { f(rows, wrong); }));
  CHECK(message([&] { c(rows, out); }) == message([&] { f(rows, out); }));
  CHECK(message([&] { c(rows, out); }).starts_with("tt::index_select: index 7 is out of range for axis 0 of shape (4, 3)."));
  const auto caught = tt::compile([](const Tensor& x, const Tensor& i) {
    try {
      return x.index_select(2, i);
    } catch (const tt::Error&) {
      return x * 2;
    }
  });
  CHECK(same_bits(caught(rows, places), rows * 2));
}

TEST_CASE("a node of one's own: two results, a size, a Tensor that may be left out") {
  const auto plain = [](const std::vector<Tensor>& t) {
    const auto [a, moved] = shuffle(t[0] * 2, t[0].size(0) - 1, 0.5);
    const auto [b, again] = shuffle(tt::exp(a), 1, 1, t[1]);
    return b * 3 + (moved + again).unsqueeze(1);
  };
  check_captured(plain, {rows, tt::tensor({1.0, 2.0, 3.0})});
  const auto c = tt::compile(plain, {.tier = 0, .fullgraph = true});
  for (const std::int64_t n : {4, 6, 9}) {
    const Tensor x = tt::rand({n, 3}, 5), w = tt::rand({3}, 6);
    CHECK(same_bits(c(std::vector{x, w}), plain({x, w})));
  }
  CHECK(c.captures() == 1);

  const int before = Shuffle::calls;
  const auto twice = tt::compile([](const Tensor& x) { return shuffle(x, 1)[0] + shuffle(x, 1)[0] + shuffle(x, 1)[1].unsqueeze(1); }, {.fullgraph = true});
  (void)twice(rows);
  CHECK(Shuffle::calls == before + 1);  // equal calls are one
  const auto dead = tt::compile([](const Tensor& x) { (void)shuffle(x, 2); return x + 1; }, {.fullgraph = true});
  (void)dead(rows);
  CHECK(Shuffle::calls == before + 1);  // nobody reads it
}

TEST_CASE("its node is found, printed and read back, and its graph is legal") {
  const auto f = [](const Tensor& x, const Tensor& w) { return shuffle(x * 2, x.size(0), 0.5, w)[0] + tt::gather(x, 1, tt::zeros({x.size(0), 1}, {DType::i64})); };
  const auto t = tt::trace(f, rows, tt::ones({3}));
  const tt::Vec<int> found = tt::find_all(t.graph, tt::op_def<Shuffle>);
  REQUIRE(found.size() == 1);
  CHECK(tt::node_options<Shuffle>(t.graph, found[0]).scale == 0.5);
  const std::string text(t.to_string());
  CHECK(text.find(", %1) shifts s0 scale 0.5") != std::string::npos);
  CHECK(text.find("gather(") != std::string::npos);
  CHECK(tt::parse(text) == t.graph);
  CHECK((tt::check)(t.graph));
  CHECK(same_bits(t(rows, tt::ones({3})), f(rows, tt::ones({3}))));
  CHECK(message([&] { (void)tt::compile_plan(t.graph); }).starts_with("tt::compile_plan: "));
}

namespace {
/// Says something else than it gives.
struct Liar {
  static constexpr tt::OpInfo info{.name = "test_liar", .arguments = "input"};
  static tt::Sym like(const tt::Sym& x) { return x; }
  static void kernel(tt::Call& c, const tt::NoOptions&) { c.result[0] = c[0].sum(0); }
};
}  // namespace
TEST_CASE("a kernel that gives something else than its struct says is an error") {
  const auto c = tt::compile([](const Tensor& x) { return tt::call_with<Liar>(tt::here(), {}, x) + 1; });
  CHECK(message([&] { c(rows); }).starts_with("tt::test_liar: its kernel gives f32 (3,), and `like` says f32 (4, 3)."));
}

TEST_CASE("the backend of single ops runs a call once") {
  const int before = Shuffle::calls;
  const auto c = tt::compile([](const Tensor& x) { const auto [a, moved] = shuffle(x, 1); return a + moved.unsqueeze(1); }, {.backend = "eager"});
  const auto [a, moved] = shuffle(rows, 1);
  CHECK(same_bits(c(rows), a + moved.unsqueeze(1)));
  CHECK(Shuffle::calls == before + 2);
}

TEST_CASE("explain says where a kernel of its own is called") {
  const auto c = tt::compile([](const Tensor& x, const Tensor& i) { return tt::exp(x).index_add(0, i, x.index_select(0, i)) + 1; }, {.name = "chosen"});
  (void)c(rows, places);
  const std::string said(c.explain());
  CHECK(said.find("call of index_add") != std::string::npos);
  CHECK(said.find("break") == std::string::npos);
}

TEST_CASE("second derivatives go through them") {
  const auto f = [](const Tensor& x, const Tensor& i) { return (tt::exp(x).index_select(0, i) * x.index_select(0, i)).sum(); };
  const auto second = [&](const auto& g) {
    Tensor x = rows.clone().requires_grad_();
    const Tensor first = tt::grad({g(x, places)}, {x}, {}, true, true)[0];
    return tt::grad({(first * first).sum()}, {x})[0];
  };
  const auto c = tt::compile(f, {.fullgraph = true});
  const Tensor a = second(f), b = second(c);  // one sums the uses of saved values first, the other of the variable: three terms, 2 ulp
  CHECK(tt::amax(tt::abs(a - b) - tt::abs(a) * 2.4e-7).item<float>() <= 0);
}

TEST_CASE("gradients taken inside of the function") {
  const auto f = [](const Tensor& x, const Tensor& i) {
    return tt::grad([](const Tensor& w, const Tensor& at) { return (tt::embedding(at, w) * tt::embedding(at, tt::exp(w))).sum(); })(x, i);
  };
  const auto c = tt::compile(f, {.fullgraph = true});
  CHECK(same_bits(c(rows, places), f(rows, places)));
  CHECK(c.captures() == 1);
}

namespace {
/// Writes down that it was called, with a number and a sum of elements; gives its argument.
struct Note {
  struct Options {
    int number = 0;
  };
  static constexpr tt::OpInfo info{.name = "test_note", .effect = true, .arguments = "input, .number"};
  static inline std::vector<std::pair<int, double>> written;
  static tt::Sym like(const tt::Sym& x, const Options&) { return x; }
  static void kernel(tt::Call& c, const Options& o) {
    c.result[0] = tt::empty_like(c[0]);
    if (c[0].is_meta()) return;
    c.result[0] = c[0].clone();
    written.push_back({o.number, c[0].sum().item()});
  }
  static void derivative(const auto& s, const Options&) { s.out[0] = s.gradient[0]; }
};
Tensor note(const Tensor& x, int number, tt::SourceLine at = tt::here()) { return tt::call_with<Note>(at, {number}, x); }
using Written = std::vector<std::pair<int, double>>;
template <class F, class... A>
Written written_by(const F& f, const A&... a) {
  Note::written.clear();
  f(a...);
  return Note::written;
}
}  // namespace

TEST_CASE("calls with an effect are neither merged nor left out, and keep their order") {
  const auto g = [](const Tensor& x) {
    note(x, 1);
    const Tensor y = note(shuffle(x, 1)[0] * 2, 2);  // can be called after the shuffle only
    note(x + 1, 3);                                                  // could be called before it
    const Tensor z = note(x, 4);
    return y + z;
  };
  for (const int size : {3, 5}) {
    const Tensor x = tt::arange(size).to(DType::f32);
    const auto check = [&](const auto& plain, const char* name) {
      INFO(name);
      const auto compiled = tt::compile(plain, {.tier = 0, .fullgraph = true});
      const Written want = written_by(plain, x);
      for (int k = 0; k < 2; ++k) CHECK(written_by(compiled, x) == want);
      CHECK(same_bits(compiled(x), plain(x)));
    };
    check([](const Tensor& v) { return note(v, 7), note(v, 7), v * 2; }, "equal and unread");
    check(g, "in order");
    check([](const Tensor& v) { return note(v, 1) + note(v, 1); }, "read");
  }
  // where the graph ends, in bodies, with gradients
  const Tensor x = tt::arange(4).to(DType::f32);
  const auto breaks = [](const Tensor& v) { return note(v, 1), v.sum().item() > 2 ? (note(v * 2, 2), v) : v * 3; };
  CHECK(written_by(tt::compile(breaks, {.tier = 0}), x) == Written{{1, 6}, {2, 12}});
  const auto bodies = [](const Tensor& v) { return tt::cond(v.sum() > 2, [](const Tensor& t) { return note(t, 1) * 2; }, [](const Tensor& t) { return note(t, 2); }, v); };
  CHECK(written_by(tt::compile(bodies, {.tier = 0}), x) == Written{{1, 6}});
  const auto step = tt::compile([](const Tensor& v) { return tt::grad([](const Tensor& u) { return (note(u, 1) * u).sum(); })(v); }, {.tier = 0});
  CHECK(written_by(step, x) == Written{{1, 6}});
  CHECK(same_bits(step(x), 2 * x));
}

TEST_CASE("a value that a call reads, and that an argument becomes") {  // which is written behind all calls
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    y.add_(1);
    return tt::cumsum(y.reshape({-1}), 0) * 2;
  };
  const auto compiled = tt::compile(f, {.tier = 0, .fullgraph = true});
  for (const int size : {2, 3}) {
    const Tensor a = tt::randn({size, 3}), b = a.clone();
    CHECK(same_bits(compiled(a), f(b)));
    CHECK(same_bits(a, b));
  }
}
