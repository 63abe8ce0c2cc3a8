// Functions of shapes and products that are told in their types what they are told (functional/view_ops.hpp, functional/contractions.hpp): on Arrays they give
// what the calls of that name give on Tensors, on Tensors and symbols the same, and gradients go through.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "tensors.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Array;
using tt::BoxedValue;
using tt::IntList;
using tt::Tensor;

template <std::int64_t... E>
Array<float, E...> made(int first) {
  Array<float, E...> a;
  int n = first;
  for (float& x : a) x = static_cast<float>(n++ % 7 * 2 - 7);  // whole numbers: sums are exact in any order; no zero, whose sign hangs on how a product is made
  return a;
}
template <class A>
Tensor tensor_of(const A& a) {
  return tt::as_tensor(A(a));
}
/// The names that were checked here: tests/data/array_functions.txt has them, which docs/ops.md says.
std::set<std::string> checked;

/// f of Arrays, with TT_ALL_FORMS as a fused function too, and result number `which` of the call by name, which it gives.
template <int Which = 0, class F, class... A>
Tensor check_arrays(const char* name, std::initializer_list<BoxedValue> more, F f, const A&... a) {
  CAPTURE(std::string(name));
  checked.insert(name);
  std::vector<BoxedValue> arguments{BoxedValue(tensor_of(a))...};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Tensor expected = tt::call_results(name, arguments)[Which].contiguous();
  const Tensor got = tensor_of(tt::eval(f(a...)));
  CHECK(got.shape() == expected.shape());
  CHECK(same_bits(got, expected));
#ifdef TT_ALL_FORMS
  CHECK(same_bits(tensor_of(tt::eval(tt::fuse(f)(a...))), expected));
#endif
  return expected;
}
/// The same, and f of Tensors.
template <class F, class... A>
void check(const char* name, std::initializer_list<BoxedValue> more, F f, const A&... a) {
  const Tensor expected = check_arrays(name, more, f, a...);
  CAPTURE(std::string(name));
  CHECK(same_bits(Tensor(f(tensor_of(a)...)).contiguous(), expected));
}

}  // namespace

TEST_CASE("shapes") {
  const auto a = made<2, 3, 4>(0);
  check("unsqueeze", {1}, [](const auto& x) { return tt::unsqueeze<1>(x); }, a);
  check("unsqueeze", {-1}, [](const auto& x) { return tt::unsqueeze<-1>(x); }, a);
  check("squeeze", {1}, [](const auto& x) { return tt::squeeze<1>(x); }, made<2, 1, 3>(1));
  check("squeeze", {0}, [](const auto& x) { return tt::squeeze<0>(x); }, a);
  check("flatten", {1}, [](const auto& x) { return tt::flatten<1>(x); }, a);
  check("flatten", {0, 1}, [](const auto& x) { return tt::flatten<0, 1>(x); }, a);
  check("unflatten", {2, IntList{2, -1}}, [](const auto& x) { return tt::unflatten<2, 2, -1>(x); }, a);
  check("movedim", {0, -1}, [](const auto& x) { return tt::movedim<0, -1>(x); }, a);
  check("movedim", {2, 0}, [](const auto& x) { return tt::movedim<2, 0>(x); }, a);
  check("swapaxes", {0, 2}, [](const auto& x) { return tt::swapaxes<0, 2>(x); }, a);
  check("select", {1, -1}, [](const auto& x) { return tt::select<1, -1>(x); }, a);
  check("narrow", {2, 1, 2}, [](const auto& x) { return tt::narrow<2, 1, 2>(x); }, a);
  check("narrow", {2, -3, 2}, [](const auto& x) { return tt::narrow<2, -3, 2>(x); }, a);
  check("expand", {IntList{5, -1, 3}}, [](const auto& x) { return tt::expand<5, -1, 3>(x); }, made<2, 1>(0));
  check("roll", {IntList{3}, IntList{2}}, [](const auto& x) { return tt::roll<3, 2>(x); }, a);
  check("roll", {IntList{-4}, IntList{1}}, [](const auto& x) { return tt::roll<-4, 1>(x); }, a);
  check("repeat", {IntList{2, 1, 3}}, [](const auto& x) { return tt::repeat<2, 1, 3>(x); }, made<3, 2>(0));
  check("transpose", {0, 2}, [](const auto& x) { return tt::transpose<0, 2>(x); }, a);
  check("t", {}, [](const auto& x) { return tt::transpose(x); }, made<2, 3>(0));
  check("mT", {}, [](const auto& x) { return tt::transpose(x); }, a);
  check("permute", {IntList{2, 0, 1}}, [](const auto& x) { return tt::permute<2, 0, 1>(x); }, a);
  check("reshape", {IntList{4, -1}}, [](const auto& x) { return tt::reshape<4, -1>(x); }, a);
  check("broadcast_to", {IntList{2, 3, 4}}, [](const auto& x) { return tt::broadcast_to<2, 3, 4>(x); }, made<3, 1>(0));
  check("slice", {2, 1, 4, 2}, [](const auto& x) { return tt::slice<2, 1, 4, 2>(x); }, a);
  check("slice", {2, -3, -1}, [](const auto& x) { return tt::slice<2, -3, -1>(x); }, a);
  check("slice", {2, 1, 100, 2}, [](const auto& x) { return tt::slice<2, 1, 100, 2>(x); }, a);
  check("gt", {}, [](const auto& x, const auto& y) { return x > y; }, a, made<2, 3, 4>(3));
  check("ge", {}, [](const auto& x, const auto& y) { return x >= y; }, a, made<2, 3, 4>(3));
  check("double", {}, [](const auto& x) { return tt::cast<double>(x); }, a);
  check("int", {}, [](const auto& x) { return tt::cast<std::int32_t>(x); }, a);
  check("long", {}, [](const auto& x) { return tt::cast<std::int64_t>(x); }, a);
  check("repeat_interleave", {2, 1}, [](const auto& x) { return tt::repeat_interleave<2, 1>(x); }, a);
}
TEST_CASE("diagonals") {
  check("diagonal", {0}, [](const auto& x) { return tt::diagonal<0>(x); }, made<3, 3>(0));
  check("diagonal", {1}, [](const auto& x) { return tt::diagonal<1>(x); }, made<3, 5>(0));
  check("diagonal", {-2}, [](const auto& x) { return tt::diagonal<-2>(x); }, made<5, 4>(0));
  check("diagonal", {4}, [](const auto& x) { return tt::diagonal<4>(x); }, made<3, 4>(0));
  check("diagonal", {1, 2, 0}, [](const auto& x) { return tt::diagonal<1, 2, 0>(x); }, made<3, 2, 4>(0));
}
TEST_CASE("parts of an axis") {
  const auto a = made<7, 3>(0);
  const Tensor t = tensor_of(a);
  const auto same = [&](const auto& parts, const std::vector<Tensor>& expected) {
    std::size_t k = 0;
    const auto check_part = [&](const auto& p) { CHECK(same_bits(tensor_of(tt::eval(p)), expected[k++].contiguous())); };
    std::apply([&](const auto&... p) { (check_part(p), ...); }, parts);
    CHECK(k == expected.size());
  };
  checked.insert({"chunk", "split"});
  same(tt::chunk<3>(a), tt::call_results("chunk", {t, 3}));
  same(tt::chunk<3, 1>(a), tt::call_results("chunk", {t, 3, 1}));
  same(tt::split<0, 2, 4, 1>(a), tt::call_results("split", {t, IntList{2, 4, 1}}));
  same(tt::chunk<2, 0>(a * 2 + 1), tt::call_results("chunk", {t * 2 + 1, 2}));  // of what has no name
  const auto [first, second] = tt::chunk<2>(t);
  CHECK(same_bits(tt::cat({first, second}), t));
}
TEST_CASE("products of linear algebra") {
  const auto a = made<3, 4>(0);
  const auto b = made<3, 4>(5);
  const auto v = made<4>(2);
  check("mm", {}, [](const auto& x, const auto& y) { return tt::mm(x, y); }, a, made<4, 5>(1));
  check("bmm", {}, [](const auto& x, const auto& y) { return tt::bmm(x, y); }, made<2, 3, 4>(0), made<2, 4, 5>(3));
  check("mv", {}, [](const auto& x, const auto& y) { return tt::mv(x, y); }, a, v);
  check("dot", {}, [](const auto& x, const auto& y) { return tt::dot(x, y); }, v, made<4>(6));
  check("outer", {}, [](const auto& x, const auto& y) { return tt::outer(x, y); }, v, made<3>(6));
  check("tensordot", {2}, [](const auto& x, const auto& y) { return tt::tensordot<2>(x, y); }, made<2, 3, 4>(0), made<3, 4, 5>(3));
  check("tensordot", {0}, [](const auto& x, const auto& y) { return tt::tensordot<0>(x, y); }, a, v);
  const Tensor sum = tensor_of(tt::eval(tt::sum(tt::einsum<"ij,ij->">(a, b))));
  CHECK(sum.item() == (tensor_of(a) * tensor_of(b)).sum().item());
}
TEST_CASE("products with a summand") {
  const auto a = made<3, 4>(0);
  const auto b = made<4, 5>(1);
  const auto c = made<3, 5>(2);
  check_arrays("addmm", {}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm(x, y, z); }, c, a, b);
  check_arrays("addmm", {0.5, 2}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm<0.5, 2.0>(x, y, z); }, made<5>(3), a, b);
  const Array<float, 1, 1> nan{{__builtin_nanf("")}};
  check_arrays("addmm", {0}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm<0.0>(x, y, z); }, nan, a, b);
  const Array<std::int32_t, 2, 2> whole{{1, 2}, {3, 4}};
  check_arrays("addmm", {3, -2}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm<3.0, -2.0>(x, y, z); }, whole, whole, whole);
  check_arrays("addmv", {}, [](const auto& x, const auto& y, const auto& z) { return tt::addmv(x, y, z); }, made<3>(1), a, made<4>(2));
  check_arrays("addr", {2}, [](const auto& x, const auto& y, const auto& z) { return tt::addr<2.0>(x, y, z); }, a, made<3>(2), made<4>(2));
  check_arrays("baddbmm", {1, 0.25}, [](const auto& x, const auto& y, const auto& z) { return tt::baddbmm<1.0, 0.25>(x, y, z); }, made<2, 3, 5>(1), made<2, 3, 4>(1), made<2, 4, 5>(3));
  check_arrays("addbmm", {}, [](const auto& x, const auto& y, const auto& z) { return tt::addbmm(x, y, z); }, c, made<2, 3, 4>(1), made<2, 4, 5>(3));
  check_arrays("addbmm", {}, [](const auto& x, const auto& y, const auto& z) { return tt::addbmm(x, y, z); }, whole, Array<std::int32_t, 1, 2, 2>{{{1, 2}, {3, 4}}}, Array<std::int32_t, 1, 2, 2>{{{5, 2}, {3, -4}}});
  check_arrays("inner", {}, [](const auto& x, const auto& y) { return tt::inner(x, y); }, a, made<2, 5, 4>(1));
  check_arrays("inner", {}, [](const auto& x, const auto& y) { return tt::inner(x, y); }, made<4>(0), made<4>(1));
  check_arrays("vdot", {}, [](const auto& x, const auto& y) { return tt::vdot(x, y); }, made<4>(0), made<4>(1));
  check_arrays("linalg_vecdot", {}, [](const auto& x, const auto& y) { return tt::linalg::vecdot(x, y); }, a, made<4>(1));
  check_arrays("linalg_vecdot", {0}, [](const auto& x, const auto& y) { return tt::linalg::vecdot<0>(x, y); }, a, made<3, 1>(1));
  check_arrays("cross", {BoxedValue(-1)}, [](const auto& x, const auto& y) { return tt::cross(x, y); }, made<4, 3>(0), made<1, 3>(1));
  check_arrays("linalg_cross", {0}, [](const auto& x, const auto& y) { return tt::cross<0>(x, y); }, a, made<3, 4>(4));
  check_arrays("trace", {}, [](const auto& x) { return tt::trace(x); }, a);
  check_arrays("trace", {}, [](const auto& x) { return tt::trace(x); }, whole);
}
TEST_CASE("composites of other dtypes") {
  const Array<std::int32_t, 2, 2> whole{{1, 2}, {3, 4}};
  check_arrays("addmm", {1, 2.0}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm<1.0, 2.0>(x, y, z); }, whole, whole, whole);
  const auto narrow = [&]<class T>(T) {
    const auto a = tt::eval(tt::cast<T>(made<3, 4>(1)));
    const auto b = tt::eval(tt::cast<T>(made<4, 3>(2)));
    const auto c = tt::eval(tt::cast<T>(made<3, 3>(4)));
    check_arrays("softmin", {1}, [](const auto& x) { return tt::softmin<1>(x); }, a);
    check_arrays("norm", {2, IntList{1}}, [](const auto& x) { return tt::norm<1>(x); }, a);
    check_arrays("addmm", {}, [](const auto& x, const auto& y, const auto& z) { return tt::addmm(x, y, z); }, c, a, b);
    check_arrays("diff", {}, [](const auto& x) { return tt::diff(x); }, a);
    check_arrays("trace", {}, [](const auto& x) { return tt::trace(x); }, c);
  };
  narrow(tt::float16());
  narrow(tt::bfloat16());
  check_arrays("flipud", {}, [](const auto& x) { return tt::flipud(x); }, Array<float, 0, 2>());
  check_arrays("diff", {}, [](const auto& x) { return tt::diff(x); }, Array<float, 2, 0>());
  check_arrays("trace", {}, [](const auto& x) { return tt::trace(x); }, Array<float, 0, 2>());
}
TEST_CASE("norms and summaries") {
  const auto a = made<3, 4>(0);
  const auto b = made<3, 4>(3);
  constexpr double inf = __builtin_inf();
  check_arrays("norm", {}, [](const auto& x) { return tt::norm(x); }, a);
  check_arrays("norm", {2, IntList{1}}, [](const auto& x) { return tt::norm<1>(x); }, a);
  check_arrays("linalg_vector_norm", {1, IntList{0}}, [](const auto& x) { return tt::linalg::vector_norm<1.0, 0>(x); }, a);
  check_arrays("linalg_vector_norm", {inf, IntList{0, 1}}, [](const auto& x) { return tt::linalg::vector_norm<__builtin_inf(), 0, 1>(x); }, a);
  check_arrays("linalg_vector_norm", {-inf}, [](const auto& x) { return tt::linalg::vector_norm<-__builtin_inf()>(x); }, a);
  check_arrays("linalg_vector_norm", {0}, [](const auto& x) { return tt::linalg::vector_norm<0.0>(x); }, Array<float, 3>{0, 2, -1});
  check_arrays("linalg_vector_norm", {3, IntList{1}}, [](const auto& x) { return tt::linalg::vector_norm<3.0, 1>(x); }, a);
  check_arrays("dist", {}, [](const auto& x, const auto& y) { return tt::dist(x, y); }, a, b);
  check_arrays("dist", {1}, [](const auto& x, const auto& y) { return tt::dist<1.0>(x, y); }, a, made<4>(3));
  check_arrays<0>("var_mean", {IntList{1}}, [](const auto& x) { return std::get<0>(tt::var_mean<1>(x)); }, a);
  check_arrays<1>("var_mean", {}, [](const auto& x) { return std::get<1>(tt::var_mean(x)); }, a);
  check_arrays<0>("std_mean", {IntList{0}}, [](const auto& x) { return std::get<0>(tt::std_mean<0>(x)); }, a);
  check_arrays<1>("std_mean", {IntList{0}}, [](const auto& x) { return std::get<1>(tt::std_mean<0>(x)); }, a);
  check_arrays<0>("aminmax", {1}, [](const auto& x) { return std::get<0>(tt::aminmax<1>(x)); }, a);
  check_arrays<1>("aminmax", {}, [](const auto& x) { return std::get<1>(tt::aminmax(x)); }, a);
  check_arrays("nanmean", {IntList{1}}, [](const auto& x) { return tt::nanmean<1>(x); }, Array<float, 2, 3>{{1, __builtin_nanf(""), 4}, {0, 0, 3}});
  check_arrays("softmin", {1}, [](const auto& x) { return tt::softmin<1>(x); }, a);
  check_arrays("diff", {}, [](const auto& x) { return tt::diff(x); }, a);
  check_arrays("diff", {2, 0}, [](const auto& x) { return tt::diff<2, 0>(x); }, a);
  check_arrays("diff", {5, 0}, [](const auto& x) { return tt::diff<5, 0>(x); }, a);
  for (const char* name : {"trapezoid", "trapz"}) check_arrays(name, {}, [](const auto& x) { return tt::trapezoid(x); }, a);
  check_arrays("clamp_min", {2}, [](const auto& x) { return tt::clamp_min(x, 2); }, a);
  check_arrays("clamp_max", {}, [](const auto& x, const auto& y) { return tt::clamp_max(x, y); }, a, b);
  check_arrays("true_divide", {}, [](const auto& x, const auto& y) { return x / y; }, a, b);
  check_arrays("divide", {}, [](const auto& x, const auto& y) { return tt::divide(x, y); }, a, b);
  check_arrays("subtract", {}, [](const auto& x, const auto& y) { return tt::subtract(x, y); }, a, b);
  check_arrays("greater", {}, [](const auto& x, const auto& y) { return tt::greater(x, y); }, a, b);
  check_arrays("greater_equal", {}, [](const auto& x, const auto& y) { return tt::greater_equal(x, y); }, a, b);
  check_arrays("clip", {-2, 3}, [](const auto& x) { return tt::clip(x, -2, 3); }, a);
  check_arrays("clip", {-2}, [](const auto& x) { return tt::clip(x, -2); }, a);
  check_arrays("rsub", {2}, [](const auto& x) { return 2 - x; }, a);
  check_arrays("bool", {}, [](const auto& x) { return tt::cast<bool>(x); }, a);
  check_arrays("byte", {}, [](const auto& x) { return tt::cast<std::uint8_t>(tt::abs(x)); }, made<3>(4));
  check_arrays("char", {}, [](const auto& x) { return tt::cast<std::int8_t>(x); }, a);
  check_arrays("short", {}, [](const auto& x) { return tt::cast<std::int16_t>(x); }, a);
  check_arrays("half", {}, [](const auto& x) { return tt::cast<tt::float16>(x); }, a);
  check_arrays("float", {}, [](const auto& x) { return tt::cast<float>(x); }, a);
  check_arrays("bfloat16", {}, [](const auto& x) { return tt::cast<tt::bfloat16>(x); }, a);
}
TEST_CASE("joined by rows and columns, turned, and as diagonals") {
  const auto a = made<3, 4>(0);
  const auto v = made<4>(2);
  const auto three = made<2, 3, 4>(0);
  const Array<float> number = 3.f;
  const auto joined = [](const char* name, const auto& f, const auto&... x) {
    checked.insert(name);
    CAPTURE(std::string(name));
    const Tensor expected = tt::call(name, {std::vector<Tensor>{tensor_of(x)...}}).contiguous();
    const Tensor got = tensor_of(tt::eval(f(x...)));
    CHECK(got.shape() == expected.shape());
    CHECK(same_bits(got, expected));
  };
  const auto hstack = [](const auto&... x) { return tt::hstack(x...); };
  const auto vstack = [](const auto&... x) { return tt::vstack(x...); };
  const auto dstack = [](const auto&... x) { return tt::dstack(x...); };
  const auto column_stack = [](const auto&... x) { return tt::column_stack(x...); };
  joined("hstack", hstack, a, made<3, 1>(2));
  joined("hstack", hstack, v, made<2>(2), v, v, v);
  joined("hstack", hstack, number, number);
  joined("vstack", vstack, a, v, v);
  joined("vstack", vstack, number, number);
  joined("dstack", dstack, a, a);
  joined("dstack", dstack, v, v);
  joined("dstack", dstack, three, three, three);
  joined("column_stack", column_stack, made<3>(1), a, made<3>(2));
  check_arrays("atleast_1d", {}, [](const auto& x) { return tt::atleast_1d(x); }, number);
  check_arrays("atleast_2d", {}, [](const auto& x) { return tt::atleast_2d(x); }, v);
  check_arrays("atleast_3d", {}, [](const auto& x) { return tt::atleast_3d(x); }, number);
  check_arrays("atleast_3d", {}, [](const auto& x) { return tt::atleast_3d(x); }, v);
  check_arrays("atleast_3d", {}, [](const auto& x) { return tt::atleast_3d(x); }, a);
  check_arrays("flip", {IntList{0, 1}}, [](const auto& x) { return tt::flip<0, 1>(x); }, a);
  check_arrays("fliplr", {}, [](const auto& x) { return tt::fliplr(x); }, a);
  tt::Array<float, 3, 4> own = a, turned = tt::fuse([](const auto& x) { return tt::flip<0>(x) * tt::nansum<0>(x) + tt::polygamma<1>(x + 9); })(a);
  const tt::Tensor t = tt::as_tensor(own);
  CHECK(tt::allclose(tt::as_tensor(turned), tt::flip(t, {0}) * tt::nansum(t, 0) + tt::polygamma(1, t + 9)));
  check_arrays("flipud", {}, [](const auto& x) { return tt::flipud(x); }, v);
  check_arrays("rot90", {}, [](const auto& x) { return tt::rot90(x); }, a);
  check_arrays("rot90", {-1, IntList{0, 2}}, [](const auto& x) { return tt::rot90<-1, 0, 2>(x); }, three);
  check_arrays("rot90", {2, IntList{1, 2}}, [](const auto& x) { return tt::rot90<2, 1, 2>(x); }, three);
  check_arrays("rot90", {4}, [](const auto& x) { return tt::rot90<4>(x); }, a);
  check_arrays("ravel", {}, [](const auto& x) { return tt::ravel(x); }, three);
  check_arrays("diag_embed", {}, [](const auto& x) { return tt::diag_embed(x); }, a);
  check_arrays("diag_embed", {-2}, [](const auto& x) { return tt::diag_embed<-2>(x); }, v);
  check_arrays("diag", {1}, [](const auto& x) { return tt::diag<1>(x); }, v);
  check_arrays("diag", {-1}, [](const auto& x) { return tt::diag<-1>(x); }, a);
  check_arrays("diagflat", {}, [](const auto& x) { return tt::diagflat(x); }, a);
  check_arrays("reshape_as", {}, [](const auto& x, const auto& y) { return tt::reshape_as(x, y); }, a, made<2, 6>(0));
  check_arrays("view_as", {}, [](const auto& x, const auto& y) { return tt::reshape_as(x, y); }, a, made<12>(0));
  check_arrays("expand_as", {}, [](const auto& x, const auto& y) { return tt::expand_as(x, y); }, v, three);
  check_arrays("view", {IntList{2, -1}}, [](const auto& x) { return tt::reshape<2, -1>(x); }, a);
  check_arrays("linalg_diagonal", {1}, [](const auto& x) { return tt::diagonal<1, -2, -1>(x); }, three);
  for (const char* name : {"T", "H", "mH"}) check_arrays(name, {}, [](const auto& x) { return tt::transpose(x); }, a);
}
namespace {
/// einsum<T> beside the same text at run time.
template <tt::FixedText T, class... A>
void check_einsum(const A&... a) {
  CAPTURE(std::string(T.text));
  const Tensor expected = tt::einsum(T.text, {tensor_of(a)...}).contiguous();
  const Tensor got = tensor_of(tt::eval(tt::einsum<T>(a...)));
  CHECK(got.shape() == expected.shape());
  CHECK(same_bits(got, expected));
  CHECK(same_bits(Tensor(tt::einsum<T>(tensor_of(a)...)).contiguous(), expected));
}
}  // namespace
TEST_CASE("einsum with a text that is known when the program is compiled") {
  const auto a = made<2, 3>(0);
  const auto b = made<3, 4>(1);
  const auto square = made<3, 3>(2);
  const auto u = made<2>(0);
  const auto v = made<3>(1);
  checked.insert("einsum");
  check_einsum<"ij,jk->ik">(a, b);
  check_einsum<"ij,jk">(a, b);
  check_einsum<"ij, jk -> ki">(a, b);
  check_einsum<"bij,bjk->bik">(made<2, 3, 4>(0), made<2, 4, 5>(3));
  check_einsum<"bhqd,bhkd->bhqk">(made<2, 2, 3, 4>(0), made<2, 2, 5, 4>(3));
  check_einsum<"i,j->ij">(u, v);
  check_einsum<"i,i->">(v, made<3>(4));
  check_einsum<"ij->ji">(a);
  check_einsum<"...ij,...jk->...ik">(made<2, 3, 4>(0), made<2, 4, 5>(3));
  check_einsum<"...ij,jk">(made<2, 3, 4>(0), made<4, 2>(3));
  check_einsum<"i...,i...->...">(a, a);
  check_einsum<"ij->j">(a);
  check_einsum<"ij->">(a);
  check_einsum<"ii->i">(square);
  check_einsum<"ii">(square);
  check_einsum<"iji->j">(made<3, 2, 3>(0));
  check_einsum<"ij,j->i">(a, v);
  check_einsum<"i,ij,j->">(u, a, v);
  check_einsum<"ij,jk,kl->il">(a, b, made<4, 2>(3));
  check_einsum<"i,j,k->kji">(u, v, made<4>(1));
  check_einsum<"ijkl,jmln->ikmn">(made<2, 3, 2, 2>(0), made<3, 4, 2, 5>(1));
  check_einsum<"abc,cb->a">(made<2, 3, 4>(0), made<4, 3>(1));
  check_einsum<"Ab,bA->A">(a, made<3, 2>(1));
}
TEST_CASE("gradients, and extents that are known at run time") {
  const auto loss = [](const auto& x, const auto& y) { return tt::sum(tt::square(tt::einsum<"ij,kj->ik">(x, tt::roll<1, 0>(y)))); };
  const auto a = made<2, 3>(0);
  const auto b = made<4, 3>(1);
  const auto [slope, other] = tt::grad<0, 1>(loss)(a, b);
  const Tensor x = tensor_of(a).requires_grad_(), y = tensor_of(b).requires_grad_();
  loss(x, y).backward();
  CHECK(same_bits(tensor_of(slope), x.grad()));
  CHECK(same_bits(tensor_of(other), y.grad()));
  Array<float, tt::dyn, 3> rows(2);
  std::copy(a.begin(), a.end(), rows.begin());
  const auto product = tt::eval(tt::einsum<"ij,kj->ik">(rows, b));
  CHECK(same_bits(tensor_of(product), tensor_of(tt::eval(tt::einsum<"ij,kj->ik">(a, b)))));
  const auto flat = tt::eval(tt::flatten<0>(rows));
  CHECK(flat.size() == 6);
}

TEST_CASE("gradients of composites") {
  const auto a = made<3, 4>(0);
  const auto b = made<3, 4>(3);
  const auto slopes = [&](const auto& of_arrays, const auto& of_tensors) {
    const auto [slope, other] = tt::grad<0, 1>(of_arrays)(a, b);
    const Tensor x = tensor_of(a).requires_grad_(), y = tensor_of(b).requires_grad_();
    of_tensors(x, y).backward();
    CHECK(tt::allclose(tensor_of(slope), x.grad(), 1e-5, 1e-6));
    CHECK(tt::allclose(tensor_of(other), y.grad(), 1e-5, 1e-6));
  };
  slopes([](const auto& x, const auto& y) { return tt::sum(tt::square(tt::addmm<0.5, 2.0>(x, tt::inner(x, y), y))); },
         [](const Tensor& x, const Tensor& y) { return tt::square(tt::addmm(x, tt::inner(x, y), y, 0.5, 2)).sum(); });
  slopes([](const auto& x, const auto& y) { return tt::sum(tt::norm<1>(x) * tt::linalg::vector_norm<3.0, 1>(y)) + tt::dist(x, y); },
         [](const Tensor& x, const Tensor& y) { return (tt::norm(x, 2, {1}) * tt::linalg::vector_norm(y, 3, {1})).sum() + tt::dist(x, y); });
  slopes([](const auto& x, const auto& y) { return tt::sum(tt::square(tt::vstack(tt::rot90<2>(tt::cross<0>(x, y)), tt::diff<1, 1>(tt::hstack(x, tt::narrow<1, 0, 1>(y)))))); },
         [](const Tensor& x, const Tensor& y) { return tt::square(tt::vstack({tt::rot90(tt::cross(x, y, 0), 2), tt::diff(tt::hstack({x, y.narrow(1, 0, 1)}), 1, 1)})).sum(); });
}
TEST_CASE("integers, empty axes, extents of 1, and scalars") {
  const Array<std::int32_t, 2, 2> a{{1, 2}, {3, 4}};
  const Array<std::int32_t, 2> v{5, -6};
  const auto dtype_and_values = [](const auto& array, const Tensor& expected) { CHECK(same_bits(tensor_of(tt::eval(array)), expected.contiguous())); };
  dtype_and_values(tt::einsum<"ij,j->i">(a, v), tt::einsum("ij,j->i", {tensor_of(a), tensor_of(v)}));
  dtype_and_values(tt::einsum<"ij,ij->">(a, a), tt::einsum("ij,ij->", {tensor_of(a), tensor_of(a)}));
  dtype_and_values(tt::einsum<"ij,jk->ik">(a, a), tt::einsum("ij,jk->ik", {tensor_of(a), tensor_of(a)}));
  dtype_and_values(tt::tensordot<1>(a, v), tt::tensordot(tensor_of(a), tensor_of(v), 1));
  const auto row = made<1, 3>(0);
  const auto square = made<3, 3>(1);
  check_einsum<"ij,jk->ik">(row, square);
  check_einsum<"ij,ij->ij">(row, square);
  CHECK(tt::eval(tt::squeeze(made<1, 3, 1>(0))).size() == 3);
  static_assert(std::is_same_v<decltype(tt::eval(tt::squeeze(made<1, 3, 1>(0)))), Array<float, 3>>);
  static_assert(std::is_same_v<decltype(tt::eval(tt::flatten(made<2, 3>(0)))), Array<float, 6>>);
  static_assert(std::is_same_v<decltype(tt::eval(tt::unflatten<0, 0, 3>(Array<float, 0>()))), Array<float, 0, 3>>);
  const auto [all, none] = tt::split<0, 3, 0>(square);
  CHECK(tt::eval(none).size() == 0);
  CHECK(tt::eval(all).size() == 9);
}
TEST_CASE("extents that are known at run time are checked then") {
  using Matrix = Array<float, tt::dyn, tt::dyn>;
  Matrix a(2, 3), b(3, 4), wrong(2, 4);
  std::ranges::fill(a, 2.f), std::ranges::fill(b, 3.f);
  const auto product = tt::eval(tt::einsum<"ij,jk->ik">(a, b));
  CHECK(product(1, 3) == 18);
  CHECK(message([&] { tt::eval(tt::einsum<"ij,jk->ik">(a, wrong)); }).find("einsum: shapes differ") != std::string::npos);
  Array<float, tt::dyn> v(3);
  std::ranges::fill(v, 2.f);
  CHECK(tt::eval(tt::einsum<"i,i->">(v, Array<float, 3>{1, 2, 3})).item() == 12);
  const auto [first, second] = tt::split<0, 1, 2>(v);
  CHECK(tt::eval(second).size() == 2);
  CHECK(message([&] { tt::eval(std::get<0>(tt::split<0, 2, 2>(v))); }).find("split: numbers of elements differ") != std::string::npos);
  CHECK(tt::eval(tt::select<0, 2>(v)).item() == 2);
  CHECK(message([&] { tt::eval(tt::select<0, 3>(v)); }).find("select: slice is out of range: 3") != std::string::npos);
  CHECK(tt::eval(tt::unflatten<0, -1, 1>(v)).size() == 3);
}
TEST_CASE("an error of Tensors names the caller's line") {
  const Tensor x = tt::ones({2, 3});
  CHECK(contains(message([&] { tt::einsum<"ij,jk->ik">(x, x); }), "test_array_functions.cpp"));
  CHECK(contains(message([&] { tt::split<0, 2, 2>(x); }), "do not make up axis 0"));
}
TEST_CASE("the list of these functions") {
  std::ifstream file("tests/data/array_functions.txt");
  std::set<std::string> listed;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') listed.insert(line);
  CHECK(listed == checked);
}
