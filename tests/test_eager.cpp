// Every op on Tensors, however the elements lie: the bits of tt::fuse on Arrays for f32, of the reference executor for
// the other dtypes (which have the same bits: test_ops, test_primitives; a program for each takes minutes to compile).
// Meta Tensors know dtype and shape. Elementwise ops and primitives come from the lists: a new one adds no line here.
#include <vector>

#include "evaluate.hpp"
#include "op_samples.hpp"
#include "tt/tt.hpp"

using namespace op_samples;
using tt::DType;
using tt::Tensor;

namespace {

constexpr std::int64_t rows = 13, cols = 17;
template <class T>
using Matrix = Array<T, rows, cols>;

// ---- what is called: the same on Arrays, Tensors and symbols

template <class F>
struct CallOp {
  static constexpr bool real = F::info.domain == tt::Domain::real;  ///< takes integers as f32
  static constexpr const char* name = F::info.name;
  static constexpr int arity = F::info.arity;
  static constexpr bool takes_condition = false;
  constexpr auto operator()(const auto&... a) const { return tt::call<F>({}, a...); }
};
template <Op K>
struct CallPrimitive {
  static constexpr bool real = tt::is_real(K);
  static constexpr const char* name = tt::name(K);
  static constexpr int arity = tt::arity(K);
  static constexpr bool takes_condition = K == Op::where;
  template <class... A>
  constexpr auto operator()(const A&... a) const {
    return tt::front_t<A...>::template primitive<K>({}, tt::is_shift(K) ? 3 : 0, a...);
  }
};

/// Calls F with as many of these as it takes.
template <class F>
constexpr auto call_with(const auto& condition, const auto& a, const auto& b, const auto& c) {
  if constexpr (F::takes_condition) return F{}(condition, a, b);
  else if constexpr (F::arity == 1) return F{}(a);
  else if constexpr (F::arity == 2) return F{}(a, b);
  else return F{}(a, b, c);
}
template <class F>
struct Fused {
  static constexpr auto all = [](auto condition, auto a, auto b, auto c) { return call_with<F>(condition, a, b, c); };
};
template <class F>
constexpr bool takes_floats() {
  tt::Graph g;
  const tt::Sym condition{&g, g.input(DType::boolean, {3})}, a{&g, g.input(DType::f32, {3})};
  (void)call_with<F>(condition, a, a, a);
  return !g.failure;
}

// ---- what the results have to be

tt::Sym input(tt::Graph& g, const Tensor& like) { return {&g, g.input(like.dtype(), like.shape())}; }
fuzz::Values bits_of(const Tensor& t) {
  fuzz::Values v(static_cast<std::size_t>(t.numel()));
  tt::with_dtype(t.dtype(), [&]<class T>(T) {
    const T* x = t.data_ptr<T>();
    for (std::size_t i = 0; i < v.size(); ++i) {
      if constexpr (tt::NarrowElement<T>) v[i] = fuzz::load_element(t.dtype(), x + i);
      else if constexpr (std::is_floating_point_v<T>) std::memcpy(&v[i], x + i, sizeof(T));
      else v[i] = tt::encode_integer(t.dtype(), x[i]);
    }
  });
  return v;
}
/// A graph's output on the reference executor.
Tensor reference(tt::Graph& g, tt::Sym output, const std::vector<Tensor>& inputs) {
  REQUIRE_FALSE(g.failure);
  g.output(output.id);
  const tt::Graph plain = tt::inline_bodies(g);
  std::vector<fuzz::Values> given;
  for (const Tensor& t : inputs) given.push_back(bits_of(t));
  const fuzz::Values bits = fuzz::evaluate(plain, {}, given)[0];
  Tensor t(plain[plain.outputs[0]].dtype, plain[plain.outputs[0]].shape);
  tt::with_dtype(t.dtype(), [&]<class T>(T) {
    for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(t.data_ptr<T>() + i, &bits[i], sizeof(T));
  });
  return t;
}

/// What f has to give: tt::fuse says it for f32.
template <class F, class... A>
Tensor wanted(F f, const std::vector<Tensor>& given, const A&... arrays) {
  if constexpr ((std::is_same_v<typename A::value_type, float> || ...)) {
    auto result = tt::fuse(f)(arrays...);
    return tt::as_tensor(result).clone();
  } else {
    tt::Graph g;
    std::vector<tt::Sym> x;
    for (const Tensor& t : given) x.push_back(input(g, t));
    const tt::Sym output = [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::index_sequence_for<A...>{});
    return reference(g, output, given);
  }
}

// ---- elements that lie otherwise

/// A Tensor of the same elements, which lie transposed, apart, shifted, or where nothing is padded.
Tensor laid_out(const Tensor& t, int how, std::vector<std::byte>& memory) {
  const tt::TensorOptions like{.dtype = t.dtype()};
  Tensor other;
  switch (how % 6) {
    case 0: return t;
    case 1: return t.t().contiguous().t();
    case 2: other = tt::zeros({rows, 3 * cols}, like).slice(1, 1, 3 * cols, 3); break;
    case 3: other = tt::zeros({rows + 2, cols + 3}, like).slice(0, 1, rows + 1).slice(1, 2, cols + 2); break;
    case 4: other = tt::zeros({rows * cols + 1}, like).slice(0, 1, rows * cols + 1).view({rows, cols}); break;
    default:
      memory.resize(static_cast<std::size_t>(t.numel() * tt::size_of(t.dtype())));
      other = tt::with_dtype(t.dtype(), [&]<class T>(T) { return tt::from_blob(reinterpret_cast<T*>(memory.data()), t.shape()); });
  }
  return other.copy_(t);
}

template <class T>
std::int64_t differences(const Tensor& got, const T* want) {
  std::int64_t n = 0;
  const Tensor dense = got.contiguous();
  for (std::int64_t i = 0; i < got.numel(); ++i) n += !same(dense.data_ptr<T>()[i], want[i]);
  return n;
}
/// Equal dtype, shape and bits.
bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor dense = b.contiguous();
  return tt::with_dtype(a.dtype(), [&]<class T>(T) { return differences<T>(a, dense.data_ptr<T>()) == 0; });
}

// ---- the checks

/// An op as the checks below call it: code that is the same for all of them is compiled once.
struct Case {
  const char* name;
  int arity;
  Tensor (*call)(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor& c);
  tt::Sym (*record)(const tt::Sym& condition, const tt::Sym& a, const tt::Sym& b, const tt::Sym& c);
};
template <class F>
constexpr Case case_of = {
    F::name, F::arity,
    [](const Tensor& m, const Tensor& a, const Tensor& b, const Tensor& c) -> Tensor { return call_with<F>(m, a, b, c); },
    [](const tt::Sym& m, const tt::Sym& a, const tt::Sym& b, const tt::Sym& c) { return call_with<F>(m, a, b, c); }};

void check_layouts(const Case& f, const Tensor& m, const Tensor (&t)[3], const Tensor& want) {
  const Tensor dense = f.call(m, t[0], t[1], t[2]);
  REQUIRE(dense.dtype() == want.dtype());
  REQUIRE(dense.shape() == want.shape());
  CHECK(same_elements(dense, want));
  for (int how = 1; how < 6; ++how) {
    CAPTURE(how);
    std::vector<std::byte> memory[4];
    Tensor laid[3];
    for (int k = 0; k < 3; ++k) laid[k] = laid_out(t[k], how + 5 * k, memory[k]);
    const Tensor where = laid_out(m, how + 2, memory[3]);
    CHECK(same_elements(f.call(where, laid[0], laid[1], laid[2]), want));
  }
  // one row, one column, one element, for each operand in turn
  for (int k = 0; k < 3; ++k) {
    CAPTURE(k);
    Tensor small[3], large[3];
    for (int j = 0; j < 3; ++j) {
      const int kind = (j + k) % 4;
      small[j] = kind == 0 ? t[j] : kind == 1 ? t[j].select(0, 2) : kind == 2 ? t[j].slice(1, 3, 4) : t[j].select(0, 5).select(0, 7);
      large[j] = small[j].expand({rows, cols});
    }
    const Tensor by_dense = f.call(m, large[0].contiguous(), large[1].contiguous(), large[2].contiguous());
    CHECK(same_elements(f.call(m, large[0], large[1], large[2]), by_dense));
    const Tensor r = f.call(m, small[0], small[1], small[2]);
    CHECK(same_elements(r.expand({rows, cols}), by_dense));
  }
  // no elements, no axes
  const Tensor none = f.call(m.slice(0, 0, 0), t[0].slice(0, 0, 0), t[1].slice(0, 0, 0), t[2].slice(0, 0, 0));
  CHECK(none.shape() == tt::Shape{0, cols});
  CHECK(none.dtype() == dense.dtype());
  const auto first = [](const Tensor& x) { return x.select(0, 0).select(0, 0); };
  CHECK(same_elements(f.call(first(m), first(t[0]), first(t[1]), first(t[2])), first(dense)));
  // Meta
  const tt::Device meta{tt::DeviceType::meta, 0};
  const Tensor x = tt::empty({rows, 1}, {t[0].dtype(), meta}), y = tt::empty({cols}, {t[0].dtype(), meta});
  const Tensor z = tt::empty({rows, cols}, {t[0].dtype(), meta}), w = tt::empty({rows, 1}, {DType::boolean, meta});
  const Tensor shaped = f.call(w, x, y, z);
  CHECK(shaped.is_meta());
  CHECK(shaped.dtype() == dense.dtype());
  CHECK(shaped.shape() == (f.arity == 1 ? tt::Shape{rows, 1} : tt::Shape{rows, cols}));
}

/// The reference executor's result, or nothing where the op does not take the dtype.
Tensor check_case(const Case& f, const Tensor& m, const Tensor (&t)[3]) {
  CAPTURE(f.name);
  tt::Graph g;
  const tt::Sym condition = input(g, m), a = input(g, t[0]), b = input(g, t[1]), c = input(g, t[2]);
  const tt::Sym output = f.record(condition, a, b, c);
  if (g.failure) {
    CHECK_THROWS_AS(f.call(m, t[0], t[1], t[2]), tt::Error);
    return {};
  }
  const Tensor want = reference(g, output, {m, t[0], t[1], t[2]});
  check_layouts(f, m, t, want);
  return want;
}
void check_fused(const char* name, const Tensor& fused, const Tensor& want) {
  CAPTURE(name);
  CHECK(same_elements(fused, want));
}
template <class F, class T>
void check_eager(const Matrix<bool>& condition, const Matrix<T> (&array)[3], const Tensor& m, const Tensor (&t)[3]) {
  const Tensor want = check_case(case_of<F>, m, t);
  if constexpr (std::is_same_v<T, float> && takes_floats<F>()) {
    auto fused = tt::fuse(Fused<F>::all)(condition, array[0], array[1], array[2]);
    check_fused(F::name, tt::as_tensor(fused), want);
  }
}
/// Calls check(condition, arrays, the same as Tensors).
template <class T, class Check>
void with_samples(const Check& check) {
  CAPTURE(tt::name(tt::dtype_of<T>));
  Samples<T> sample;
  Matrix<T> array[3];
  for (auto& m : array)
    for (T& x : m) x = sample();
  Matrix<bool> condition;
  Samples<bool> coin;
  for (bool& x : condition) x = coin();
  const Tensor m = tt::as_tensor(condition).clone();
  const Tensor t[] = {tt::as_tensor(array[0]).clone(), tt::as_tensor(array[1]).clone(), tt::as_tensor(array[2]).clone()};
  check(condition, array, m, t);
}

template <class T>
void check_ops() {
  with_samples<T>([](const auto&... samples) {
    for_each_op(tt::ElementwiseOps{}, [&]<class F>(tt::TypeList<F>) { check_eager<CallOp<F>, T>(samples...); });
    check_eager<CallOp<tt::Philox>, T>(samples...);
  });
}
template <class T>
void check_primitives() {
  with_samples<T>([](const auto&... samples) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      const auto one = [&]<Op P>(std::integral_constant<Op, P>) {
        constexpr bool known = (is_arithmetic(P) && P != Op::copy) || is_comparison(P) || is_logical(P) || P == Op::where;
        if constexpr (known) check_eager<CallPrimitive<P>, T>(samples...);
      };
      (one(std::integral_constant<Op, static_cast<Op>(K)>{}), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(tt::op_count)>{});
  });
}

/// A call on Tensors, dense and laid out otherwise, and on Meta Tensors.
void check_call(const char* name, const std::vector<Tensor>& given, const Tensor& want,
                Tensor (*call)(const std::vector<Tensor>&)) {
  CAPTURE(name);
  const auto apart = [&](const Tensor& t) {
    tt::IntList turned;
    for (int k = t.dim(); k-- > 0;) turned.push_back(k);
    return t.permute(turned).contiguous().permute(turned);
  };
  const auto repeated = [&](const Tensor& t) {  // elements every third
    tt::IntList three = t.unsqueeze(-1).shape();
    three[three.size() - 1] = 3;
    return t.unsqueeze(-1).expand(three).contiguous().select(-1, 1);
  };
  const auto all = [&](const auto& f) {
    std::vector<Tensor> changed;
    for (const Tensor& t : given) changed.push_back(f(t));
    return changed;
  };
  for (const Tensor& got : {call(given), call(all(apart)), call(all(repeated))}) CHECK(same_elements(got, want));
  const Tensor meta = call(all([](const Tensor& t) { return tt::empty(t.shape(), {t.dtype(), {tt::DeviceType::meta, 0}}); }));
  CHECK(meta.is_meta());
  CHECK(meta.dtype() == want.dtype());
  CHECK(meta.shape() == want.shape());
}
template <class F, class... A>
void check_function(const char* name, F f, const A&... arrays) {
  const std::vector<Tensor> given = {tt::as_tensor(const_cast<A&>(arrays)).clone()...};
  check_call(name, given, wanted(f, given, arrays...), [](const std::vector<Tensor>& t) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> Tensor { return F{}(t[I]...); }(std::index_sequence_for<A...>{});
  });
}

template <class A>
A sampled() {
  A a;
  Samples<typename A::value_type> sample;
  for (auto& x : a) x = sample();
  return a;
}
/// Of a size that sums and products of bear.
template <class A>
A moderate() {
  A a;
  Samples<double> sample;
  for (auto& x : a) {
    double v = sample();
    while (!(v > -100 && v < 100)) v = sample();
    x = static_cast<typename A::value_type>(v);
  }
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("ops on Tensors have the bits of fuse, or of the reference executor", T, float, double, std::int32_t, std::int64_t, bool) {
  check_ops<T>();
}
TEST_CASE_TEMPLATE("primitives on Tensors have the bits of fuse, or of the reference executor", T, float, double, std::int32_t, std::int64_t, bool) {
  check_primitives<T>();
}

TEST_CASE_TEMPLATE("reductions on Tensors have the bits of fuse, or of the reference executor", T, float, double, std::int32_t, std::int64_t, bool) {
  const auto a = moderate<Array<T, 5, 70, 11>>();
  const auto check = [&](const char* name, auto f) { check_function(name, f, a); };
  check("sum", [](const auto& x) { return tt::sum(x); });
  check("sum 0", [](const auto& x) { return tt::sum<0>(x); });
  check("sum 1", [](const auto& x) { return tt::sum_keepdim<1>(x); });
  check("sum 0 2", [](const auto& x) { return tt::sum<0, -1>(x); });
  check("logsumexp 1", [](const auto& x) { return tt::logsumexp<1>(x); });
  if constexpr (std::is_floating_point_v<T>) {
    check("mean 1", [](const auto& x) { return tt::mean<1>(x); });
    check("var 2", [](const auto& x) { return tt::var<2>(x); });
    check("softmax -1", [](const auto& x) { return tt::softmax<-1>(x); });
    check("log_softmax 0", [](const auto& x) { return tt::log_softmax<0>(x); });
  }
  if constexpr (!std::is_same_v<T, bool>) {
    const auto any = sampled<Array<T, 5, 70, 11>>();
    check_function("amax", [](const auto& x) { return tt::amax(x); }, any);
    check_function("amax 1", [](const auto& x) { return tt::amax<1>(x); }, any);
    check_function("amin 2", [](const auto& x) { return tt::amin<2>(x); }, any);
    check_function("argmax 1", [](const auto& x) { return tt::argmax<1>(x); }, any);
    check_function("argmax -1", [](const auto& x) { return tt::argmax<-1>(x); }, any);
  }
}

TEST_CASE("the axis of a reduction may be an argument") {
  const auto a = moderate<Array<float, 5, 70, 11>>();
  const Tensor x = tt::as_tensor(const_cast<Array<float, 5, 70, 11>&>(a));
  CHECK(same_elements(x.sum(1), tt::sum<1>(x)));
  CHECK(same_elements(x.sum(-1, true), tt::sum_keepdim<2>(x)));
  CHECK(same_elements(x.mean(), tt::mean(x)));
  CHECK(same_elements(tt::var(x, 0), tt::var<0>(x)));
  CHECK(same_elements(x.amax(-3), tt::amax<0>(x)));
  CHECK(same_elements(x.argmax(1), tt::argmax<1>(x)));
  CHECK(same_elements(x.softmax(2), tt::softmax<2>(x)));
  CHECK(same_elements(x.log_softmax(1), tt::log_softmax<1>(x)));
  CHECK(same_elements(tt::logsumexp(x, 1, true), tt::logsumexp<1>(x).unsqueeze(1)));
}

TEST_CASE("the axes of a reduction may be arguments") {
  const auto a = moderate<Array<float, 5, 70, 11>>();
  const Tensor x = tt::as_tensor(const_cast<Array<float, 5, 70, 11>&>(a));
  CHECK(same_elements(x.sum({0, 2}), tt::sum<0, 2>(x)));
  CHECK(same_elements(tt::sum(x, {-1, 0}), tt::sum<0, 2>(x)));
  CHECK(same_elements(x.mean({1, 2}, true), tt::mean_keepdim<1, 2>(x)));
  CHECK(same_elements(tt::mean(x, {1, 2}, true), tt::mean_keepdim<1, 2>(x)));
  CHECK(same_elements(x.var({0, 1}), tt::var<0, 1>(x)));
  CHECK(same_elements(tt::var(x, {2}, 1, true), tt::var<2>(x).unsqueeze(2)));
  CHECK(same_elements(x.amax({0, 1}), tt::amax<0, 1>(x)));
  CHECK(same_elements(tt::amin(x, {0, 1}), tt::amin<0, 1>(x)));
  CHECK(same_elements(tt::logsumexp(x, {0, 1, 2}), tt::logsumexp(x)));
  CHECK(same_elements(x.sum({}), x.sum()));  // none: all, as in PyTorch
  CHECK(same_elements(tt::sum(x, {}), x.sum()));
  tt::IntList axes;
  for (int k = 2; k > 0; --k) axes.push_back(k);
  CHECK(same_elements(x.sum(axes), tt::sum<1, 2>(x)));
  const auto spread = tt::compile([](const Tensor& t) { return t.var({0, 2}, 1, true) + tt::sum(t, {0, 2}, true); });
  CHECK(same_elements(spread(x), tt::var<0, 2>(x).reshape({1, 70, 1}) + tt::sum_keepdim<0, 2>(x)));
}

TEST_CASE_TEMPLATE("functions on Tensors have the bits of fuse, or of the reference executor", T, float, double) {
  const auto a = moderate<Array<T, 23, 40>>();
  const auto b = moderate<Array<T, 40, 9>>();
  const auto c = moderate<Array<T, 3, 23, 40>>();
  const auto v = moderate<Array<T, 40>>();
  const auto product = [](const auto& x, const auto& y) { return tt::matmul(x, y); };
  check_function("matmul", product, a, b);
  check_function("matmul of a batch", product, c, b);
  check_function("matmul by a vector", product, a, v);
  check_function("matmul of a vector", product, v, b);
  check_function("matmul of vectors", product, v, v);
  check_function("matmul of another batch", product, c, moderate<Array<T, 3, 40, 2>>());
  check_function("mse_loss", [](const auto& x, const auto& y) { return tt::mse_loss(x, y); }, a, moderate<Array<T, 23, 40>>());
  Array<std::int64_t, 23> label;
  for (std::int64_t i = 0; i < 23; ++i) label(i) = i * 7 % 40;
  check_function("cross_entropy", [](const auto& x, const auto& y) { return tt::cross_entropy(x, y); }, a, label);
  check_function("rand_like", [](const auto& x) { return tt::rand_like(x, 5); }, a);
  check_function("randn_like", [](const auto& x) { return tt::randn_like(x, 5); }, a);
  check_function("detach", [](const auto& x) { return tt::detach(x); }, a);
  check_function("transpose", [](const auto& x) { return tt::transpose(x); }, c);
  check_function("permute", [](const auto& x) { return tt::permute<2, 0, 1>(x); }, c);
  check_function("reshape", [](const auto& x) { return tt::reshape<20, 3, 46>(x); }, c);
  check_function("broadcast_to", [](const auto& x) { return tt::broadcast_to<2, 40>(x); }, v);
  check_function("slice", [](const auto& x) { return tt::slice<1, 2, 19, 4>(x); }, c);
}

TEST_CASE_TEMPLATE("casts of Tensors have the bits of fuse, or of the reference executor", T, float, double, std::int32_t, std::int64_t, bool) {
  const auto a = sampled<Matrix<T>>();
  check_function("to bool", [](const auto& x) { return tt::cast<bool>(x); }, a);
  check_function("to i32", [](const auto& x) { return tt::cast<std::int32_t>(x); }, a);
  check_function("to i64", [](const auto& x) { return tt::cast<std::int64_t>(x); }, a);
  check_function("to f32", [](const auto& x) { return tt::cast<float>(x); }, a);
  check_function("to f64", [](const auto& x) { return tt::cast<double>(x); }, a);
  if constexpr (sizeof(T) == 4) check_function("bits", [](const auto& x) { return tt::bitcast<std::int32_t>(x); }, a);
}

TEST_CASE("a chain of ops, the same text on Tensors and in fuse") {
  const auto x = moderate<Array<float, 8, 30>>();
  const auto w = moderate<Array<float, 30, 6>>();
  const auto b = moderate<Array<float, 6>>();
  check_function("layer", [](const auto& p, const auto& q, const auto& r) {
    return tt::mean<0>(tt::softmax<1>(tt::gelu(tt::matmul(p, q) * 0.125 + r)) - 1);
  }, x, w, b);
}
