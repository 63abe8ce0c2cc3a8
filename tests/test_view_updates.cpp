// Changes in place where Tensors share elements, on the tape: views, bases and other views have the values and gradients of the same programs without changes in place;
// and 400 random programs of views and changes those that PyTorch 2 has (tests/data/view_programs.txt, made by record_view_programs.py).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor leaf(const tt::IntList& shape, int seed) { return tt::randn(shape, seed, {.dtype = DType::f64}).requires_grad_(); }
bool close(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && tt::allclose(a.detach(), b.detach(), 1e-10, 1e-12); }

TEST_CASE("rows written into a Tensor have their gradients") {
  const Tensor x = leaf({4, 3}, 1), w = leaf({3}, 2);
  Tensor out = tt::zeros({4, 3}, DType::f64);
  for (int k = 0; k < 4; ++k) out[k] = tt::tanh(x[k] * w);
  CHECK(out.requires_grad());
  const Tensor whole = tt::tanh(x * w);
  CHECK(close(out, whole));
  const std::vector<Tensor> got = tt::grad({(out * out).sum()}, {x, w}), want = tt::grad({(whole * whole).sum()}, {x, w});
  CHECK(close(got[0], want[0]));
  CHECK(close(got[1], want[1]));
}

TEST_CASE("a change of a view is seen by its base and by other views, with its history") {
  const Tensor x = leaf({3, 4}, 3);
  Tensor y = x * 2;
  Tensor column = y.select(1, 1), row = y[2], flat = y.view({12}), diagonal = y.slice(1, 0, 3).diagonal();
  const Tensor before = y * 1;  // of the old elements
  column *= 3;
  row.sigmoid_();
  const Tensor scale = tt::tensor({{2.0, 6.0, 2.0, 2.0}, {2.0, 6.0, 2.0, 2.0}}, DType::f64);
  const Tensor want = tt::cat({x.slice(0, 0, 2) * scale, tt::sigmoid(x[2] * tt::tensor({2.0, 6.0, 2.0, 2.0}, DType::f64)).unsqueeze(0)}, 0);
  for (const auto& [got, same] : std::vector<std::pair<Tensor, Tensor>>{{y, want}, {flat, want.view({12})}, {column, want.select(1, 1)}, {row, want[2]}, {diagonal, want.slice(1, 0, 3).diagonal()}, {before, x * 2}}) {
    CHECK(close(got, same));
    CHECK(got.requires_grad());
    CHECK(close(tt::grad({tt::sin(got).sum()}, {x}, {}, true)[0], tt::grad({tt::sin(same).sum()}, {x}, {}, true)[0]));
  }
  y.zero_();  // nothing of it is left
  CHECK(!y.requires_grad());
  CHECK(!row.requires_grad());
}

TEST_CASE("derivatives of any order, views of views, expanded views, aliases, and views that ended") {
  const Tensor x = leaf({2, 3}, 4);
  const auto f = [](const Tensor& v) {
    Tensor y = v * v;
    Tensor part = y.slice(1, 1, 3);
    part[1] *= v[0].slice(0, 0, 2);
    const Tensor wide = y.unsqueeze(0).expand({2, 2, 3});
    part += 1;
    return (wide * y).sum() + part.pow(3).sum();
  };
  const auto plain = [](const Tensor& v) {
    const Tensor y = v * v, corner = y.slice(0, 0, 1).slice(1, 1, 3), changed = y.slice(0, 1, 2).slice(1, 1, 3) * v.slice(0, 0, 1).slice(1, 0, 2);
    const Tensor part = tt::cat({corner, changed}, 0) + 1, all = tt::cat({y.slice(1, 0, 1), part}, 1);
    return (all * all).sum() * 2 + part.pow(3).sum();
  };
  CHECK(close(f(x), plain(x)));
  const Tensor first = tt::grad({f(x)}, {x}, {}, true, true)[0], want = tt::grad({plain(x)}, {x}, {}, true, true)[0];
  CHECK(close(first, want));
  CHECK(close(tt::grad({first.square().sum()}, {x})[0], tt::grad({want.square().sum()}, {x})[0]));
  CHECK(tt::gradcheck([&](const std::vector<Tensor>& t) { return f(t[0]); }, {x.detach().clone().requires_grad_()}));

  Tensor y = x * 2;
  const Tensor alias = y.detach();
  for (int k = 0; k < 100; ++k) (void)y[k % 2];
  y += 1;
  CHECK(!alias.requires_grad());
  CHECK(close(alias, y));
  Tensor kept;
  {
    Tensor base = x * 3;
    kept = base[0];
  }
  kept *= 2;  // whose base nobody else has
  kept.sum().backward();
  CHECK(x.grad().sum().item() == doctest::Approx(18));
}

TEST_CASE("a view of a leaf is changed under NoGrad only; threads take views of one Tensor") {
  Tensor x = leaf({2, 2}, 5);
  CHECK(message([&] { x[0] = 1; }).find("a view of a leaf that requires a gradient was changed in place") != std::string::npos);
  {
    const tt::NoGrad off;
    x[0] = 1;
  }
  CHECK(x[0][1].item() == 1);
  Tensor y = x * 2;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) (void)y[k % 2].unsqueeze(0);
    });
  for (std::thread& t : threads) t.join();
  y[1] *= 3;
  y.sum().backward();
  CHECK(close(x.grad(), tt::tensor({{2.0, 2.0}, {6.0, 6.0}}, DType::f64)));
}

TEST_CASE("what kernels give are Tensors of their own: a change of a part of them keeps the history of the rest") {
  const Tensor like = tt::rand({3, 4}, 1).to(DType::f64);
  int compared = 0;
  const auto check = [&](const auto& f) {
    Tensor x = like.clone().requires_grad_(), y = like.clone().requires_grad_();
    Tensor changed = f(x * 1);
    REQUIRE(changed.dim() > 0);
    changed.slice(0, 0, 1).fill_(3);
    const std::string error = message([&] { (changed * changed).sum().backward(); });
    if (contains(error, "was changed in place after it was saved")) return;  // as in PyTorch: its derivative reads the result
    REQUIRE(error == "no error");
    ++compared;
    Tensor kept = f(y * 1), rest = kept.slice(0, 1, kept.size(0));
    (rest * rest).sum().backward();
    CHECK(close(x.grad(), y.grad()));
  };
  check([](const Tensor& t) { return t.prod(1); });
  check([](const Tensor& t) { return t.prod(0); });
  check([](const Tensor& t) { return t.cumprod(0); });
  check([](const Tensor& t) { return t.sort(0).values; });
  check([](const Tensor& t) { return tt::kthvalue(t, 2, 1).values; });
  check([](const Tensor& t) { return t.median(1).values; });
  check([](const Tensor& t) { return tt::logcumsumexp(t, 1); });
  check([](const Tensor& t) { return tt::linalg::svdvals(t); });
  check([](const Tensor& t) { return tt::linalg::qr(t).Q; });
  check([](const Tensor& t) { return tt::linalg::qr(t).R; });
  check([](const Tensor& t) { return tt::linalg::inv(t.matmul(t.t())); });
  check([](const Tensor& t) { return tt::cummax(t, 0).values; });
  check([](const Tensor& t) { return t.unfold(0, 2, 1).clone(); });
  check([](const Tensor& t) { return tt::renorm(t, 2, 0, 0.5); });
  CHECK(compared >= 6);
}

TEST_CASE("what is written at indices is part of the Tensor's history, and what is not written keeps its own") {
  Tensor x = tt::rand({2, 3}, 1).to(DType::f64).requires_grad_(), v = tt::rand({2}, 2).to(DType::f64).requires_grad_();
  Tensor y = x * 2;
  y.index_put_({tt::tensor({1, 0}), tt::tensor({0, 2})}, v);
  (y * y).sum().backward();
  CHECK(close(x.grad(), x * 8 * tt::tensor({{1.0, 1.0, 0.0}, {0.0, 1.0, 1.0}}, DType::f64)));
  CHECK(close(v.grad(), v * 2));
  x.zero_grad();
  Tensor z = x * 2;
  z.index_put_({tt::Slice(0, 1), x.detach()[0] < 2}, 5);  // the first row, all of it
  z.sum().backward();
  CHECK(close(x.grad(), tt::tensor({{0.0, 0.0, 0.0}, {2.0, 2.0, 2.0}}, DType::f64)));
}

TEST_CASE("numbers among Tensors of f64 keep their digits") {
  const Tensor x = tt::zeros({2}, DType::f64), on = tt::ones({2}, DType::boolean), at = tt::tensor({0});
  CHECK(tt::masked_fill(x, on, 0.3)[1].item<double>() == 0.3);
  CHECK(tt::call("masked_fill", {x, on, 0.3})[1].item<double>() == 0.3);
  CHECK(tt::call("scatter", {x, 0, at, 0.9})[0].item<double>() == 0.9);
  Tensor y = x.clone();
  y.index_put_({0}, 0.7);
  CHECK(y[0].item<double>() == 0.7);
  CHECK(tt::masked_fill(x.to(DType::f32), on, 0.3).dtype() == DType::f32);
}

// ---- programs that PyTorch ran

class Reader {
 public:
  explicit Reader(const std::string& line) : in_(line) {}
  template <class T>
  bool next(T& value) { return static_cast<bool>(in_ >> value); }
  Tensor tensor(DType d) {
    int rank = 0;
    in_ >> rank;
    tt::IntList shape;
    for (int k = 0; k < rank; ++k) {
      std::int64_t n = 0;
      in_ >> n;
      shape.push_back(n);
    }
    Tensor t = tt::zeros(shape, DType::f64);
    std::string word;
    for (std::int64_t k = 0; k < t.numel(); ++k) {
      in_ >> word;
      t.data_ptr<double>()[k] = std::strtod(word.c_str(), nullptr);
    }
    return t.to(d);
  }

 private:
  std::istringstream in_;
};
std::string difference(const Tensor& got, const Tensor& want) {
  if (!(got.shape() == want.shape())) return "shape";
  const Tensor a = got.detach().to(DType::f64).contiguous();
  for (std::int64_t k = 0; k < want.numel(); ++k) {
    const double x = a.data_ptr<double>()[k], y = want.data_ptr<double>()[k];
    if (!(x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 1e-6 * (1 + std::fabs(y)))) return "value";
  }
  return "";
}
/// Lines of a program: what is made or called ("op NAME VARIABLE IN-PLACE ; arguments"), then the values of all floating variables and the gradients of the first two.
using Lines = std::vector<std::string>;
std::vector<Tensor> made_by(const Lines& lines) {
  std::vector<Tensor> given;
  for (const std::string& line : lines) {
    Reader in(line);
    std::string word;
    in.next(word);
    if (word == "leaf") {
      int on = 0;
      in.next(on);
      given.push_back(in.tensor(DType::f64).requires_grad_(on != 0));
    } else if (word == "mask" || word == "index") {
      given.push_back(in.tensor(word == "mask" ? DType::boolean : DType::i64));
    }
  }
  return given;
}
/// Calls the operators; the sum of the sines of all floating variables.
Tensor run(const Lines& lines, const std::vector<Tensor>& given, std::vector<Tensor>& variables) {
  std::size_t next = 0;
  for (const std::string& line : lines) {
    Reader in(line);
    std::string word, name;
    in.next(word);
    if (word == "leaf" || word == "mask" || word == "index") variables.push_back(given[next++]);
    if (word != "op") continue;
    int first = 0, in_place = 0;
    in.next(name);
    in.next(first);
    in.next(in_place);
    in.next(word);
    std::vector<tt::BoxedValue> arguments{variables[static_cast<std::size_t>(first)]};
    while (in.next(word)) {
      std::int64_t n = 0;
      double real = 0;
      if (word == "F") {
        in.next(real);
        arguments.push_back(real);
        continue;
      }
      in.next(n);
      if (word == "T") arguments.push_back(variables[static_cast<std::size_t>(n)]);
      else if (word == "I") arguments.push_back(n);
      else {
        tt::IntList list;
        for (std::int64_t k = 0, v = 0; k < n && in.next(v); ++k) list.push_back(v);
        arguments.push_back(list);
      }
    }
    const std::vector<Tensor> result = tt::call_results(name.c_str(), arguments);
    if (!in_place) variables.push_back(result[0]);
  }
  Tensor total = tt::zeros({}, DType::f64);
  for (const Tensor& t : variables)
    if (t.dtype() == DType::f64) total = total + tt::sin(t).sum();
  return total;
}
std::string against_recorded(const Lines& lines) {
  std::vector<std::string> values, gradients;
  for (const std::string& line : lines) {
    if (line.starts_with("value ")) values.push_back(line.substr(6));
    if (line.starts_with("grad ")) gradients.push_back(line.substr(5));
  }
  std::vector<Tensor> variables;
  const Tensor total = run(lines, made_by(lines), variables);
  std::size_t k = 0;
  for (const Tensor& t : variables) {
    if (t.dtype() != DType::f64) continue;
    if (k >= values.size()) return "a variable too many";
    Reader in(values[k++]);
    if (const std::string d = difference(t, in.tensor(DType::f64)); !d.empty()) return d + " of variable " + std::to_string(k - 1);
  }
  if (total.requires_grad()) total.backward();
  for (std::size_t g = 0; g < gradients.size(); ++g) {
    const Tensor own = variables[g].grad();
    if (gradients[g] == "none") {
      if (own.defined() && own.abs().amax().item() != 0) return "a gradient where there is none";
      continue;
    }
    Reader in(gradients[g]);
    const Tensor want = in.tensor(DType::f64);
    if (const std::string d = difference(own.defined() ? own : tt::zeros_like(want), want); !d.empty()) return "gradient " + d;
  }
  return "";
}
/// Twice compiled and once eager. What a compiled part has saved and is changed behind it is an error, which says so.
std::string against_compiled(const Lines& lines) {
  const std::vector<Tensor> eager = made_by(lines);
  std::vector<Tensor> variables;
  const Tensor want = run(lines, eager, variables);
  if (want.requires_grad()) want.backward();
  const auto compiled = tt::compile(tt::frozen([lines](const std::vector<Tensor>& given) {
    std::vector<Tensor> v;
    return run(lines, given, v);
  }));
  for (int call = 0; call < 2; ++call) {
    const std::vector<Tensor> given = made_by(lines);
    const Tensor got = compiled(given);
    if (const std::string d = difference(got, want); !d.empty()) return "compiled: another " + d;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (const std::string d = difference(given[k], eager[k].to(DType::f64)); !d.empty()) return "compiled: another " + d + " of argument " + std::to_string(k);
    try {
      if (got.requires_grad()) got.backward();
    } catch (const tt::Error& e) {
      return contains(e.what(), "was changed in place after it was saved") ? "" : e.what();
    }
    const Tensor own = given[0].grad(), g = eager[0].grad();
    if (own.defined() && g.defined())
      if (const std::string d = difference(own, g); !d.empty()) return "compiled: another gradient";
  }
  return "";
}

/// As one graph, three times, with results and arguments of the bits of eager.
template <class F, class... A>
void check_whole(const char* name, const F& f, const A&... given) {
  CAPTURE(std::string(name));
  const auto compiled = tt::compile(f, {.name = name, .fullgraph = true});
  for (int call = 0; call < 3; ++call) {
    std::vector<Tensor> eager{given.clone()...}, own{given.clone()...};
    const auto run = [](const auto& g, std::vector<Tensor>& t) {
      if constexpr (sizeof...(A) == 1) return Tensor(g(t[0]));
      else return Tensor(g(t[0], t[1]));
    };
    const Tensor want = run(f, eager), got = run(compiled, own);
    CHECK(tt::equal(got, want));
    for (std::size_t k = 0; k < own.size(); ++k) CHECK(tt::equal(own[k], eager[k]));
  }
}
TEST_CASE("what is written through views is part of a captured graph") {
  const Tensor x = tt::randn({4, 6}, 1), y = tt::randn({6}, 2);
  check_whole("part", [](Tensor a) { a.slice(0, 1, 3).fill_(2); return a * 2; }, x);
  check_whole("row", [](Tensor a, const Tensor& b) { a[1] = b; a[2] += b; return a + 1; }, x, y);
  check_whole("kept row", [](Tensor a, const Tensor& b) { Tensor r = a[1]; r.mul_(b); const Tensor t = r * 2; r.add_(t); return a.sum(0) + r; }, x, y);
  check_whole("view of a view", [](Tensor a) { Tensor v = a.t().slice(0, 1, 4), w = v[1]; w.add_(1); v.mul_(3); return a + w.sum(); }, x);
  check_whole("base", [](Tensor a) { const Tensor v = a.t(), w = v[1]; a.mul_(2); return v + w; }, x);
  check_whole("steps", [](Tensor a) { a.slice(1, 0, 6, 2).mul_(2); a.slice(1, 1, 6, 4).fill_(7); a.slice(0, 3, 4, 3).fill_(1); return a.clone(); }, x);
  check_whole("diagonal", [](Tensor a) { tt::diagonal(a).fill_(0); tt::diagonal(a, 1).add_(3); return a.clone(); }, x);
  check_whole("reshape", [](Tensor a) { Tensor v = a.reshape({2, 2, 6}); v[1].fill_(3); return v.sum(); }, x);
  check_whole("a reshape that is a copy", [](Tensor a) { Tensor v = a.t().reshape({24}); a.fill_(3); v.slice(0, 0, 3).fill_(1); return v + a.sum(); }, x);
  check_whole("windows", [](Tensor a) { a.unfold(1, 2, 3).mul_(5); return a.sum(); }, x);
  check_whole("expansion", [](Tensor a, const Tensor& b) { b.expand({1, 6}).mul_(2); return a + b; }, x, y);
  check_whole("other elements", [](Tensor a) { a.view(DType::i32)[0].fill_(0); return a * 2; }, x);
  check_whole("detached", [](Tensor a) { a.detach()[0].fill_(0); return a * 2; }, x);
  check_whole("in common", [](Tensor a) { Tensor v = a.slice(0, 0, 2), w = a.slice(0, 1, 3); v.mul_(2); w.mul_(3); return v + w; }, x);
  check_whole("exchanged", [](Tensor a) { const Tensor t = a[0].clone(); a[0] = a[1]; a[1] = t; return a * 1; }, x);
  check_whole("shifted", [](Tensor a) { a.slice(1, 1, 6).copy_(a.slice(1, 0, 5)); return a * 1; }, x);
  check_whole("rows by rows", [](Tensor a) { for (int k = 1; k < 4; ++k) a[k] += a[k - 1] * 0.5; return a * 1; }, x);
  check_whole("given back", [](Tensor a) { const Tensor t = a * 1; Tensor r = t[1]; r.fill_(2); return r; }, x);
  check_whole("of an argument, given back", [](Tensor a) { Tensor r = a[1]; r.fill_(2); return r; }, x);
  check_whole("filled", [](const Tensor& a) { Tensor o = tt::zeros({a.size(0), a.size(1)}); for (int k = 0; k < 4; ++k) o[k] = a[k] * k; return o + o.t().sum(); }, x);
  check_whole("mask", [](const Tensor& a) { Tensor m = tt::ones({4, 6}), v = m.t(); m.slice(0, 1, 2).zero_(); v[0].fill_(3); return a * m + v.sum(); }, x);
  check_whole("read between parts", [](Tensor a, const Tensor& b) {
    a.slice(0, 2, 3).copy_(b);
    const Tensor seen = a.slice(0, 0, 3).sum(1);
    a[3] = b;
    a[0] = b * 0;
    a[1] = b;
    return seen;
  }, x, y);
  check_whole("read between parts of a local", [](const Tensor& a, const Tensor& b) {
    Tensor t = a * 1;
    t[2] = b;
    const Tensor seen = t.slice(0, 0, 3).sum(1);
    t[3] = b;
    t[0] = b * 0;
    t[1] = b;
    return seen + t.sum();
  }, x, y);
  check_whole("old rows", [](Tensor a, const Tensor& b) {
    const Tensor old = a[0] * 1;
    a[0] = b;
    a[1] = a[0] + a[2];
    a[2] = old;
    return a.sum(0) + old;
  }, x, y);
  check_whole("empty", [](Tensor a) { a.slice(0, 2, 2).fill_(1); a.slice(1, 6, 6, 2).fill_(1); return a * 1; }, x);

  static constexpr auto f = [](const Tensor& a, const Tensor& w) {
    Tensor h = a * w;
    h[0] = h[1] * 2;
    h.slice(1, 1, 4, 2).mul_(w[0]);
    const Tensor v = h.t();
    h.add_(1);
    return (v * v).sum();
  };
  check_whole("gradient inside", [](const Tensor& a, const Tensor& w) { return tt::grad([a](const Tensor& v) { return f(a, v); })(w); }, x, y);
  Tensor w = y.clone().requires_grad_(), v = y.clone().requires_grad_();
  f(x, w).backward();
  tt::compile(f, {.fullgraph = true})(x, v).backward();
  CHECK(tt::allclose(w.grad(), v.grad()));
  const auto repeated = [](const Tensor& a) { a.expand({3, 4, 6}).add_(1); return a; };
  const auto first_line = [](const std::string& said) { return said.substr(0, said.find('\n')); };
  CHECK(first_line(message([&] { (void)tt::compile(repeated)(x); })) == first_line(message([&] { (void)repeated(x); })));
}

TEST_CASE("a cache that is written to by slices keeps its memory, and nothing else of it is copied") {
  const auto step = tt::compile([](Tensor cache, const Tensor& row) {
    cache.slice(0, 2, 3).copy_(row);
    cache[5] += row;
    return cache.slice(0, 0, 4).sum(1);
  }, {.fullgraph = true});
  Tensor cache = tt::zeros({8, 16});
  for (int k = 0; k < 2; ++k) {
    const Tensor sums = step(cache, tt::ones({16}));
    CHECK(sums[2].item() == 16);
    CHECK(cache[5].sum().item() == 16 * (k + 1));
    CHECK(cache.sum().item() == 16 * (k + 2));
  }
  CHECK(step.kernels() == 4);  // rows, and the sums
}

TEST_CASE("random programs of views and changes in place mean what they mean in PyTorch, compiled too") {
  std::ifstream file("tests/data/view_programs.txt");
  std::vector<std::string> lines;
  int programs = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line != "end") {
      lines.push_back(line);
      continue;
    }
    ++programs;
    const std::int64_t allocated = tt::cpu_memory_stats().allocated;
    std::string what;
    try {
      what = against_recorded(lines);
      if (what.empty()) what = against_compiled(lines);
    } catch (const tt::Exception& e) {
      what = e.what();
    }
    std::string said = lines[0] + ": " + what + ":";
    for (const std::string& l : lines)
      if (l.starts_with("op ")) said += "\n  " + l;
    CHECK_MESSAGE(what.empty(), doctest::String(said.c_str()));
    CHECK_MESSAGE(tt::cpu_memory_stats().allocated <= allocated, doctest::String((lines[0] + " leaves Tensors that nobody frees").c_str()));
    lines.clear();
  }
  CHECK(programs == 400);
}

}  // namespace
