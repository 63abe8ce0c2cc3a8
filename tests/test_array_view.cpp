// ArrayView: expressions and fused functions on elements that lie elsewhere, whatever overlaps, and those of Tensors.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <vector>

#include "tensors.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Array;
using tt::ArrayView;
using tt::dyn;

std::vector<float> counted(int n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

/// What `assign(to, a, b)` leaves in a buffer is what it gives on copies, and nothing beside the destination is touched.
template <class To, class A, class B, class F>
void check_overlaps(F assign) {
  for (int to = 0; to <= 20; to += 5)
    for (int a = 0; a <= 20; a += 4)
      for (int b = 0; b <= 20; b += 10) {
        CAPTURE(to);
        CAPTURE(a);
        CAPTURE(b);
        std::vector<float> v = counted(64), expected = v;
        typename To::Array result = To(expected.data() + to).eval();
        const typename A::Array copy_of_a = A(v.data() + a).eval();
        const typename B::Array copy_of_b = B(v.data() + b).eval();
        assign(result, copy_of_a, copy_of_b);
        std::memcpy(expected.data() + to, result.data(), static_cast<std::size_t>(result.size()) * sizeof(float));
        To view(v.data() + to);
        assign(view, A(v.data() + a), B(v.data() + b));
        CHECK(v == expected);
      }
}

}  // namespace

TEST_CASE("a view names the elements where they lie") {
  std::vector<float> v = counted(12);
  ArrayView<float, 3, 4> a(v.data());
  CHECK(a(1, 2) == 7);
  CHECK(a(-1, -1) == 12);
  a(0, 0) = 5;
  CHECK(v[0] == 5);
  const ArrayView<const float, dyn, 4> b(v.data(), 3);
  CHECK(b.shape() == tt::Shape{3, 4});
  CHECK_THROWS_WITH_AS(b(3, 0), "tt::Array: index is out of range: 3 for axis 0 of (3, 4).", tt::Error);
  CHECK_THROWS_WITH_AS((ArrayView<float, dyn>(v.data(), -1)), "tt::Array: negative extent: -1.", tt::Error);
  CHECK(std::accumulate(b.begin(), b.end(), 0.0f) == 82);
  Array<float, 3, 4> array = b * 2;
  CHECK(array(2, 3) == 24);
  ArrayView<float, 3, 4> of_array(array);
  of_array = a;
  CHECK(array(2, 3) == 12);
  array(0, 0) = 7;
  a = array;
  CHECK(v[0] == 7);
  const ArrayView<const float, 3, 4> read = a;
  CHECK(read.data() == a.data());
  a = read;
  CHECK(!std::is_constructible_v<ArrayView<const float, 2>, Array<float, 2>>);
  CHECK(!std::is_convertible_v<ArrayView<const float, 2>, ArrayView<float, 2>>);
}

TEST_CASE("assigning to a view writes its elements, and extents must be equal") {
  std::vector<float> v = counted(6), w(6, 1.0f);
  ArrayView<float, dyn> a(v.data(), 6);
  const ArrayView<float, dyn> copy = a;
  a += 1;
  a *= ArrayView<const float, 6>(w.data());
  CHECK(v == std::vector<float>{2, 3, 4, 5, 6, 7});
  copy = ArrayView<float, dyn>(w.data(), 6);
  CHECK(v == w);
  copy = Array<float, 6>{6, 5, 4, 3, 2, 1};
  CHECK(v[0] == 6);
  const char* const differ = "tt::Array: shapes differ: (6,) is assigned to (5,).";
  const ArrayView<float, dyn> five(w.data(), 5);
  CHECK_THROWS_WITH_AS(five = a, differ, tt::Error);
  CHECK_THROWS_WITH_AS(five = a + 1, differ, tt::Error);
  CHECK_THROWS_WITH_AS(five = (Array<float, 6>{}), differ, tt::Error);
  CHECK(w == std::vector<float>(6, 1.0f));
}

TEST_CASE("whatever overlaps, the operands are read before they are written") {
  using Row = ArrayView<float, 11>;
  using One = ArrayView<float, 1>;
  using Square = ArrayView<float, 4, 4>;
  check_overlaps<Row, Row, Row>([](auto& to, const auto& a, const auto& b) { to = a * 2 + b; });
  check_overlaps<Row, Row, One>([](auto& to, const auto& a, const auto& b) { to = a - b; });
  check_overlaps<Square, Square, Square>([](auto& to, const auto& a, const auto& b) { to = tt::matmul(a, b) * 0.01; });
  check_overlaps<Square, Square, ArrayView<float, 4>>([](auto& to, const auto& a, const auto& b) { to = tt::transpose(a) + b; });
  check_overlaps<ArrayView<float, 4>, Square, Square>([](auto& to, const auto& a, const auto& b) { to = tt::sum<1>(a) + tt::amax<0>(b); });
  check_overlaps<Square, Square, Square>([](auto& to, const auto& a, const auto& b) { to = tt::softmax<1>(a + b); });
}

TEST_CASE("an Array whose elements a view reads is written after it") {
  Array<float, dyn> a{1, 2, 3, 4, 5, 6, 7, 8};
  const ArrayView<float, 7> tail(a.data() + 1);
  ArrayView<float, 7>(a.data()) = tail + 0;
  CHECK(a(0) == 2);
  CHECK(a(6) == 8);
  Array<float, dyn, dyn> m{{1, 2}, {3, 4}};
  const ArrayView<float, 2> first(m.data());
  m = m + first;
  CHECK(m(1, 1) == 6);
}

TEST_CASE("a view prints as an Array") {
  tt::Array<float, 2, 2> a{{1, 2}, {3, 4}};
  std::ostringstream view, own;
  view << tt::ArrayView<float, 2, 2>(a);
  own << a;
  CHECK(view.str() == own.str());
}

TEST_CASE("fused functions take views, and update what lies there") {
  constexpr auto step = tt::fuse([](auto& w, auto g) {
    w -= 0.5 * g;
    return tt::sum(w);
  });
  std::vector<float> w = counted(5), g(5, 2.0f);
  CHECK(step(ArrayView<float, 5>(w.data()), ArrayView<const float, dyn>(g.data(), 5)).item() == 10);
  CHECK(w == std::vector<float>{0, 1, 2, 3, 4});
  constexpr auto slope = tt::fuse([](auto x) { return tt::grad([](auto y) { return tt::sum(y * y); })(x); });
  const Array<float, 5> d = slope(ArrayView<float, 5>(w.data()));
  CHECK(d(4) == 8);
}

TEST_CASE("a Tensor's elements as an Array, without a copy") {
  tt::Tensor x = tt::arange(12.0).reshape({3, 4});
  const auto a = tt::as_array<ArrayView<float, dyn, 4>>(x);
  CHECK(a.data() == x.data_ptr<float>());
  CHECK(a.extent(0) == 3);
  a = tt::transpose(tt::transpose(a)) * 2;
  x.add_(1);
  CHECK(a(2, 3) == 23);
  const auto read = tt::as_array<ArrayView<const float, 3, 4>>(x);
  CHECK(tt::sum(read).eval().item() == x.sum().item());
  tt::Tensor back = tt::as_tensor(a);
  back.zero_();
  CHECK(x.sum().item() == 0);
  const tt::Tensor none = tt::zeros({0, 4});
  CHECK(tt::as_array<ArrayView<float, dyn, 4>>(none).size() == 0);
  CHECK(contains(message([&] { tt::as_array<ArrayView<float, dyn, 3>>(x); }), "tt::as_array: the Tensor is f32 (3, 4), the Array f32 (3, 3).\n  at "));
  CHECK(contains(message([&] { tt::as_array<ArrayView<double, 3, 4>>(x); }), "tt::as_array: the Tensor is f32 (3, 4), the Array f64 (3, 4).\n  at "));
  CHECK(contains(message([&] { tt::as_array<ArrayView<float, 4, 3>>(x.t()); }), "tt::as_array: the Tensor is not contiguous. Use contiguous() first?\n  at "));
}
