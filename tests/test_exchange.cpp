// Elements that change hands without a copy: blobs, Arrays, DLPack, accessors.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "tensors.hpp"
#if __has_include(<Eigen/Core>)
#include "tt/io/eigen.hpp"
#endif
#include "tt/io/dlpack.hpp"

namespace {

using tt::DType;
using tt::Tensor;
namespace dl = tt::dlpack;

/// Elements of another library: counts how often they are given back.
template <class M, class T>
struct Foreign {
  std::vector<T> elements;
  std::vector<std::int64_t> shape, strides;
  M managed{};
  int returned = 0;

  Foreign(std::vector<T> values, std::vector<std::int64_t> sizes, std::vector<std::int64_t> apart = {}) : elements(values), shape(sizes), strides(apart) {
    auto& view = managed.dl_tensor;
    view.data = elements.data();
    view.device = {1, 0};
    view.ndim = static_cast<std::int32_t>(shape.size());
    view.dtype = {2, 8 * sizeof(T), 1};
    view.shape = shape.data();
    view.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](M* m) { ++static_cast<Foreign*>(m->manager_ctx)->returned; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
  Foreign(const Foreign&) = delete;
};
/// What another dlpack.h may look like: names are what counts.
namespace other {
enum DeviceType : std::int32_t { cpu = 1 };
struct View {
  void* data;
  struct {
    DeviceType device_type;
    std::int32_t device_id;
  } device;
  int ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Managed {
  View dl_tensor;
  void* manager_ctx;
  void (*deleter)(Managed*);
};
}  // namespace other

}  // namespace

TEST_CASE("from_blob takes strides, and a deleter that holds something") {
  std::vector<float> own(12);
  std::iota(own.begin(), own.end(), 0.0f);
  auto held = std::make_shared<int>(1);
  {
    const Tensor columns = tt::from_blob(own.data(), {3, 4}, {1, 3}, [held](void*) {});
    CHECK(held.use_count() == 2);
    CHECK(!columns.is_contiguous());
    CHECK(numbers(columns) == Numbers{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
    CHECK(numbers(columns.sum(0)) == Numbers{3, 12, 21, 30});
  }
  CHECK(held.use_count() == 1);
  CHECK(numbers(tt::from_blob(own.data(), {2, 3}, {0, 4})) == Numbers{0, 4, 8, 0, 4, 8});
  CHECK(numbers(tt::from_blob(own.data(), {0, 3}, {0, 4})).empty());
  void (*none)(void*) = nullptr;
  CHECK(tt::from_blob(own.data(), {2}, none).numel() == 2);
  CHECK(message([&] { tt::from_blob(own.data(), {2, 3}, {3}); }) == "tt::from_blob: 1 strides for 2 axes.");
  CHECK(message([&] { tt::from_blob(own.data(), {2, 3}, {3, -1}); }).find("a stride is negative: -1") != std::string::npos);
}

TEST_CASE("as_tensor: the Array's own elements, which a Tensor may keep") {
  tt::Array<float, 2, 3> a = {{1, 2, 3}, {4, 5, 6}};
  tt::as_tensor(a).mul_(2);
  CHECK(a(1, 2) == 12);
  Tensor kept;
  const float* where = nullptr;
  {
    tt::Array<float, tt::dyn, 3> b(1000);
    b(999, 2) = 7;
    where = b.data();
    kept = tt::as_tensor(std::move(b));
  }
  CHECK(kept.data() == where);
  CHECK(kept[999][2].item() == 7);
  CHECK(tt::as_tensor(tt::Array<float, 2>{1, 2}).sum().item() == 3);
}

TEST_CASE("DLPack: what goes out is described as it lies, and is kept until it is given back") {
  Tensor x = tt::arange(24).to(DType::f32).reshape({2, 3, 4});
  const std::int64_t uses = x.impl().storage->tensors();
  dl::ManagedTensor* m = tt::to_dlpack(x.transpose(0, 2).slice(0, 1, 4, 2));
  CHECK(m->dl_tensor.ndim == 3);
  CHECK(std::vector(m->dl_tensor.shape, m->dl_tensor.shape + 3) == std::vector<std::int64_t>{2, 3, 2});
  CHECK(std::vector(m->dl_tensor.strides, m->dl_tensor.strides + 3) == std::vector<std::int64_t>{2, 4, 12});
  CHECK(m->dl_tensor.dtype.code == 2);
  CHECK(m->dl_tensor.dtype.bits == 32);
  CHECK(m->dl_tensor.device.device_type == 1);
  CHECK(*static_cast<float*>(m->dl_tensor.data) == 1);
  static_cast<float*>(m->dl_tensor.data)[0] = 100;
  CHECK(x[0][0][1].item() == 100);
  CHECK(x.impl().storage->tensors() == uses + 1);
  m->deleter(m);
  CHECK(x.impl().storage->tensors() == uses);

  auto* versioned = tt::to_dlpack<dl::ManagedTensorVersioned>(x);
  CHECK(versioned->version.major == 1);
  CHECK(versioned->flags == 0);
  versioned->deleter(versioned);
  CHECK(message([&] { tt::to_dlpack(x.clone().requires_grad_()); }).find("requires a gradient") != std::string::npos);
  CHECK(message([&] { tt::to_dlpack(Tensor()); }).find("undefined") != std::string::npos);
  CHECK(message([&] { tt::to_dlpack(x.to(tt::Device{tt::DeviceType::meta})); }).find("device meta") != std::string::npos);
}

TEST_CASE("DLPack: there and back is the same memory, in every dtype and through any dlpack.h") {
  for (int d = 0; d < tt::dtype_count; ++d) {
    CAPTURE(d);
    const Tensor x = tt::arange(6).to(static_cast<DType>(d)).reshape({2, 3});
    const Tensor y = tt::from_dlpack(tt::to_dlpack(x)), z = tt::from_dlpack(tt::to_dlpack<dl::ManagedTensorVersioned>(x.t()));
    CHECK(y.data() == x.data());
    CHECK(same_bits(x, y));
    CHECK(same_bits(x.t(), z));
  }
  Tensor x = tt::arange(3).to(DType::f32);
  other::Managed* m = tt::to_dlpack<other::Managed>(x);
  CHECK(m->dl_tensor.device.device_type == other::cpu);
  const Tensor y = tt::from_dlpack(m);
  x.add_(1);
  CHECK(numbers(y) == Numbers{1, 2, 3});
  const Tensor scalar = tt::from_dlpack(tt::to_dlpack(tt::tensor(2.5)));
  CHECK(scalar.dim() == 0);
  CHECK(scalar.item() == 2.5);
  CHECK(tt::from_dlpack(tt::to_dlpack(tt::zeros({3, 0}))).numel() == 0);
}

TEST_CASE("DLPack: what comes in is used where it lies, and given back once") {
  Foreign<dl::ManagedTensor, float> dense({1, 2, 3, 4, 5, 6}, {2, 3}), columns({1, 2, 3, 4, 5, 6}, {2, 3}, {1, 2});
  {
    Tensor x = tt::from_dlpack(&dense.managed), y = x.slice(1, 1, 3);
    CHECK(x.data() == dense.elements.data());
    x.mul_(2);
    x = Tensor();
    CHECK(dense.returned == 0);
    CHECK(numbers(y) == Numbers{4, 6, 10, 12});
  }
  CHECK(dense.returned == 1);
  CHECK(dense.elements[0] == 2);
  CHECK(numbers(tt::from_dlpack(&columns.managed)) == Numbers{1, 3, 5, 2, 4, 6});
  CHECK(columns.returned == 1);
  columns.managed.dl_tensor.byte_offset = 4;
  columns.shape = {2, 2};
  columns.managed.dl_tensor.shape = columns.shape.data();
  CHECK(numbers(tt::from_dlpack(&columns.managed)) == Numbers{2, 4, 3, 5});
  Foreign<dl::ManagedTensor, float> nobody({1, 2}, {2});
  nobody.managed.deleter = nullptr;
  CHECK(tt::from_dlpack(&nobody.managed).sum().item() == 3);
}

TEST_CASE("DLPack: copies where elements are read-only or lie backwards, and never if that is asked") {
  using M = dl::ManagedTensorVersioned;
  Foreign<M, double> fixed({1, 2, 3}, {3}), backwards({1, 2, 3, 4, 5, 6}, {2, 3}, {3, -1}), plain({1, 2}, {2});
  fixed.managed.flags = dl::read_only;
  const Tensor x = tt::from_dlpack(&fixed.managed);
  CHECK(x.data() != fixed.elements.data());
  CHECK(fixed.returned == 1);
  CHECK(numbers(x) == Numbers{1, 2, 3});
  CHECK(message([&] { tt::from_dlpack(&fixed.managed, false); }).find("read-only") != std::string::npos);
  CHECK(fixed.returned == 1);
  backwards.managed.dl_tensor.byte_offset = 16;
  CHECK(numbers(tt::from_dlpack(&backwards.managed)) == Numbers{3, 2, 1, 6, 5, 4});
  CHECK(backwards.returned == 1);
  CHECK(message([&] { tt::from_dlpack(&backwards.managed, false); }).find("stride is negative") != std::string::npos);
  const Tensor copied = tt::from_dlpack(&plain.managed, true);
  CHECK(copied.data() != plain.elements.data());
  CHECK(plain.returned == 1);
}

TEST_CASE("DLPack: what cannot be taken is refused, and stays with the caller") {
  using M = dl::ManagedTensorVersioned;
  const auto refused = [](auto change, const char* why) {
    Foreign<M, float> f({1, 2, 3, 4}, {2, 2});
    change(f.managed);
    const std::string said = message([&] { tt::from_dlpack(&f.managed); });
    CAPTURE(said);
    CHECK(said.find(why) != std::string::npos);
    CHECK(f.returned == 0);
  };
  refused([](M& m) { m.version.major = 2; }, "version 2 of DLPack is not known");
  refused([](M& m) { m.dl_tensor.dtype = {5, 64, 1}; }, "code 5, 64 bits");
  refused([](M& m) { m.dl_tensor.dtype.lanes = 4; }, "4 lanes");
  refused([](M& m) { m.dl_tensor.device.device_type = 8; }, "type 8 of DLPack");
  refused([](M& m) { m.dl_tensor.ndim = 99; }, "99 axes");
  refused([](M& m) { m.dl_tensor.ndim = -1; }, "-1 axes");
  refused([](M& m) { m.dl_tensor.shape[1] = -2; }, "a size is negative: -2");
  refused([](M& m) { m.dl_tensor.shape[0] = m.dl_tensor.shape[1] = std::int64_t{1} << 40; }, "not enough memory");
  refused([](M& m) { m.dl_tensor.byte_offset = 2; }, "not aligned to 4 bytes");
  CHECK(message([] { tt::from_dlpack(static_cast<M*>(nullptr)); }).find("null") != std::string::npos);
}

TEST_CASE("accessors read and write elements where they lie") {
  Tensor x = tt::arange(24).to(DType::f32).reshape({2, 3, 4});
  const auto a = x.accessor<float, 3>();
  CHECK(a.size(2) == 4);
  CHECK(a.stride(1) == 4);
  CHECK(a(1, 2, 3) == 23);
  CHECK(a[1][2][3] == 23);
  a[0][1][2] = 60;
  a(0, 0, 0) = 50;
  CHECK(x[0][1][2].item() == 60);
  const auto across = x.transpose(0, 2).slice(1, 1, 3).accessor<const float, 3>();
  CHECK(across(2, 0, 0) == 60);
  CHECK(across.at(3, 1, 1) == 23);
  static_assert(std::is_same_v<decltype(across(0, 0, 0)), const float&>);
  CHECK(message([&] { across.at(0, 2, 0); }) == "tt::TensorAccessor: index 2 is out of range: axis 1 has 2.");
  CHECK(message([&] { across.at(-1, 0, 0); }).find("index -1") != std::string::npos);
  CHECK(message([&] { x.accessor<float, 2>(); }).find("has 3 axes, not 2") != std::string::npos);
  CHECK(message([&] { x.accessor<double, 3>(); }).find("dtype is f32, not f64") != std::string::npos);
  CHECK(message([&] { x.to(tt::Device{tt::DeviceType::meta}).accessor<float, 3>(); }).find("device meta") != std::string::npos);
  const Tensor zeros = tt::zeros({3});
  zeros.accessor<float, 1>()(1) = 2;
  CHECK(numbers(zeros + 0) == Numbers{0, 2, 0});
}

#if __has_include(<Eigen/Core>)
TEST_CASE("matrices of Eigen: the same elements") {
  Tensor x = tt::arange(6).to(DType::f32).reshape({2, 3});
  auto m = tt::as_eigen<float>(x);
  CHECK(m.rows() == 2);
  CHECK(m(1, 0) == 3);
  m(0, 1) = 50;
  CHECK(x[0][1].item() == 50);
  CHECK(tt::as_eigen<const float>(x.t())(1, 0) == 50);
  CHECK(tt::as_eigen<float>(x.slice(1, 0, 3, 2)).sum() == 10);
  CHECK(tt::as_eigen<float>(x[1])(2, 0) == 5);
  CHECK(numbers(tt::from_eigen(m * m.transpose())) == numbers(x.matmul(x.t())));
  CHECK(message([&] { tt::as_eigen<double>(x); }).find("dtype is f32, not f64") != std::string::npos);
  CHECK(message([&] { tt::as_eigen<float>(x.unsqueeze(0)); }).find("has 3 axes") != std::string::npos);

  Eigen::MatrixXd a = Eigen::MatrixXd::Random(3, 4);
  Tensor t = tt::as_tensor(a), block_of;
  t.mul_(0).add_(tt::arange(12).reshape({3, 4}));
  CHECK(a(1, 2) == 6);
  auto block = a.block(1, 1, 2, 2);
  CHECK(numbers(tt::as_tensor(block)) == Numbers{5, 6, 9, 10});
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> r;
  r << 1, 2, 3, 4, 5, 6;
  CHECK(numbers(tt::as_tensor(r)) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(numbers(tt::from_eigen(r.cast<double>() * 2)) == Numbers{2, 4, 6, 8, 10, 12});
}
#else
TEST_CASE("matrices of Eigen") { std::printf("[SKIPPED eigen] libeigen3-dev is not installed: nothing tested\n"); }
#endif
