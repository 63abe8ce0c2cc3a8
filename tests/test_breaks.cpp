// Graph breaks of tt::compile: functions that look at elements give the bits of eager, their segments are
// compiled once, and every break is listed with its line.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "sanitizers.hpp"
#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor uniform(const tt::IntList& shape, int seed, DType d = DType::f32) {
  return tt::rand(shape, seed, {.dtype = d}) * 2 - 1;
}
std::string text(const tt::Text& t) { return t; }
Tensor copy(const Tensor& t) {
  Tensor c = t.detach().clone();
  if (t.requires_grad()) c.requires_grad_();
  return c;
}

/// Compiled and eager, on clones, give and leave the same bits, and the same gradients of the first result.
template <class F, class... A>
auto check_same(const char* name, const F& f, const A&... a) {
  CAPTURE(std::string(name));
  const auto compiled = tt::compile(f, {.name = name});
  for (int round = 0; round < 3; ++round) {
    const auto fresh = [](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) return copy(x);
      else return x;
    };
    std::tuple eager_arguments{fresh(a)...}, arguments{fresh(a)...};
    auto expected = std::apply(f, eager_arguments);
    auto got = std::apply(compiled, arguments);
    std::vector<Tensor> one, other;
    const auto collect = [](auto& x, std::vector<Tensor>& to) { tt::jit::each_leaf(x, [&](Tensor& t) { to.push_back(t); }); };
    collect(expected, one);
    collect(got, other);
    if (!one.empty() && one[0].requires_grad()) {
      REQUIRE(other[0].requires_grad());
      one[0].sum().backward();
      other[0].sum().backward();
    }
    std::vector<Tensor> left, right;
    collect(eager_arguments, left);
    collect(arguments, right);
    for (std::size_t k = 0; k < left.size(); ++k) {
      one.push_back(left[k]);
      other.push_back(right[k]);
      if (!left[k].is_leaf() || !left[k].grad().defined()) continue;
      REQUIRE(right[k].grad().defined());
      one.push_back(left[k].grad());
      other.push_back(right[k].grad());
    }
    REQUIRE(one.size() == other.size());
    for (std::size_t k = 0; k < one.size(); ++k) {
      CAPTURE(k);
      CHECK(one[k].requires_grad() == other[k].requires_grad());
      CHECK(same_bits(one[k], other[k]));
    }
  }
  return compiled;
}

template <class Kind>
struct Net {
  tt::leaf<Kind, float, 4, 3> w;
  tt::leaf<Kind, float, 3> b;
};

}  // namespace

TEST_CASE("elements may be asked for anywhere, and the bits are those of eager") {
  const Tensor x = uniform({4, 3}, 1), y = uniform({4, 3}, 2), small = x * 0.001;
  const auto item = [](Tensor a, Tensor b) {
    const Tensor s = (a * b).sum();
    const Tensor t = s.item() > 0 ? a * 2 + b : a - b * 3;
    return t * s + t.mean().item();
  };
  check_same("item", item, x, x);
  check_same("item, the other way", item, x, y);
  check_same("branch", [](Tensor a) {
    if ((a.abs().sum() > 1)) return a / a.abs().sum();
    return a * 1;
  }, x);
  check_same("branch not taken", [](Tensor a) {
    if ((a.abs().sum() > 1)) return a / a.abs().sum();
    return a * 1;
  }, small);
  check_same("loop", [](Tensor a) {
    int n = 0;
    for (Tensor s = a.abs().sum(); s.item() > 0.1; s = s * 0.5) {
      a = a + s;
      ++n;
    }
    return std::pair{a, n};
  }, x);
  check_same("is_nonzero", [](Tensor a) { return a.amax(0).sum().is_nonzero() ? a.exp() : a; }, x);
  check_same("elements", [](Tensor a) {
    Tensor b = a.exp() + 1;
    float sum = 0;
    for (float v : b.elements<float>()) sum += v;
    return b * sum;
  }, x);
  check_same("data_ptr", [](Tensor a) {
    Tensor b = a.exp() + 1;
    b.data_ptr<float>()[0] = 7;
    return b * 2;
  }, x);
  check_same("data", [](Tensor a) {
    Tensor b = a.exp() + 1;
    static_cast<float*>(b.data())[1] = 7;
    return b * 2;
  }, x);
  check_same("print", [](Tensor a) {
    const std::string s = tt::to_string(a * 2);
    return std::pair{a * static_cast<double>(s.size()), static_cast<int>(s.size())};
  }, x);
  check_same("to_array", [](Tensor a) {
    const auto array = tt::to_array<tt::Array<float, 4, 3>>(a + 1);
    return a * array(0, 1);
  }, x);
  check_same("an argument's element", [](Tensor a, Tensor b) { return a * b[0][1].item(); }, x, y);
  check_same("not", [](Tensor a) { return !(a.sum() > 100) ? a * 2 : a; }, x);
  check_same("and", [](Tensor a) { return ((a.sum() > -100) && (a.sum() < 100)) ? a * 2 : a; }, x);
}

TEST_CASE("an assignment to a view is captured as copy_ is") {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 2;
    y[0] = 5;
    y.slice(0, 1, 3) = y.slice(0, 0, 1) + x.slice(0, 1, 3);
    return y + 1;
  };
  const auto g = [](const Tensor& x) {
    Tensor y = x * 2;
    y[0].copy_(tt::full({}, 5.0));
    y.slice(0, 1, 3).copy_(y.slice(0, 0, 1) + x.slice(0, 1, 3));
    return y + 1;
  };
  const auto by_name = tt::compile(g, {.name = "f"});
  const auto assigned = tt::compile(f, {.name = "f"});
  for (int k = 0; k < 2; ++k) {
    const Tensor x = tt::arange(3).to(tt::DType::f32) + k;
    CHECK(numbers(assigned(x)) == numbers(f(x)));
    CHECK(numbers(by_name(x)) == numbers(f(x)));
  }
  const auto first_line = [](const auto& run) {
    const std::string said = message(run);
    return said.substr(0, said.find('\n'));
  };
  const auto whole_by_name = tt::compile(g, {.name = "f", .fullgraph = true});
  const auto whole = tt::compile(f, {.name = "f", .fullgraph = true});
  const Tensor x = tt::ones({3});
  CHECK(first_line([&] { (void)whole(x); }) == first_line([&] { (void)whole_by_name(x); }));
}

TEST_CASE("a view that looks like its base sees what is changed in place") {
  const Tensor x = uniform({2, 3}, 7);
  check_same("reshape", [](const Tensor& a) {
    Tensor y = a * 2;
    const Tensor v = y.reshape({2, 3});
    y.add_(1);
    return v * 3;
  }, x);
  check_same("expand", [](const Tensor& a) {
    Tensor y = a * 2;
    const Tensor v = y.expand({2, 3});
    y.add_(1);
    return v * 3;
  }, x);
  check_same("of an argument", [](Tensor& a) {
    const Tensor v = a.reshape({2, 3});
    a.add_(1);
    return v * 3;
  }, x);
  static Tensor held = tt::ones({2, 2});
  const auto f = [](const Tensor& a) {
    const Tensor v = held.t();
    held.add_(a);
    return v * 2;
  };
  const auto compiled = tt::compile(tt::frozen(f));
  const Tensor a = uniform({2, 2}, 8);
  for (int k = 0; k < 3; ++k) {
    held.fill_(1);
    const Tensor expected = f(a), left = held.clone();
    held.fill_(1);
    CHECK(same_bits(compiled(a), expected));
    CHECK(same_bits(held, left));
  }
}

TEST_CASE("Tensors with equal elements are changed one by one, whatever views the other has") {
  const auto twice = [](const Tensor& a) {
    const Tensor x = a * 2;
    Tensor z = a * 2;
    const Tensor v = x.t();
    z.add_(1);
    return v + z.t();
  };
  const auto copied = [](const Tensor& a) {
    Tensor x = a * 2, z = a * 3;
    const Tensor v = x.t();
    z.copy_(x);
    z.add_(1);
    const Tensor w = z.t();
    return v + w;
  };
  const Tensor x = uniform({2, 3}, 9);
  CHECK(same_bits(tt::compile(twice, {.fullgraph = true})(x), twice(x)));
  CHECK(same_bits(tt::compile(copied, {.fullgraph = true})(x), copied(x)));
}

TEST_CASE("views, sizes and factories between breaks") {
  const Tensor x = uniform({4, 3}, 1);
  check_same("views", [](Tensor a) {
    const Tensor t = (a * 2).t(), row = a[1], part = a.slice(0, 1, 3);
    const double s = t.sum().item();
    return std::tuple{t.contiguous() * s, row + part, t, part.reshape({3, 2}), t.reshape({4, 3})};
  }, x);
  check_same("strides", [](Tensor a) {
    const Tensor t = (a + 1).t();
    const bool dense = t.is_contiguous();
    const Tensor c = t.contiguous();
    const float first = c.elements<float>()[1];
    return std::pair{c * first, dense};
  }, x);
  check_same("a view that is written through after a break", [](Tensor a) {
    Tensor b = a * 2;
    const Tensor v = b[1];
    (void)v.sum().item();
    b += 1;
    return std::pair{v * 1, b};
  }, x);
  check_same("a view changed in place", [](Tensor a) {
    Tensor b = a * 2;
    Tensor v = b.slice(0, 0, 2);
    v += 1;
    return b * 3;
  }, x);
  check_same("an argument's view changed in place", [](Tensor a) {
    Tensor v = a[2];
    v.mul_(5.0);
    a += 1;
    return v + a.sum();
  }, x);
  check_same("fresh ones", [](Tensor a) {
    Tensor sum = tt::zeros({3}) ;
    for (int k = 0; k < 4; ++k) {
      sum += a[k];
      if (sum[0].item() > 1000) return sum;
    }
    return sum + tt::arange(3) + tt::eye(3)[0] + tt::tensor({1.0, 2.0, 3.0}) + tt::rand({3}, 5);
  }, x);
  check_same("a fill changed in place", [](Tensor a) {
    Tensor z = tt::zeros({4, 3});
    z.slice(0, 0, 2).fill_(1);
    return a + z;
  }, x);
  check_same("sizes as numbers", [](Tensor a) { return a.reshape({a.size(0) / 2, -1}) * a.sum().item(); }, x);
}

// Captured again and again, as if the view were another Tensor of the caller's at each time.
TEST_CASE("a view by strides of what the function makes is no Tensor from outside") {
  const Tensor x = uniform({2, 3}, 1);
  const auto f = [](const Tensor& t) { return t + (tt::zeros({12}) + 0.5).as_strided({2, 3}, {1, 4}, 1); };
  const auto compiled = tt::compile(tt::frozen(f));
  for (int call = 0; call < 2; ++call) {
    CHECK(same_bits(compiled(x), f(x)));
  }
}
TEST_CASE("parameters are updated in place across breaks") {
  const Tensor w = uniform({5}, 1), x = uniform({5}, 2);
  check_same("before and after", [](Tensor& a, Tensor b) {
    a += b;
    const double s = a.sum().item();
    a *= s;
    const Tensor old = a * 1;
    a -= b;
    return old + a;
  }, w, x);
  check_same("assigned", [](Tensor& a, Tensor b) {
    a = a - 0.1 * b;
    const double s = a.sum().item();
    a = a * s;
    return a;
  }, w, x);
  check_same("swapped", [](Tensor& a, Tensor& b) {
    (void)a.sum().item();
    const Tensor old = a;
    a = b;
    b = old;
    return a - b;
  }, w, x);
  check_same("swapped by copies", [](Tensor& a, Tensor& b) {
    (void)(a + b).sum().item();
    const Tensor old = a * 1;
    a.copy_(b);
    b.copy_(old);
    return a - b;
  }, w, x);
  check_same("fill_ and copy_", [](Tensor& a, Tensor& b) {
    b.copy_(a * 2);
    const double s = b.sum().item();
    a.fill_(s);
    return b + a;
  }, w, x);
  const auto assign = tt::compile([](Tensor& a, const Tensor& b) { a = a - b * b.sum().item(); });
  Tensor p = w.clone();
  const Tensor handle = p;
  assign(p, x);
  CHECK(p.is_same(handle));
  CHECK(same_bits(p, w - x * x.sum().item()));
  const auto both = tt::compile([](Tensor& a, const Tensor& b) {
    a += 1;
    const double s = (a + b).sum().item();
    return b * s;
  });
  Tensor one = tt::ones({3});
  CHECK(numbers(both(one, one)) == Numbers{24, 24, 24});
  Tensor whole = tt::ones({4}), front = whole.slice(0, 0, 3);
  CHECK(numbers(both(front, whole.slice(0, 1, 4))) == Numbers{22, 22, 11});  // 2 2 2 and 2 2 1
  Tensor two = tt::ones({2});
  const auto reads = tt::compile([](Tensor& a) {
    const Tensor before = a * 10;
    a += 1;
    const float now = a.elements<float>()[0];
    return before + now;
  });
  CHECK(numbers(reads(two)) == Numbers{12, 12});
  CHECK(numbers(two) == Numbers{2, 2});
  const auto grows = tt::compile([](Tensor& a) { a = a * a.sum().item() + tt::zeros({2, 1}); });
  const Tensor before = two;
  grows(two);
  CHECK(numbers(two) == Numbers{8, 8, 8, 8});
  CHECK(numbers(before) == Numbers{2, 2});
}

TEST_CASE("a gradient is read before a backward pass adds to it") {
  const auto f = [](const Tensor& loss, const Tensor& x) {
    const Tensor y = x.grad() * 2;
    loss.backward();
    return y;
  };
  for (const bool compiled : {false, true}) {
    Tensor x = tt::ones({2}).requires_grad_();
    x.sum().backward();
    const Tensor loss = (x * 10).sum();
    CHECK(numbers(compiled ? tt::compile(tt::frozen(f))(loss, x) : f(loss, x)) == Numbers{2, 2});
    CHECK(numbers(x.grad()) == Numbers{11, 11});
  }
}

TEST_CASE("segments are part of the tape, and gradients have the bits of eager") {
  const Tensor x = uniform({4, 3}, 1).requires_grad_(), w = uniform({3, 5}, 2).requires_grad_(), c = uniform({4, 5}, 3);
  check_same("one break", [](Tensor a, Tensor b) {
    const Tensor h = tt::tanh(tt::matmul(a, b));
    return h.sum().item() > 0 ? h * 2 : tt::exp(h) * 3;
  }, x, w);
  check_same("a loop", [](Tensor a, Tensor b, Tensor) {
    Tensor h = tt::matmul(a, b);
    for (int k = 0; k < 3; ++k)
      h = h.abs().sum().item() > 1 ? tt::tanh(h) * 0.5 : tt::sin(h) + 1;
    return h;
  }, x, w, c);
  check_same("views", [](Tensor a) {
    const Tensor t = (a * 2).t();
    (void)t.sum().item();
    return t[0] * t[1] + a[2].sum();
  }, x);
  check_same("no_grad inside", [](Tensor a) {
    Tensor mean;
    {
      const tt::NoGrad off;
      mean = a.mean();
    }
    const double scale = mean.item();
    return (a - mean) * a * scale;
  }, x);
  check_same("detach", [](Tensor a) {
    const Tensor d = (a * 2).detach();
    (void)d.sum().item();
    return d * a;
  }, x);
  check_same("requires_grad asked", [](Tensor a, Tensor b) {
    const Tensor h = tt::matmul(a, b);
    (void)h.sum().item();
    return h.requires_grad() ? h * 2 : h * 3;
  }, x, w);
  check_same("a buffer", [](Tensor a, Tensor& count) {
    const Tensor y = a * count;
    const double s = y.sum().item();
    {
      const tt::NoGrad off;
      count += 1;
    }
    return a * s;
  }, x, tt::ones({3}));
  check_same("on the tape in place", [](Tensor a) {
    Tensor h = a * 2;
    h += a;
    (void)h.sum().item();
    h *= a;
    return h * 3;
  }, x);
  check_same("backward inside", [](Tensor& a, Tensor target) {
    const Tensor loss = ((a * 2 - target) * a).sum();
    loss.backward();
    {
      const tt::NoGrad off;
      a -= 0.1 * a.grad();
    }
    a.zero_grad();
    return loss.detach();
  }, x, c.slice(1, 0, 3).clone());
  check_same("grad inside", [](Tensor a) {
    const Tensor y = (a * a * a).sum();
    return tt::grad({y}, {a})[0] * 2;
  }, x);
  const auto f = tt::compile([](Tensor a) { return a.sum().item() > 0 ? a * a : a * a * a; });
  const auto on_list = [&](const std::vector<Tensor>& v) { return f(v[0]); };
  Tensor d = uniform({3}, 4, DType::f64).requires_grad_();
  CHECK(message([&] { tt::gradcheck(on_list, {d}); }) == "no error");
  CHECK(message([&] { tt::gradgradcheck(on_list, {d}); }) == "no error");
}

TEST_CASE("value_and_grad between breaks is part of a segment, and around a break it is taken from the tape") {
  const auto step = [](Net<tt::tensors>& net, const Tensor& x, const Tensor& y) {
    const auto loss = [](const auto& n, auto a, auto b) { return tt::mse_loss(tt::tanh(tt::matmul(a, n.w) + n.b), b); };
    auto [value, g] = tt::value_and_grad(loss)(net, x, y);
    if (value.item() < 5) {
      net.w = net.w - 0.1 * g.w;
      net.b = net.b - 0.1 * g.b;
    }
    return value;
  };
  Net<tt::tensors> eager{uniform({4, 3}, 1), uniform({3}, 2)}, net{eager.w.clone(), eager.b.clone()};
  const auto compiled = tt::compile(step, {.name = "step"});
  const Tensor x = uniform({8, 4}, 3), y = uniform({8, 3}, 4);
  for (int k = 0; k < 8; ++k) CHECK(same_bits(step(eager, x, y), compiled(net, x, y)));
  CHECK(same_bits(eager.w, net.w));
  CHECK(same_bits(eager.b, net.b));
  CHECK(compiled.segments() == 2);
  const auto inside = [](Tensor w, Tensor a) {
    const auto loss = [](auto v, auto b) {
      const Tensor s = tt::sum(v * b);
      return s.item() > 0 ? tt::sum(v * v * b) : tt::sum(tt::exp(v) * b);
    };
    const Tensor scaled = w * 2;
    auto [value, g] = tt::value_and_grad(loss)(scaled, a);
    return std::tuple{value * 2, g + scaled};
  };
  check_same("a break inside", inside, uniform({5}, 1), uniform({5}, 2));
  check_same("a break inside, on the tape", inside, uniform({5}, 1).requires_grad_(), uniform({5}, 2));
}

TEST_CASE("a segment is compiled once, for all sizes") {
  const auto f = tt::compile([](Tensor x, Tensor w) {
    const Tensor h = tt::matmul(x, w).reshape({x.size(0) * 5});
    return h.sum().item() > 0 ? h * 2 : h * 3;
  }, {.name = "sized"});
  const Tensor w = uniform({7, 5}, 1);
  for (std::int64_t n = 10; n < 42; ++n) {
    const Tensor x = uniform({n, 7}, static_cast<int>(n)), h = tt::matmul(x, w).reshape({n * 5});
    CHECK(same_bits(f(x, w), h.sum().item() > 0 ? h * 2 : h * 3));
  }
  CHECK(f.segments() == 3);
  CHECK(f.captures() == 1);
}

TEST_CASE("sizes and places that ops are given become symbols when they change") {
  const auto attend = [](const Tensor& cache, const Tensor& q, std::int64_t n) {  // a decode loop that looks at each step
    const Tensor keys = cache.slice(0, 0, n), s = tt::softmax(tt::matmul(keys, q), 0);
    return s.sum().item() < 0 ? s : tt::matmul(s.reshape({1, std::min<std::int64_t>(n, 400)}), keys) + static_cast<double>(n);
  };
  const auto f = tt::compile(attend, {.name = "attend", .tier = 0});
  const Tensor cache = uniform({400, 8}, 1), q = uniform({8}, 2);
  for (std::int64_t n = 1; n < 301; ++n) {
    const Tensor y = f(cache, q, n), expected = attend(cache, q, n);
    if (!same_bits(y, expected)) CHECK(n == -1);
  }
  CHECK(f.captures() == 8);
  CHECK(f.segments() <= 8);
  CHECK(f.fallbacks() == 0);
  CHECK(contains(text(f.explain()), "an op is given another size or place than before: it is a symbol from now on"));
  CHECK(same_bits(f(cache, q, 399), attend(cache, q, 399)));
  CHECK(same_bits(f(cache, q, 500), attend(cache, q, 500)));  // clamped: not what was taken for granted
  Tensor leaf = cache.clone().requires_grad_(), other = cache.clone().requires_grad_();
  for (std::int64_t n = 20; n < 24; ++n) {
    f(leaf, q, n).sum().backward();
    attend(other, q, n).sum().backward();
  }
  CHECK(same_bits(leaf.grad(), other.grad()));
}

TEST_CASE("numbers of any op become symbols, and are those of sizes that they equal") {
  const auto segments = [](const auto& f, const auto&... a) {
    const auto compiled = tt::compile(f, {.name = "many numbers", .tier = 0});
    for (std::int64_t n = 2; n < 40; ++n) CHECK(same_bits(compiled(a..., n), f(a..., n)));
    return compiled.segments();
  };
  static constexpr auto looked_at = [](const Tensor& y) { return y.sum().item() > 1e9 ? y : y + 1; };
  const Tensor x = uniform({64, 8}, 1), q = uniform({8}, 2);
  CHECK(segments([](const Tensor& a, const Tensor& b, std::int64_t n) { return looked_at(a.slice(0, 0, n) + b.expand({n, 8})); }, x, q) <= 6);
  CHECK(segments([](const Tensor& b, std::int64_t n) { return looked_at(b.expand({n, 8}) * 2); }, q) <= 6);
  CHECK(segments([](const Tensor& a, std::int64_t n) {  // behind a break, its result has n rows
    const Tensor y = a.slice(0, 0, n) * 2;
    return y.sum().item() > 1e9 ? y : looked_at(y + a.slice(0, 0, n));
  }, x) <= 10);
  const Tensor image = uniform({1, 1, 64, 8}, 3);  // a size that has to be even
  CHECK(segments([](const Tensor& a, std::int64_t n) {
    const Tensor y = a.slice(2, 0, n / 2 * 2), pooled = tt::max_pool2d(y, {.kernel_size = {2, 1}, .stride = {2, 1}});
    return looked_at(tt::cat({pooled, pooled}, 2) + y);
  }, image) <= 24);
}

TEST_CASE("a size of one behind a break is no other call's") {
  const auto f = tt::compile([](const Tensor& x) {
    const Tensor y = x * 2;
    return y.sum().item() > 1e9 ? y.reshape({1, -1}) : y.unfold(0, 2, 1) * 3;  // one window of two elements, at first
  }, {.name = "windows", .tier = 0});
  for (std::int64_t n = 2; n < 40; ++n) {
    const Tensor x = uniform({n}, static_cast<int>(n));
    CHECK(same_bits(f(x), (x * 2).unfold(0, 2, 1) * 3));
  }
  CHECK(f.segments() <= 4);
}

TEST_CASE("numbers that ops take as such stay numbers") {
  const auto turn = [](const Tensor& x, int shift, int axis) {
    const Tensor y = tt::cumsum(tt::roll(x, shift, axis), axis);
    return y.sum().item() > 1e9 ? y : y.sum(axis) * 2;
  };
  const auto f = tt::compile(turn, {.name = "turn", .tier = 0});
  const Tensor x = uniform({2, 5, 7, 3}, 1);
  for (int k = 0; k < 40; ++k) CHECK(same_bits(f(x, k % 9, k % 4), turn(x, k % 9, k % 4)));
  const auto none = tt::compile([](const Tensor& t, std::int64_t n) {
    const Tensor empty = t.slice(0, 0, 0);
    return empty.sum().item() > 0 ? t : empty.reshape({-1}).reshape({0, n}) * 2;
  });
  for (std::int64_t n = 2; n < 30; ++n) CHECK(none(x, n).shape() == tt::IntList{0, n});
}

TEST_CASE("numbers that change from call to call become inputs") {
  const auto f = tt::compile([](Tensor x) {
    const double s = x.sum().item();
    return x * s + 2.0;
  }, {.name = "scaled"});
  for (int k = 0; k < 10; ++k) {
    const Tensor x = uniform({5}, k);
    CHECK(same_bits(f(x), x * x.sum().item() + 2.0));
  }
  CHECK(f.segments() == 3);
  CHECK(contains(text(f.explain()), "a number is another one than before: it is an input from now on"));
}

TEST_CASE("only what is still in use is computed") {
  const auto f = tt::compile([](Tensor x) {
    double s = 0;
    Tensor kept;
    {
      const Tensor gone = x * 2, also_gone = gone + 1;
      kept = also_gone * gone;
      s = kept.sum().item();
    }
    return kept * s;
  });
  f(uniform({5}, 1));
  const std::string why = f.explain();
  INFO(why);
  CHECK(contains(why, "4 steps, 8 nodes, 1 kernels, 4 results"));  // alive at the break: gone, also_gone, kept, and its sum
  const auto g = tt::compile([](Tensor x) {
    const double s = ((x * 2 + 1) * x).sum().item();
    return x * s;
  });
  g(uniform({5}, 1));
  CHECK(contains(text(g.explain()), " 1 result, 0 changed in place"));
}

TEST_CASE("every break has its op and line, and how often it was met") {
  const auto f = tt::compile([](Tensor x) {
    const double s = x.sum().item();  // here
    if ((x.amax(0) > 2)) return x * s;  // and here
    return x;
  }, {.name = "broken"});
  const int line = __LINE__ - 4;
  f(uniform({5}, 1));
  f(uniform({5}, 2));
  const std::string why = f.explain();
  INFO(why);
  CHECK(contains(why, "broken: 1 capture\n"));
  CHECK(contains(why, "has graph breaks, recorded at each of 2 calls"));
  CHECK(contains(why, "item of f32 (), made by sum, 2 times   "));
  CHECK(contains(why, "test_breaks.cpp:" + std::to_string(line) + "\n"));
  CHECK(contains(why, "bool of bool (), made by lt, 2 times   "));
  CHECK(contains(why, "test_breaks.cpp:" + std::to_string(line + 1) + "\n"));
  CHECK(contains(why, "guards: f32 (s0,); gradients enabled"));
}

TEST_CASE("fullgraph makes a break an error") {
  const auto f = tt::compile([](Tensor x) { return x * x.sum().item(); }, {.name = "whole", .fullgraph = true});
  const int line = __LINE__ - 1;
  const std::string what = message([&] { f(tt::ones({2})); });
  INFO(what);
  CHECK(contains(what, "tt::compile: whole: a graph break, and fullgraph is set: item of f32 (), made by sum. Return it, and look at it outside?"));
  CHECK(contains(what, "test_breaks.cpp:" + std::to_string(line)));
  const auto g = tt::compile([](Tensor x) { return x * 2; }, {.fullgraph = true});
  CHECK(numbers(g(tt::ones({2}))) == Numbers{2, 2});
}

namespace {
Tensor outside = tt::tensor({1.0, 2.0});
Tensor kept;
}  // namespace

TEST_CASE("what is refused with graph breaks too") {
  const auto f = tt::compile([](Tensor x) { return x.sum().item() > 0 ? x + outside : x; });
  CHECK(contains(message([&] { f(tt::ones({2})); }), "tt::compile: a Tensor was met that is not an argument: f32 (2,)."));
  CHECK(numbers(f(-tt::ones({2}))) == Numbers{-1, -1});
  const auto reads = tt::compile([](Tensor x) { return x * outside[0].item(); });
  CHECK(contains(message([&] { reads(tt::ones({2})); }), "a Tensor was met that is not an argument"));
  const auto changes = tt::compile([](Tensor x) {
    outside += 1;
    return x;
  });
  CHECK(contains(message([&] { changes(tt::ones({2})); }), "a Tensor was met that is not an argument"));
  CHECK(numbers(outside) == Numbers{1, 2});
  const auto shapes = tt::compile([](Tensor x, Tensor y) { return x.sum().item() > 0 ? x + y : x; });
  CHECK(contains(message([&] { shapes(tt::ones({2}), tt::ones({3})); }), "(2,) and (3,)"));
  CHECK(contains(message([&] { shapes(tt::ones({2}), tt::ones({3})); }), "test_breaks.cpp:"));
}

TEST_CASE("each of hundreds of arguments is known as one, and what shares its elements; another Tensor is not") {
  std::vector<Tensor> v;
  for (int k = 0; k < 300; ++k) v.push_back(uniform({3}, k));
  static Tensor part = v[299].slice(0, 0, 3);
  static bool meets_other = false;
  const auto f = tt::compile([](const std::vector<Tensor>& all) {
    Tensor sum = all[0] * 1;
    for (std::size_t k = 1; k < all.size(); ++k) sum = sum + all[k];
    (void)sum.sum().item();
    return meets_other ? sum + outside.sum() : sum + part;
  });
  Tensor want = v[0] * 1;
  for (std::size_t k = 1; k < v.size(); ++k) want = want + v[k];
  CHECK(same_bits(f(v), want + part));
  meets_other = true;
  CHECK(contains(message([&] { f(v); }), "a Tensor was met that is not an argument"));
}

TEST_CASE("a function that throws after a break leaves everything usable") {
  const auto f = tt::compile([](Tensor& x, int how) {
    x += 1;
    const double s = x.sum().item();
    x += s;
    kept = x * 2;
    if (how == 1) throw 7;
    return x * 2;
  });
  Tensor x = tt::ones({2});
  CHECK_THROWS_AS(f(x, 1), int);
  CHECK(numbers(x) == Numbers{2, 2});  // what came before the break has happened
  CHECK(numbers(x + 1) == Numbers{3, 3});
  CHECK(contains(message([] { return kept + 1; }), "tt::compile: a recorded Tensor was used after the capture had ended."));
  CHECK(contains(message([] { return kept.sum().item(); }), "recorded"));
  CHECK(numbers(f(x, 0)) == Numbers{18, 18});
  CHECK(numbers(kept) == Numbers{18, 18});  // what is still referenced has its elements
  kept = Tensor();
}

TEST_CASE("many inputs, many results and long functions are cut into segments") {
  const auto f = tt::compile([](const std::vector<Tensor>& v) {
    std::vector<Tensor> out;
    for (const Tensor& t : v)
      for (int k = 0; k < 6; ++k) out.push_back(t * static_cast<double>(k + 1) + v[0]);
    (void)out[0].sum().item();
    return out;
  });
  std::vector<Tensor> v;
  for (int k = 0; k < 40; ++k) v.push_back(uniform({3}, k));
  const std::vector<Tensor> out = f(v);
  REQUIRE(out.size() == 240);
  bool same = true;
  for (std::size_t k = 0; k < out.size(); ++k)
    same = same && same_bits(out[k], v[k / 6] * static_cast<double>(k % 6 + 1) + v[0]);
  CHECK(same);
  const auto chain = tt::compile([](Tensor& x) {
    for (int k = 0; k < 300; ++k) {
      x = x * 1.001 + 0.001;
      if (k == 150 && x.sum().item() > 1e9) return;
    }
  });
  Tensor x = uniform({3}, 1), y = x.clone();
  chain(x);
  for (int k = 0; k < 300; ++k) y = y * 1.001 + 0.001;
  CHECK(same_bits(x, y));
}

TEST_CASE("more different segments than are kept run op by op") {
  const auto f = tt::compile([](Tensor x, int n) {
    Tensor y = x * x.sum().item();
    for (int k = 0; k < n; ++k) y = tt::sin(y);
    return y.t() * 2;
  }, {.name = "many", .tier = 0});
  const Tensor x = uniform({2, 3}, 1);
  for (int n = 0; n < 300; ++n) {
    Tensor y = x * x.sum().item();
    for (int k = 0; k < n; ++k) y = tt::sin(y);
    if (!same_bits(f(x, n), y.t() * 2)) CHECK(n == -1);
  }
  CHECK(f.segments() == 256);
  CHECK(contains(text(f.explain()), "times a segment ran op by op: there are more than 256 different ones"));
}

TEST_CASE("calls with graph breaks leave no memory behind") {
  const auto f = tt::compile([](Tensor& w, Tensor x) {
    auto [value, g] = tt::value_and_grad([](auto a, auto b) { return tt::sum(tt::tanh(a * b)); })(w, x);
    if (value.item() > -1000) w -= 0.1 * g;
    return value;
  });
  Tensor w = uniform({10}, 1);
  const Tensor x = uniform({10}, 2);
  f(w, x);
  f(w, x);
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  for (int k = 0; k < 10; ++k) f(w, x);
  CHECK(tt::cpu_memory_stats().allocated == before);
}

// ---- random programs

namespace {

struct Dice {
  std::uint32_t state;
  int operator()(int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
  }
};
/// Of which sizes and places are numbers that differ from call to call.
const auto random_sizes = [](const Tensor& x, int seed, std::int64_t n, std::int64_t m) {
  Dice dice{static_cast<std::uint32_t>(seed) * 7919u + 1};
  std::vector<Tensor> v{x, x * 2, tt::ones({n, 3})};
  for (int step = 0; step < 12; ++step) {
    const Tensor a = v[static_cast<std::size_t>(dice(static_cast<int>(v.size())))];
    const int axis = dice(2);
    const std::int64_t size = a.size(axis), from = std::min(n, m), to = std::max(n, m);
    switch (dice(21)) {
      case 0: v.push_back(a.slice(axis, 0, n)); break;
      case 1: v.push_back(a.slice(axis, from, to + 1) * 2); break;
      case 2: v.push_back(a.slice(axis, std::min(n, size), {}) + 1); break;
      case 3: v.push_back(tt::cat({a, a.slice(axis, 0, m)}, axis)); break;
      case 4: v.push_back(a.narrow(axis, 0, std::min(size, m))); break;
      case 5: v.push_back(a + static_cast<double>(n)); break;
      case 6: v.push_back(tt::zeros({a.size(0), m}).sum(1, true) + a); break;
      case 7: v.push_back(tt::pad(a, {static_cast<int>(n), 0, 0, static_cast<int>(m)})); break;
      case 8: v.push_back(tt::roll(a, n, axis)); break;
      case 9:
        if (a.size(0) > 0) v.push_back(a[n % a.size(0)].reshape({1, -1}) * a);
        break;
      case 10: v.push_back(a.reshape({-1}).reshape({a.size(0), a.size(1)}) - 1); break;
      case 11: v.push_back(a.reshape({1, a.numel()}).slice(1, 0, n * m)); break;
      case 12: v.push_back(tt::softmax(a, axis)); break;
      case 13: v.push_back(tt::arange(n).to(DType::f32).reshape({n, 1}).expand({n, m})); break;
      case 14: v.push_back(tt::cumsum(a, axis)); break;
      case 15: v.push_back(a.unsqueeze(0).expand({n, a.size(0), a.size(1)}).reshape({n * a.size(0), a.size(1)})); break;
      case 16: v.push_back(a.t() * 0.5); break;
      case 17: v.push_back(tt::full({n, m}, 2.0) + static_cast<double>(m)); break;
      case 18: v.push_back(a.sum(axis, true) + a); break;
      case 19:
        if (a.sum().item() > 0) v.push_back(a * 3);
        break;
      default: v.push_back(a.slice(axis, 0, size, m + 1));
    }
    if (v.back().numel() > 4000) v.pop_back();
  }
  if (v.back().sum().item() > 1e30) v.push_back(x);
  for (Tensor& t : v) t = t * 1.5;
  return v;
};
/// Views, changes in place, reads and branches in any order.
const auto random_program = [](std::vector<Tensor>& parameters, int seed) {
  Dice dice{static_cast<std::uint32_t>(seed) * 7919u + 1};
  std::vector<Tensor> v = parameters;
  for (int step = 0; step < 30; ++step) {
    Tensor a = v[static_cast<std::size_t>(dice(static_cast<int>(v.size())))];
    const Tensor b = v[static_cast<std::size_t>(dice(static_cast<int>(v.size())))];
    switch (dice(20)) {
      case 0: v.push_back(a * 0.5 + b); break;
      case 1: v.push_back(tt::sin(a) - b); break;
      case 2: v.push_back(a.t()); break;
      case 3: v.push_back(a.slice(0, 0, 3)); break;
      case 4: a += b * 0.25; break;
      case 5: a.copy_(tt::tanh(b)); break;
      case 6: v.push_back(a.sum().item() > 0 ? a * 2 : b - 1); break;
      case 7: v.push_back(tt::tanh(tt::matmul(a, b))); break;
      case 8: v.push_back(a[dice(3)] + b); break;
      case 9: v.erase(v.begin() + dice(static_cast<int>(v.size()))); break;
      case 10: v.push_back(tt::full({3, 3}, dice(3))); break;
      case 11: a.fill_(dice(5)); break;
      case 12: v.push_back(a.reshape({9}).reshape({3, 3})); break;
      case 13: a[dice(3)].mul_(0.5); break;
      case 14: v.push_back(b * a[1][2].item()); break;
      case 15: parameters[static_cast<std::size_t>(dice(3))].copy_(tt::tanh(a + b)); break;
      case 16: {
        Tensor dense = a.contiguous();
        dense.data_ptr<float>()[dice(9)] = 0.5f;
        v.push_back(dense);
        break;
      }
      case 17: v.push_back((a[0][0] > b[0][0]) ? 0 * a : a * 1); break;
      case 18: a -= a.t(); break;
      default: v.push_back(a.detach() + tt::softmax(b, dice(2)));
    }
    if (v.empty()) v.push_back(parameters[0]);
  }
  return v;
};
const auto random_differentiable = [](std::vector<Tensor>& parameters, int seed) {
  Dice dice{static_cast<std::uint32_t>(seed) * 104729u + 3};
  std::vector<Tensor> v = parameters;
  for (int step = 0; step < 20; ++step) {
    const Tensor a = v[static_cast<std::size_t>(dice(static_cast<int>(v.size())))], b = v[static_cast<std::size_t>(dice(static_cast<int>(v.size())))];
    switch (dice(9)) {
      case 0: v.push_back(a * 0.5 + b); break;
      case 1: v.push_back(tt::tanh(a) * b); break;
      case 2: v.push_back(a.t()); break;
      case 3: v.push_back(a.sum().item() > 0 ? a * b : b - 1); break;
      case 4: v.push_back(tt::tanh(tt::matmul(a, b))); break;
      case 5: v.push_back(a[dice(3)] + b); break;
      case 6: v.push_back(a.detach() * b); break;
      case 7: {
        const tt::NoGrad off;
        v.push_back(a * 2);
        break;
      }
      default: v.push_back(b * (a[1][2].item() > 0 ? 1.5 : 0.5));
    }
  }
  Tensor sum = (parameters[0] * 0).sum();
  for (const Tensor& t : v) sum = sum + t.sum() * 0.125;
  return sum;
};

}  // namespace

TEST_CASE("random programs with breaks, views and changes in place leave the bits of eager") {
  const auto compiled = tt::compile(random_program, {.name = "random", .tier = 0});
  int wrong = 0;
  for (int seed = 0; seed < 150; ++seed) {
    for (int round = 0; round < 2; ++round) {
      std::vector<Tensor> eager, recorded;
      for (int k = 0; k < 3; ++k) {
        eager.push_back(uniform({3, 3}, 10 * seed + k));
        recorded.push_back(eager.back().clone());
      }
      std::vector<Tensor> expected, got;
      const std::string error = message([&] { expected = random_program(eager, seed); });
      CHECK(message([&] { got = compiled(recorded, seed); }) == error);
      if (error != "no error") continue;
      REQUIRE(expected.size() == got.size());
      bool same = true;
      for (std::size_t k = 0; k < got.size(); ++k) same = same && same_bits(expected[k], got[k]);
      for (std::size_t k = 0; k < 3; ++k) same = same && same_bits(eager[k], recorded[k]);
      if (!same) {
        ++wrong;
        MESSAGE("seed " << seed << ", round " << round);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("random programs with breaks, of sizes and places that change, leave the bits of eager") {
  int wrong = 0;
  for (int seed = 0; seed < (is_sanitized ? 20 : 60); ++seed) {
    const auto compiled = tt::compile(random_sizes, {.name = "sizes", .tier = 0});
    Dice dice{static_cast<std::uint32_t>(seed) + 77};
    for (int round = 0; round < 20; ++round) {
      const Tensor x = uniform({1 + dice(9), 6}, round);
      const std::int64_t n = round < 10 ? 2 + round : 1 + dice(7), m = round < 6 ? 3 : 1 + dice(5);
      const std::vector<Tensor> expected = random_sizes(x, seed, n, m), got = compiled(x, seed, n, m);
      REQUIRE(expected.size() == got.size());
      bool same = true;
      for (std::size_t k = 0; k < got.size(); ++k) same = same && expected[k].shape() == got[k].shape() && same_bits(expected[k], got[k]);
      if (same) continue;
      ++wrong;
      MESSAGE("seed " << seed << ", round " << round);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("random programs with breaks have the gradients of eager") {
  const auto compiled = tt::compile(random_differentiable, {.name = "random", .tier = 0});
  int wrong = 0;
  for (int seed = 0; seed < 60; ++seed) {
    std::vector<Tensor> eager, recorded;
    for (int k = 0; k < 3; ++k) {
      eager.push_back(uniform({3, 3}, 10 * seed + k, DType::f64));
      recorded.push_back(eager.back().clone());
      if (k == 2) continue;
      eager.back().requires_grad_();
      recorded.back().requires_grad_();
    }
    const Tensor expected = random_differentiable(eager, seed), got = compiled(recorded, seed);
    bool same = same_bits(expected, got);
    expected.backward();
    got.backward();
    for (std::size_t k = 0; k < 2; ++k)
      same = same && tt::amax((eager[k].grad() - recorded[k].grad()).abs().reshape({9}), 0).item() < 1e-12;
    if (!same) {
      ++wrong;
      MESSAGE("seed " << seed);
    }
  }
  CHECK(wrong == 0);
}


TEST_CASE("gradients by what a program made inside, hooks there, and several backward passes") {
  const auto by_intermediate = [](const Tensor& w) {
    const Tensor h = w * 3, l = (h * h).sum();
    return tt::grad({l}, {h})[0];
  };
  const auto inner_steps = [](const Tensor& w) {
    Tensor q = w * 1;
    for (int k = 0; k < 2; ++k) q = q - 0.1 * tt::grad({(q * w).sin().sum()}, {q}, {}, true, true)[0];
    return q;
  };
  const auto hook = [](const Tensor& w) {
    const Tensor h = w * 3, l = (h * h).sum();
    h.register_hook([](const Tensor& g) { return g * 10; });
    return tt::grad({l}, {w})[0];
  };
  const auto two_losses = [](const Tensor& w, const Tensor& x) {
    const Tensor a = (w * x).sin().sum(), b = (w * x).cos().sum();
    return tt::grad({a}, {w})[0] + tt::grad({b}, {w})[0];
  };
  const auto adversaries = [](const Tensor& w, const Tensor& x) {  // the second loss goes through what the first one has detached
    const Tensor made = (w * x).tanh();
    const Tensor d = tt::grad({(made.detach() * w).square().sum()}, {w})[0];
    return d + tt::grad({(made * x).sum()}, {w})[0];
  };
  const auto view = [](const Tensor& w) {
    const Tensor h = (w * 3).slice(0, 0, 1), l = (h * h).sum();
    return tt::grad({l}, {h})[0];
  };
  Tensor w = uniform({3}, 1).requires_grad_(), x = uniform({3}, 2);
  const auto same = [&](const auto& f, const auto&... a) { return same_bits(tt::compile(f)(a...), f(a...)); };
  CHECK(same(by_intermediate, w));
  CHECK(tt::allclose(tt::compile(inner_steps)(w), inner_steps(w)));
  CHECK(same(hook, w));
  CHECK(same([](const Tensor& v) {
    const Tensor h = v * 3, l = (h * h).sum();
    h.retain_grad();
    l.backward();
    return h.grad().clone();
  }, w));
  CHECK(same(two_losses, w, x));
  CHECK(tt::allclose(tt::compile(adversaries)(w, x), adversaries(w, x)));
  CHECK(same(view, w));
  // Of two results of one program nothing is known in between; but each has its gradient.
  const auto results = [&] {
    return tt::compile([](const Tensor& v) {
      const Tensor h = v * 3;
      return std::pair{h, (h * h).sum()};
    })(w);
  };
  const auto [h, l] = results();
  CHECK(contains(message([&] { tt::grad({l}, {h}); }), "results of one compiled program"));
  const auto [h2, l2] = results();
  CHECK(same_bits(tt::grad({l2}, {w})[0], 18 * w.detach()));
  CHECK(same_bits(tt::grad({h2.sum()}, {w})[0], tt::full({3}, 3.0)));
}
TEST_CASE("a buffer that the function fills, and reads in between, has its gradient") {
  const auto recurrence = [](const Tensor& x, const Tensor& w) {
    Tensor out = tt::zeros({x.size(0), 4});
    for (int t = 0; t < x.size(0); ++t) out[t] = tt::tanh(x[t] + w.mv(t ? out[t - 1].clone() : x[0]));
    return out;
  };
  const Tensor x = uniform({5, 4}, 3);
  Tensor w = uniform({4, 4}, 4).requires_grad_();
  const auto gradient = [&](const auto& f) { return tt::grad({f(x, w).square().sum()}, {w})[0]; };
  CHECK(tt::allclose(gradient(tt::compile(recurrence)), gradient(recurrence)));
}
TEST_CASE("where an argument lies is asked for at each call") {
  const auto stride = tt::compile([](const Tensor& x) { return x.sum() * 0 + static_cast<double>(x.stride(0)); });
  const auto offset = tt::compile([](const Tensor& x) { return x.sum() * 0 + static_cast<double>(x.storage_offset()); });
  for (const int n : {8, 16, 5}) CHECK(stride(tt::ones({4, n}).slice(1, 0, 3)).item<double>() == n);
  for (const int k : {0, 1, 3}) CHECK(offset(tt::ones({9}).slice(0, k, k + 4)).item<double>() == k);
}
TEST_CASE("gradient modes inside of a function are those of its ops and views") {
  Tensor w = tt::ones({2, 3}).requires_grad_();
  const auto view = tt::compile([](const Tensor& a) {
    const tt::NoGrad off;
    return a.t();
  });
  CHECK_FALSE(view(w * 2).requires_grad());
  const auto on = tt::compile([](const Tensor& a) {
    const tt::EnableGrad enabled;
    return a * 2;
  });
  {
    const tt::NoGrad off;
    CHECK(on(w).requires_grad());
  }
  CHECK(on(w).requires_grad());
}
TEST_CASE("numbers that a function changes among its arguments are changed at each call") {
  struct Cache {
    Tensor k;
    int len;
    double rate;
  };
  const auto f = [](Cache& c, const Tensor& x) {
    c.k += x;
    ++c.len;
    c.rate *= 0.5;
    return c.k * c.len * c.rate;
  };
  const auto compiled = tt::compile(f);
  Cache eager{tt::zeros({1}), 0, 1}, own{tt::zeros({1}), 0, 1};
  for (int k = 0; k < 4; ++k) {
    const Tensor want = f(eager, tt::ones({1}));
    CHECK(same_bits(compiled(own, tt::ones({1})), want));
    CHECK(own.len == eager.len);
    CHECK(own.rate == eager.rate);
  }
  const auto breaks = tt::compile([](int& n, const Tensor& x) { return x.sum().item<double>() > 0 ? x * ++n : x; });
  int n = 0;
  for (int k = 1; k < 4; ++k) {
    CHECK(breaks(n, tt::ones({1})).item<double>() == k);
    CHECK(n == k);
  }
  std::vector<Tensor> list{tt::ones({1}), tt::zeros({1})};
  CHECK(contains(message([&] { tt::compile([](std::vector<Tensor>& v) { const Tensor last = v.back(); v.pop_back(); return last * 2; })(list); }), "how many Tensors a list"));
  std::vector<double> log;
  std::string text;
  const auto logging = tt::compile([](std::vector<double>& l, std::string& s, const Tensor& x) { l.push_back(0.5), s += "a"; return x * static_cast<double>(l.size()); });
  for (int k = 1; k < 4; ++k) {
    CHECK(logging(log, text, tt::ones({1})).item<double>() == k);
    CHECK(log == std::vector<double>(static_cast<std::size_t>(k), 0.5));
    CHECK(text == std::string(static_cast<std::size_t>(k), 'a'));
  }
}
TEST_CASE("a function that catches everything does not hide what its capture has met") {
  static const Tensor elsewhere = tt::ones({3});
  const auto f = tt::compile([](const Tensor& x) {
    try {
      return x + elsewhere;
    } catch (...) {
      return x * 0;
    }
  });
  CHECK(contains(message([&] { f(tt::ones({3})); }), "a Tensor was met that is not an argument"));
}

TEST_CASE("a gradient inside of a gradient hangs on what its function captures, around a break too") {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return tt::grad([&](const Tensor& a) {
      const Tensor d = tt::grad([&](const Tensor& b) { return (a * b * b).sum(); })(y);
      if (d.sum().item<double>() > 1e9) return d.sum();
      return (d * d).sum();
    })(x);
  };
  const Tensor x = tt::tensor({2.0, 3.0}), y = tt::tensor({1.0, 5.0});
  CHECK(numbers(f(x, y)) == Numbers{16, 600});
  CHECK(numbers(tt::compile(f)(x, y)) == Numbers{16, 600});
}
TEST_CASE("a copy for the tape is on it, and views stay views where a program ends at them") {
  const auto filled = [](const Tensor& x, const Tensor& w) {
    Tensor buffer = tt::zeros({2, 3});
    buffer[0] = x * w;
    const Tensor l = (buffer * buffer).sum();
    const tt::NoGrad off;
    return l.item<double>() < 0 ? l * 0 : l;
  };
  const Tensor x = uniform({3}, 1);
  Tensor w = uniform({3}, 2).requires_grad_();
  const auto gradient = [&](const auto& f) { return tt::grad({f(x, w)}, {w})[0]; };
  CHECK(tt::allclose(gradient(tt::compile(filled)), gradient(filled)));
  const auto views = [](const Tensor& v) {
    const Tensor h = v * 2;
    Tensor flat = h.view({-1});
    const Tensor d = tt::grad({flat.square().sum()}, {flat})[0];
    const tt::NoGrad off;
    flat.mul_(0);
    return std::pair{h.detach(), d};
  };
  const auto [h, d] = views(w);
  const auto [h2, d2] = tt::compile(views)(w);
  CHECK(same_bits(h, h2));
  CHECK(same_bits(d, d2));
  // All results have had their gradients: what was saved is gone.
  const auto two = tt::compile([](const Tensor& v) { return std::pair{v.sin().sum(), v.exp().sum()}; });
  const auto [a, b] = two(w);
  a.backward();
  b.backward();
  CHECK(contains(message([&] { a.backward(); }), "freed by an earlier backward"));
}

TEST_CASE("what lies transposed, and gradients changed under NoGrad, keep their history where a graph ends") {
  const auto looks = [](const Tensor& a) {
    const Tensor z = a.t().tanh();
    {
      const tt::NoGrad off;
      (void)z.max().item();
    }
    return (z * z).sum();
  };
  const auto partly = [](const Tensor& a) {
    const Tensor w = a * 2, u = a.view({2, 2}).t() * 3;
    double s;
    {
      const tt::NoGrad off;
      s = w.sum().item();
    }
    return (w * s).sum() + u.sum();
  };
  const auto scaled = [](const Tensor& a) {
    Tensor y = tt::grad([](const Tensor& x) { return (x * x * x).sum(); })(a);
    {
      const tt::NoGrad off;
      y.mul_(1.5);
    }
    return (y * 1).sum();
  };
  const auto same_gradient = [](const auto& f, const tt::IntList& shape) {
    const Tensor a = (uniform(shape, 3) + 1).requires_grad_(), b = copy(a);
    f(a).backward();
    tt::compile(f)(b).backward();
    CHECK(same_bits(a.grad(), b.grad()));
  };
  same_gradient(looks, {4, 4});
  same_gradient(partly, {4});
  same_gradient(scaled, {4});
}

TEST_CASE("a function that changes what its gradient is taken by says so, compiled too") {
  const auto f = [](const Tensor& x) {
    return tt::grad([](const Tensor& a) {
      Tensor b = a;
      b.mul_(2);
      return (b * b).sum();
    })(x);
  };
  const Tensor x = tt::tensor({0.5, 1.0});
  CHECK(contains(message([&] { f(x.clone()); }), "a leaf that requires a gradient was changed in place"));
  CHECK(contains(message([&] { tt::compile(f)(x); }), "a leaf that requires a gradient was changed in place"));
}

TEST_CASE("gradients asked for under NoGrad are constants, values hang on what the function holds") {
  const auto constant = [](const Tensor& a) {
    Tensor g;
    {
      const tt::NoGrad off;
      g = tt::grad([](const Tensor& x) { return (x * x * x).sum(); })(a);
    }
    return g * a;
  };
  const auto held = [](const Tensor& a) {
    (void)a.sum().item();
    const auto [v, g] = tt::value_and_grad([&](const Tensor& x) { return (x * x * a).sum(); })(a.detach() * 1);
    return v;
  };
  const auto same_gradient = [](const auto& f) {
    const Tensor a = (uniform({4}, 5) + 1).requires_grad_(), b = copy(a);
    f(a).sum().backward();
    tt::compile(f)(b).sum().backward();
    CHECK(same_bits(a.grad(), b.grad()));
  };
  same_gradient(constant);
  same_gradient(held);
}

TEST_CASE("results of a backend share no memory with arguments or each other, and it draws in the program's order") {
  const auto moves = [](Tensor& a, Tensor& b) {
    b.copy_(a);
    a.add_(1);
    return std::pair{b * 1, a * 1};
  };
  const auto draws = [](const Tensor& a) {
    const Tensor r = tt::randn({3}), s = tt::rand({3});
    return a + s * 2 + r;
  };
  Tensor a = tt::tensor({1.0, 2.0}), b = tt::tensor({4.0, 5.0}), c = a.clone(), d = b.clone();
  auto [x, y] = moves(a, b);
  auto [z, w] = tt::compile(moves, {.backend = "eager"})(c, d);
  CHECK((same_bits(x, z) && same_bits(y, w) && same_bits(a, c) && same_bits(b, d)));
  w.add_(1);
  CHECK((same_bits(a, c) && same_bits(b, d)));
  tt::manual_seed(5);
  const Tensor drawn = draws(tt::zeros({3}));
  tt::manual_seed(5);
  CHECK(same_bits(tt::compile(draws, {.backend = "eager"})(tt::zeros({3})), drawn));
}

TEST_CASE("what lies transposed lies so in bodies of loops and of jvp") {
  const auto tangent = [](const Tensor& a) {
    return tt::jvp([](const Tensor& x) {
      const Tensor y = x.sin();
      Tensor d = y.contiguous();
      d.mul_(2);
      return y;
    }, a, a).first;
  };
  const Tensor a = uniform({4, 4}, 9).t();
  CHECK(same_bits(tangent(a), a.sin()));
  CHECK(same_bits(tt::compile(tangent)(a), a.sin()));
}

TEST_CASE("vmap changes an argument that is not mapped once, or says so") {
  const auto doubled = [](const Tensor& a, const Tensor& b) {
    Tensor c = a;
    c.mul_(2.0);
    return c + b;
  };
  const auto mixed = [](const Tensor& a, const Tensor& b) {
    Tensor c = a;
    c.mul_(b);
    return c + 1;
  };
  const tt::VmapOptions second{.in_dims = {tt::none, 0}};
  const Tensor z = tt::arange(3.0), w = tt::tensor({{1.0, 1.0, 1.0}, {2.0, 2.0, 2.0}, {3.0, 3.0, 3.0}});
  CHECK(numbers(tt::vmap(doubled, second)(z, w)) == Numbers{1, 3, 5, 2, 4, 6, 3, 5, 7});
  CHECK(numbers(z) == Numbers{0, 2, 4});
  CHECK(contains(message([&] { tt::vmap(mixed, second)(z, w); }), "tt::vmap: an argument that is not mapped is changed in place"));
}

TEST_CASE("vmap in chunks changes what is not mapped once, and gradients under NoGrad go on forward") {
  const auto doubled = [](const Tensor& a, const Tensor& b) {
    Tensor c = a;
    c.mul_(2.0);
    return c + b;
  };
  const Tensor z = tt::arange(3.0), w = tt::ones({4, 3});
  const Tensor r = tt::vmap(doubled, {.in_dims = {tt::none, 0}, .chunk_size = 2})(z, w);
  for (int k = 0; k < 4; ++k) CHECK(numbers(r[k]) == Numbers{1, 3, 5});
  CHECK(numbers(z) == Numbers{0, 2, 4});

  const auto product = [](const Tensor& x, const Tensor& v) {
    const tt::NoGrad off;
    return tt::hvp([](const Tensor& t) { return (t * t * t).sum(); }, x, v);
  };
  const Tensor x = tt::tensor({1.0, 2.0}), v = tt::tensor({1.0, 0.5});
  CHECK(numbers(product(x, v)) == Numbers{6, 6});
  CHECK(numbers(tt::compile(product)(x, v)) == Numbers{6, 6});
}

TEST_CASE("an error of elements that the function catches leaves what came before it") {
  const Tensor x = tt::arange(4).to(DType::f64).reshape({2, 2}), far = tt::tensor({9});
  const auto same = [&](const char* name, const auto& f) {
    CAPTURE(std::string(name));
    Tensor eager = x.clone(), own = x.clone();
    const Tensor want = f(eager, far), got = tt::compile(f)(own, far);
    CHECK(same_bits(want, got));
    CHECK(same_bits(eager, own));
  };
  same("results", [](const Tensor& a, const Tensor& i) {
    Tensor y = a * 2, b = a[1] * 3;
    try {
      y += a.index_select(0, i).sum().item<double>();
    } catch (const tt::Error&) {
    }
    return y + b;
  });
  same("arguments", [](Tensor a, const Tensor& i) {
    a[0] += 100;
    try {
      a[1] += a.index_select(0, i).sum().item<double>();
    } catch (const tt::Error&) {
      a[1] = -1;
    }
    return a;
  });
  same("behind the error", [](const Tensor& a, const Tensor& i) {
    Tensor later;
    try {
      const Tensor chosen = a.index_select(0, i);
      later = a * 2;
      (void)chosen.sum().item<double>();
    } catch (const tt::Error&) {
      later = a * 3;
    }
    return later;
  });
  same("changed again behind the op", [](Tensor a, const Tensor& i) {
    a.add_(10);
    try {
      a.add_(a.index_select(0, i).sum());
      (void)a.sum().item<double>();
    } catch (const tt::Error&) {
    }
    return a * 1;
  });
  same("a Tensor of its own, changed again", [](const Tensor& a, const Tensor& i) {
    Tensor y = a * 2;
    const Tensor row = y[1];
    try {
      y += a.index_select(0, i).sum();
      (void)y.sum().item<double>();
    } catch (const tt::Error&) {
    }
    y.add_(1);
    return y + row;
  });
  same("a gradient that fails", [](Tensor a, const Tensor& i) {
    a.add_(10);
    try {
      (void)tt::grad([&](const Tensor& t) { return t.index_select(0, i).sum().item<double>() > 0 ? t.sum() : t.mean(); })(a * 1);
    } catch (const tt::Error&) {
    }
    return a + 0;
  });
  same("a view of what an argument becomes", [](Tensor& a, const Tensor&) {
    (void)a.sum().item<double>();
    const Tensor y = a * 2, v = y[0];
    a = y;
    return v;
  });
  const auto of_integers = [](Tensor& a) {
    a.add_(10);
    try {
      (void)tt::jacrev([](const auto& t) { return t * t; })(a);
    } catch (const tt::Error&) {
    }
    return a + 0;
  };
  Tensor n = tt::tensor({1, 2});
  CHECK(tt::equal(tt::compile(of_integers)(n), tt::tensor({11, 12})));
  CHECK(tt::equal(n, tt::tensor({11, 12})));
}

TEST_CASE("what is written through views, where it hangs on the call's own sizes, history and errors") {
  const auto windows = [](Tensor& a, const Tensor& b) {
    (void)a.sum().item<double>();
    a.unfold(0, 3, 3).copy_(b);
  };
  const auto compiled = tt::compile(windows);
  for (int rows = 3; rows < 9; ++rows) {
    Tensor a = uniform({rows, 2}, rows), b = a.clone();
    const Tensor values = uniform({rows / 3, 2, 3}, 9);
    windows(a, values);
    compiled(b, values);
    CHECK(same_bits(a, b));
  }
  // Before a graph ends, what a gradient needs of the old elements is kept; of what is written over nothing flows.
  const auto gradient = [](const auto& f) {
    Tensor leaf = uniform({2, 3}, 5).requires_grad_(), a = leaf * 2;
    f(a);
    (a * a).sum().backward();
    return leaf.grad();
  };
  for (const auto& f : {+[](Tensor& a) { a[0].clamp_(-0.5, 0.5); (void)a.sum().item<double>(); }, +[](Tensor& a) { a.view({-1}).zero_(); }, +[](Tensor& a) { a.t().exp_(); }}) {
    const auto run = [f](Tensor& a) { f(a); };
    CHECK(tt::allclose(gradient(run), gradient(tt::compile(tt::frozen(run)))));
  }
  const auto caught = [](Tensor& b, Tensor leaf) {
    b.add_(1);
    try {
      leaf[0] = 5;
    } catch (const tt::Error&) {
      b.mul_(10);
    }
    b.add_(1);
  };
  Tensor b = tt::ones({});
  tt::compile(caught)(b, uniform({2, 2}, 1).requires_grad_());
  CHECK(b.item() == 21);
  Tensor repeated = tt::ones({});
  tt::compile([](Tensor& t, Tensor wide) {
    t.add_(1);
    try {
      wide.add_(5);
    } catch (const tt::Error&) {
      t.mul_(10);
    }
  })(repeated, tt::ones({1}).expand({3}));
  CHECK(repeated.item() == 20);
  const auto twice = tt::compile([](const Tensor& t) {
    const Tensor z = tt::zeros({2});
    return std::vector<Tensor>{z, z, t * 1};
  })(b);
  CHECK(twice[0].shares_storage(twice[1]));
}
