// Integers of 4 bits, two in a byte: there and back on every path.
#include <doctest/doctest.h>

#include "tensors.hpp"
#include "tt/functional/packed.hpp"
#include "tt/tt.hpp"

namespace {

using namespace tt;

bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.shape() == b.shape() && (a == b).all().item<bool>(); }

}  // namespace

TEST_CASE("what is packed is unpacked, signed or not, of every integer dtype") {
  const Tensor all = arange(-8, 8).reshape({2, 8});
  for (DType d : {DType::i8, DType::i16, DType::i32, DType::i64}) {
    const Tensor q = pack_int4(all.to(d));
    CHECK(q.dtype() == DType::u8);
    CHECK(q.shape() == Shape{2, 4});
    CHECK(q.select(0, 0).select(0, 0).item<int>() == 8 + 16 * 9);  // -8 in the low half, -7 above
    CHECK(same(unpack_int4(q), all.to(DType::i8)));
    CHECK(same(unpack_uint4(q), all.remainder(16).to(DType::u8)));
  }
  CHECK(same(unpack_uint4(pack_int4(arange(16).to(DType::u8))), arange(16).to(DType::u8)));
  CHECK(same(unpack_int4(pack_int4(arange(100, 108))), (arange(100, 108) + 8).remainder(16).to(DType::i8) - 8));  // the low four bits
  CHECK(unpack_int4(zeros({3, 0}, DType::u8)).shape() == Shape{3, 0});
}

TEST_CASE("every byte, as a view and as an Array") {
  const Tensor bytes = arange(256).to(DType::u8).reshape({16, 16});
  for (const Tensor& q : {bytes, bytes.t(), bytes.slice(1, 1, 16, 3)}) {
    CHECK(same(pack_int4(unpack_int4(q)), q));
    CHECK(same(pack_int4(unpack_uint4(q)), q));
  }
  const Array<std::int8_t, 2, 4> a{{-8, 7, 3, -1}, {0, 1, 2, -2}};
  const Array<std::uint8_t, 2, 2> q = pack_int4(a);
  const Array<std::int8_t, 2, 4> b = unpack_int4(q);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) CHECK(b(i, k) == a(i, k));
}

TEST_CASE("a compiled product with weights of 4 bits") {
  manual_seed(3);
  const Tensor weight = randint(-8, 8, {24, 64}).to(DType::i8), q = pack_int4(weight), scale = rand({24, 1}), x = randn({5, 64});
  const auto f = [](const Tensor& v, const Tensor& w, const Tensor& s) { return matmul(v, (unpack_int4(w).to(DType::f32) * s).t()); };
  for (int tier : {0, 1}) {
    const auto compiled = compile(f, {.tier = tier, .wait = true});
    CHECK(same_bits(compiled(x, q, scale), matmul(x, (weight.to(DType::f32) * scale).t())));
    CHECK(!contains(compiled.explain().c_str(), "graph break"));
  }
}

TEST_CASE("odd sizes and other dtypes are refused in words") {
  CHECK(message([] { pack_int4(zeros({2, 3}, DType::i8)); }) == "tt::pack_int4: option is out of range: the last size is 3, has to be even.");
  CHECK(contains(message([] { pack_int4(zeros({4})); }), "tt::pack_int4: dtype is not accepted: f32"));
  CHECK(contains(message([] { unpack_int4(zeros({4}, DType::i8)); }), "tt::unpack_int4: dtype is not accepted: i8"));
}
