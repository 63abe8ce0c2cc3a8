// sort, argsort, topk, unique, cumsum and reduce_by_key against plain loops, on every device system of Thrust that
// there is: each case runs on all of them, and wants the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithm_tables.hpp"
#include "tensors.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/functional/parse.hpp"

namespace {

using tt::DType;
using tt::Tensor;
using Places = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

constexpr tt::Device meta{tt::DeviceType::meta, 0};
std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }

/// f on each system in turn.
template <class F>
void on_each_system(const F& f) {
  for (const tt::backend::AlgorithmTable* table : algorithm_tables()) {
    CAPTURE(std::string(table->system));
    tt::backend::set_algorithms(tt::DeviceType::cpu, *table);
    f();
  }
}

// ---- elements

std::uint64_t next(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
/// Few values, so that many are equal; the special ones among them.
template <class T>
T element(std::uint64_t& state) {
  const std::uint64_t r = next(state);
  if constexpr (std::is_same_v<T, bool>) {
    return r & 1;
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T special[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T(0), -T(0),
                             Limits::denorm_min(), -Limits::denorm_min(), Limits::max(), Limits::lowest()};
    if (r % 4 == 0) return special[r / 4 % 10];
    return static_cast<T>(static_cast<std::int64_t>(r / 4 % 41) - 20) / 8;
  } else {
    if (r % 8 == 0) return r & 8 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    return static_cast<T>(static_cast<std::int64_t>(r / 8 % 21) - 10);
  }
}
template <class T>
Tensor random_tensor(const tt::IntList& shape, std::uint64_t seed) {
  Tensor t = tt::empty(shape, {.dtype = tt::dtype_of<T>});
  for (T& x : t.elements<T>()) x = element<T>(seed);
  return t;
}
/// The same elements in a Tensor that is transposed, or a slice of a larger one.
Tensor laid_out(const Tensor& t, int how) {
  if (how == 0 || t.dim() == 0) return t;
  if (how == 1) {
    tt::IntList turned;
    for (int k = t.dim(); k-- > 0;) turned.push_back(k);
    return t.permute(turned).contiguous().permute(turned);
  }
  tt::IntList larger = t.shape();
  larger[larger.size() - 1] = 3 * larger[larger.size() - 1] + 1;
  return tt::zeros(larger, {.dtype = t.dtype()}).slice(-1, 1, larger[larger.size() - 1], 3).copy_(t);
}

template <class T>
bool before(T a, T b) {  // NaN is the greatest
  if (a != a) return false;
  return b != b || a < b;
}

/// The rows of a Tensor along an axis, copied.
template <class T>
std::vector<std::vector<T>> rows_along(const Tensor& t, int dim) {
  const Tensor dense = (t.dim() ? t.detach().transpose(dim, -1) : t.detach()).contiguous();
  const std::size_t n = t.dim() ? static_cast<std::size_t>(t.size(dim)) : 1;
  std::vector<std::vector<T>> rows(n ? static_cast<std::size_t>(t.numel()) / n : 0);
  std::size_t i = 0;
  const auto all = std::as_const(dense).elements<T>();
  for (auto& row : rows)
    for (std::size_t k = 0; k < n; ++k) row.push_back(all[i++]);
  return rows;
}
template <class T>
bool equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const T x = a[k], y = b[k];
    if (std::memcmp(&x, &y, sizeof(T)) != 0) return false;
  }
  return true;
}

template <class T>
Places order_of(const std::vector<T>& row, bool descending) {
  Places p(row.size());
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = static_cast<std::int64_t>(k);
  const auto comes_first = [&](std::int64_t a, std::int64_t b) {
    const T x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return descending ? before<T>(y, x) : before<T>(x, y);
  };
  std::sort(p.begin(), p.end(), [&](std::int64_t a, std::int64_t b) {  // equal elements keep their order
    return comes_first(a, b) || (!comes_first(b, a) && a < b);
  });
  return p;
}
template <class T>
void check_order(const Tensor& x, int dim, bool descending, std::int64_t k, const Tensor& values, const Tensor& indices) {
  REQUIRE(values.dtype() == x.dtype());
  REQUIRE(indices.dtype() == DType::i64);
  tt::IntList shape = x.shape();
  if (x.dim()) shape[dim < 0 ? dim + x.dim() : dim] = k;
  REQUIRE(tt::IntList(values.shape()) == shape);
  REQUIRE(tt::IntList(indices.shape()) == shape);
  CHECK(values.is_contiguous());
  CHECK(indices.is_contiguous());
  const auto rows = rows_along<T>(x, dim), found = rows_along<T>(values, dim);
  const auto places = rows_along<std::int64_t>(indices, dim);
  int wrong = 0;
  for (std::size_t r = 0; r < found.size(); ++r) {
    Places want = order_of(rows[r], descending);
    want.resize(static_cast<std::size_t>(k));
    std::vector<T> elements;
    for (std::int64_t p : want) elements.push_back(rows[r][static_cast<std::size_t>(p)]);
    wrong += places[r] != want || !equal_bits(found[r], elements);
  }
  CHECK(wrong == 0);
}

const tt::IntList shapes[] = {{}, {0}, {1}, {2}, {97}, {3, 5}, {5, 1}, {1, 6}, {4, 0}, {0, 4}, {2, 3, 4}, {2, 0, 3},
                              {3, 700}, {40, 33}, {30, 32}, {5, 4, 3, 2}, {3000}};

std::vector<int> axes_of(const Tensor& t) {
  std::vector<int> axes{-1};
  for (int k = 0; k < std::max(t.dim(), 1); ++k) axes.push_back(k);
  return axes;
}

}  // namespace

TEST_CASE("what is tested") {
  MESSAGE("Thrust " << std::string(thrust_version()) << ", " << algorithm_tables().size() << " device systems");
  CHECK(algorithm_tables().size() > 0);
}

TEST_CASE_TEMPLATE("sort keeps the order of equal elements, NaN comes last, along every axis of every layout", T, float, double, std::int32_t,
                   std::int64_t, bool) {
  on_each_system([] {
    std::uint64_t seed = 1;
    for (const tt::IntList& shape : shapes) {
      const Tensor x = random_tensor<T>(shape, ++seed);
      CAPTURE(::shape(x));
      for (const int dim : axes_of(x))
        for (int how = 0; how < 3; ++how)
          for (const bool descending : {false, true}) {
            const Tensor y = laid_out(x, how);
            const auto [values, indices] = tt::sort(y, dim, descending, how == 1);
            check_order<T>(x, dim, descending, x.dim() ? std::int64_t{x.size(dim)} : 1, values, indices);
            CHECK(same_bits(tt::argsort(y, dim, descending), indices));
          }
    }
  });
}

TEST_CASE_TEMPLATE("long rows, sorted by their digits, have one order on any number of threads", T, float, double, std::int32_t, std::int64_t, bool) {
  std::uint64_t seed = 7;
  const int usual = tt::get_num_threads();
  for (const int digits : {0, 8, 31, 64}) {  // in which elements differ; 0: few values, the special ones among them
    Tensor x = tt::empty({150000}, {.dtype = tt::dtype_of<T>});
    for (T& e : x.elements<T>()) {
      const std::uint64_t bits = next(seed) >> (64 - std::max(digits, 1));
      if (digits == 0 || std::is_same_v<T, bool>) e = element<T>(seed);
      else std::memcpy(static_cast<void*>(&e), &bits, sizeof e);
    }
    for (const bool descending : {false, true}) {
      const Places expected = order_of(rows_along<T>(x, 0)[0], descending);
      for (const int threads : {1, 2, 3}) {
        tt::set_num_threads(threads);
        const auto [values, indices] = tt::sort(x, 0, descending);
        const auto places = indices.elements<std::int64_t>();
        CHECK(std::equal(expected.begin(), expected.end(), places.begin(), places.end()));
        CHECK(same_bits(values, tt::index_select(x, 0, indices)));
      }
      tt::set_num_threads(usual);
    }
  }
}

TEST_CASE("long rows of narrow elements, that lie apart, and around the length from which digits are sorted") {
  const int usual = tt::get_num_threads();
  const Tensor x = (tt::randn({60000}, 3) * 9).to(DType::f64);
  for (const int threads : {1, 2}) {
    tt::set_num_threads(threads);
    for (const DType d : {DType::f16, DType::bf16, DType::u8, DType::i8, DType::i16}) {
      const Tensor narrow = (d == DType::u8 ? x.abs() : x).to(d);
      const auto [values, indices] = tt::sort(narrow, 0, true);
      const auto [wide, places] = tt::sort(narrow.to(tt::is_floating(d) ? DType::f32 : DType::i32), 0, true);
      CHECK(values.dtype() == d);
      CHECK(same_bits(indices, places));
      CHECK(same_bits(values, wide.to(d)));
    }
    const Tensor columns = x.reshape({20000, 3});
    CHECK(same_bits(tt::argsort(columns.select(1, 1)), tt::argsort(columns.select(1, 1).contiguous())));
    for (const std::int64_t n : {2047, 2048, 2049}) {
      const Tensor part = x.slice(0, 0, n);
      check_order<double>(part, 0, false, n, tt::sort(part).values, tt::sort(part).indices);
    }
    const Tensor whole = tt::floor(x).to(DType::i64);
    const tt::UniqueResult u = tt::unique(whole, true, true, true);
    CHECK(same_bits(tt::index_select(u.values, 0, u.inverse_indices), whole));
    CHECK(same_bits(u.counts, tt::bincount(u.inverse_indices)));
  }
  tt::set_num_threads(usual);
}

TEST_CASE_TEMPLATE("topk is the begin of a sort", T, float, double, std::int32_t, std::int64_t, bool) {
  on_each_system([] {
    std::uint64_t seed = 100;
    for (const tt::IntList& shape : shapes) {
      const Tensor x = random_tensor<T>(shape, ++seed);
      CAPTURE(::shape(x));
      for (const int dim : axes_of(x)) {
        const std::int64_t n = x.dim() ? std::int64_t{x.size(dim)} : 1;
        for (const std::int64_t k : {std::int64_t{0}, std::min<std::int64_t>(1, n), n / 2, n})
          for (const bool largest : {true, false}) {
            if (x.dim() == 0 && k == 0) continue;  // gives the element, as PyTorch
            const auto [values, indices] = tt::topk(laid_out(x, static_cast<int>(k % 3)), k, dim, largest, k % 2 == 0);
            check_order<T>(x, dim, largest, k, values, indices);
          }
      }
    }
  });
}

TEST_CASE_TEMPLATE("topk of long rows, of few and of many elements, with ties and NaN", T, float, double, std::int32_t, std::int64_t) {
  Tensor x = tt::randint(-40, 40, {5, 700}, tt::DType::i64).to(tt::dtype_of<T>);
  if constexpr (std::is_floating_point_v<T>) {
    x.index_put_({tt::tensor({0, 0, 2, 2, 2}), tt::tensor({3, 650, 0, 100, 699})}, tt::full({5}, std::numeric_limits<T>::quiet_NaN(), tt::dtype_of<T>));
    x.select(0, 3).fill_(std::numeric_limits<T>::quiet_NaN());
    x.select(0, 4).mul_(-0.0);
  }
  for (const bool largest : {true, false}) {
    const auto [values, indices] = tt::sort(x, 1, largest);
    for (const std::int64_t k : {1, 4, 40, 44, 200, 350, 351, 700}) {
      CAPTURE(k);
      const auto top = tt::topk(x, k, 1, largest);
      CHECK(same_bits(top.values, values.slice(1, 0, k)));
      CHECK(tt::equal(top.indices, indices.slice(1, 0, k)));
    }
  }
}

TEST_CASE("defaults are PyTorch's") {
  const Tensor x = tt::tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
  CHECK(numbers(tt::sort(x).values) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(numbers(tt::sort(x, 0).values) == Numbers{3, 1, 2, 4, 6, 5});
  CHECK(numbers(tt::sort(x, 1, true).indices) == Numbers{0, 2, 1, 1, 2, 0});
  CHECK(numbers(tt::argsort(x)) == Numbers{1, 2, 0, 0, 2, 1});
  CHECK(numbers(tt::topk(x, 1).values) == Numbers{3, 6});
  CHECK(numbers(tt::topk(x, 2).indices) == Numbers{0, 2, 1, 2});
  CHECK(numbers(tt::topk(x, 1, 0, false).values) == Numbers{3, 1, 2});
  const Tensor one = tt::tensor(5.0);
  CHECK(tt::sort(one).values.dim() == 0);
  CHECK(tt::sort(one, 0).indices.item<int>() == 0);
  CHECK(tt::topk(one, 1).values.item() == 5);
  CHECK(tt::topk(one, 0).values.dim() == 0);
  const tt::UniqueResult u = tt::unique(tt::tensor({3.0, 1.0, 3.0}));
  CHECK(numbers(u.values) == Numbers{1, 3});
  CHECK(u.inverse_indices.numel() == 0);
  CHECK(u.counts.numel() == 0);
}

// ---- unique

TEST_CASE_TEMPLATE("unique gives each value once, its places and counts; each NaN is one of its own", T, float, double,
                   std::int32_t, std::int64_t, bool) {
  on_each_system([] {
    std::uint64_t seed = 200;
    for (const tt::IntList& shape : shapes) {
      const Tensor x = random_tensor<T>(shape, ++seed);
      CAPTURE(::shape(x));
      const std::vector<T> row = x.numel() ? rows_along<T>(x.flatten(), 0)[0] : std::vector<T>();
      const Places order = order_of(row, false);
      std::vector<T> values;
      Places counts, inverse(row.size());
      for (std::int64_t p : order) {
        const T v = row[static_cast<std::size_t>(p)];
        if (values.empty() || !(values.back() == v)) {
          values.push_back(v);
          counts.push_back(0);
        }
        ++counts.back();
        inverse[static_cast<std::size_t>(p)] = static_cast<std::int64_t>(values.size()) - 1;
      }
      for (int how = 0; how < 3; ++how) {
        const tt::UniqueResult u = tt::unique(laid_out(x, how), how != 1, true, true);
        REQUIRE(u.values.dtype() == x.dtype());
        REQUIRE(tt::IntList(u.values.shape()) == tt::IntList{static_cast<std::int64_t>(values.size())});
        REQUIRE(u.inverse_indices.shape() == x.shape());
        REQUIRE(u.counts.shape() == u.values.shape());
        if (x.numel() == 0) continue;
        CHECK(equal_bits(rows_along<T>(u.values, 0)[0], values));
        CHECK(rows_along<std::int64_t>(u.counts, 0)[0] == counts);
        CHECK(rows_along<std::int64_t>(u.inverse_indices.reshape({x.numel()}), 0)[0] == inverse);
      }
      const tt::UniqueResult bare = tt::unique(x, true, true);
      CHECK(bare.inverse_indices.shape() == x.shape());
      CHECK(bare.counts.numel() == 0);
    }
  });
}

// ---- sums

namespace {

/// The order that dispatch/algorithms.hpp names, by plain loops.
template <class T>
std::vector<T> plain_cumsum(const std::vector<T>& x) {
  std::vector<T> sum(x), total;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k % 256 != 0) sum[k] = sum[k - 1] + x[k];
    if (k % 256 == 255 || k + 1 == x.size()) total.push_back(sum[k]);
  }
  if (total.size() < 2) return sum;
  total = plain_cumsum(total);
  for (std::size_t k = 256; k < x.size(); ++k) sum[k] = total[k / 256 - 1] + sum[k];
  return sum;
}
std::vector<std::int64_t> plain_cumsum(const std::vector<std::int64_t>& x) {
  std::vector<std::int64_t> sum;
  std::uint64_t s = 0;
  for (std::int64_t v : x) sum.push_back(static_cast<std::int64_t>(s += static_cast<std::uint64_t>(v)));
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("cumsum has one order of summation, along every axis of every layout", T, float, double, std::int32_t,
                   std::int64_t, bool) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
  on_each_system([] {
    std::uint64_t seed = 300;
    std::vector<tt::IntList> all(std::begin(shapes), std::end(shapes));
    for (const tt::IntList& more : {tt::IntList{256}, tt::IntList{257}, tt::IntList{3, 512}, tt::IntList{70000}, tt::IntList{2, 66000}})
      all.push_back(more);
    for (const tt::IntList& shape : all) {
      Tensor x = random_tensor<T>(shape, ++seed);
      if constexpr (std::is_floating_point_v<T>)  // without the special values, which would soon be all there is
        if (seed % 3) x = tt::where(tt::abs(x) < 100, x * 0.3 + 1e-3, 0.7);
      CAPTURE(::shape(x));
      for (const int dim : axes_of(x))
        for (int how = 0; how < (x.numel() > 5000 ? 1 : 3); ++how) {
          const Tensor y = tt::cumsum(laid_out(x, how), dim);
          REQUIRE(y.dtype() == tt::dtype_of<Sum>);
          REQUIRE(y.shape() == x.shape());
          CHECK(y.is_contiguous());
          const auto rows = rows_along<T>(x, dim);
          const auto found = rows_along<Sum>(y, dim);
          int wrong = 0;
          for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::vector<Sum> want = plain_cumsum(std::vector<Sum>(rows[r].begin(), rows[r].end()));
            for (std::size_t k = 0; k < want.size(); ++k)  // a NaN's bits are the device's
              wrong += !(want[k] != want[k] ? found[r][k] != found[r][k] : equal_bits<Sum>({want[k]}, {found[r][k]}));
          }
          CHECK(wrong == 0);
        }
    }
  });
}

TEST_CASE("cumsum from the end, by name") {
  tt::register_algorithms();
  on_each_system([] {
    for (const std::int64_t n : {1, 5, 300, 70000}) {
      std::uint64_t seed = 7;
      for (const DType d : {DType::f64, DType::i64}) {
        Tensor x = tt::empty({2, n}, {.dtype = d}), turned = tt::empty_like(x);
        tt::with_dtype(d, [&]<class T>(T) {
          for (std::int64_t i = 0; i < 2 * n; ++i) {
            x.data_ptr<T>()[i] = static_cast<T>(next(seed) % 1000) / 7;
            turned.data_ptr<T>()[i / n * n + n - 1 - i % n] = x.data_ptr<T>()[i];
          }
        });
        const Numbers there = numbers(tt::call("cumsum", {x, 1, true})), back = numbers(tt::cumsum(turned, 1));
        int wrong = 0;
        for (std::int64_t i = 0; i < 2 * n; ++i)
          wrong += there[static_cast<std::size_t>(i)] != back[static_cast<std::size_t>(i / n * n + n - 1 - i % n)];
        CHECK(wrong == 0);
      }
    }
  });
}

TEST_CASE_TEMPLATE("reduce_by_key sums each run as tt::sum does", T, float, double, std::int32_t, std::int64_t, bool) {
  on_each_system([] {
    std::uint64_t seed = 400;
    for (const std::int64_t longest : {1, 2, 9, 100, 20000})
      for (const std::int64_t n : {0, 1, 2, 50, 30000}) {
        CAPTURE(n);
        CAPTURE(longest);
        Tensor keys = tt::empty({n}, {.dtype = DType::i32}), values = random_tensor<T>({n}, ++seed);
        if constexpr (std::is_floating_point_v<T>) values = tt::where(tt::abs(values) < 100, values * 0.3, 0.7);
        Places start;
        std::int32_t key = 0;
        for (std::int64_t i = 0, left = 0; i < n; ++i, --left) {
          if (left == 0) {
            left = 1 + static_cast<std::int64_t>(next(seed) % static_cast<std::uint64_t>(longest));
            start.push_back(i);
            key = (key + 1) % 3;  // keys come again
          }
          keys.data_ptr<std::int32_t>()[i] = key;
        }
        start.push_back(n);
        const auto [k, v] = tt::reduce_by_key(laid_out(keys, 2), laid_out(values, 2));
        const std::int64_t runs = static_cast<std::int64_t>(start.size()) - 1;
        REQUIRE(k.dtype() == DType::i32);
        REQUIRE(v.dtype() == (tt::is_floating(values.dtype()) ? values.dtype() : DType::i64));
        REQUIRE(tt::IntList(k.shape()) == tt::IntList{runs});
        REQUIRE(v.shape() == k.shape());
        int wrong = 0;
        for (std::size_t r = 0; r + 1 < start.size(); r += 1 + start.size() / 40) {
          const Tensor run = values.slice(0, start[r], start[r + 1]).clone();
          wrong += !same_bits(v.select(0, static_cast<std::int64_t>(r)), run.sum());
          wrong += k.data_ptr<std::int32_t>()[r] != keys.data_ptr<std::int32_t>()[start[r]];
        }
        CHECK(wrong == 0);
      }
  });
}

TEST_CASE("runs of keys: NaN equals nothing, -0 equals 0, the first of a run is the key") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor keys = tt::tensor({0.0, -0.0, nan, nan, 1.0, 1.0, 0.0}), values = tt::tensor({1, 2, 3, 4, 5, 6, 7});
  on_each_system([&] {
    const auto [k, v] = tt::reduce_by_key(keys, values);
    CHECK(numbers(v) == Numbers{3, 3, 4, 11, 7});
    CHECK(!std::signbit(k.select(0, 0).item()));
    CHECK(std::isnan(k.select(0, 2).item()));
    CHECK(numbers(tt::reduce_by_key(values, keys < 1).values) == Numbers{1, 1, 0, 0, 0, 0, 1});
    const Tensor flags = tt::tensor({true, true, false, true});
    CHECK(numbers(tt::reduce_by_key(flags, flags).values) == Numbers{2, 0, 1});
  });
}

// ---- systems

TEST_CASE("every device system gives the same bits") {
  const Tensor x = tt::randn({7, 3001}, 5), big = tt::randn({60000}, 6, {.dtype = DType::f64});
  const Tensor keys = (big * 2).to(DType::i64);
  std::vector<Tensors> results;
  on_each_system([&] {
    const auto s = tt::sort(x, 0), t = tt::topk(big, 1000);
    const auto u = tt::unique(keys, true, true, true);
    const auto r = tt::reduce_by_key(tt::sort(keys).values, big);
    results.push_back({s.values, s.indices, t.values, t.indices, u.values, u.inverse_indices, u.counts, r.keys, r.values,
                       tt::cumsum(x, 1), tt::cumsum(x, 0), tt::cumsum(big, 0), tt::cumsum(keys, 0)});
  });
  for (std::size_t system = 1; system < results.size(); ++system)
    for (std::size_t k = 0; k < results[0].size(); ++k) {
      CAPTURE(k);
      CHECK(same_bits(results[system][k], results[0][k]));
    }
}

TEST_CASE("a device without algorithms says so; one may bring its own") {
  tt::register_algorithms();
  constexpr tt::Device npu{tt::DeviceType::private_use2, 0};
  tt::Operator& op = tt::Dispatcher::get().find("sort");
  const tt::Operator::Slot& cpu = op.slot(tt::DispatchKey::cpu);
  const Tensor x = tt::empty({3}, {.device = npu});
  CHECK(contains(message<tt::Unavailable>([&] { tt::sort(x); }), "tt::sort: has no kernel for these Tensors: f32 (3,) on private_use2."));
  op.set_kernel(tt::DispatchKey::private_use2, cpu.kernel.load(), cpu.context);
  const std::string nothing = "tt::sort: nothing was built for device private_use2. Build tt::compiled where Thrust is, or "
                              "include tt/backends/host_algorithms.hpp?";
  CHECK(message<tt::Unavailable>([&] { tt::sort(x); }) == nothing + at(__LINE__));
  tt::backend::set_algorithms(tt::DeviceType::private_use2, *algorithm_tables()[0]);
  float* p = static_cast<float*>(const_cast<void*>(std::as_const(x).data()));
  p[0] = 3, p[1] = 1, p[2] = 2;
  const Tensor values = tt::sort(x).values;
  CHECK(values.device() == npu);
  CHECK(static_cast<const float*>(values.data())[0] == 1);
}

// ---- gradients

TEST_CASE("values have gradients of every order, indices have none") {
  on_each_system([] {
    const auto leaf = [](const tt::IntList& shape, int seed) {
      return (tt::rand(shape, seed, {.dtype = DType::f64}) * 4 + 0.2).requires_grad_();
    };
    const auto check = [](const auto& f, const Tensors& in) {
      CHECK(message([&] { tt::gradcheck(f, in); }) == "no error");
      CHECK(message([&] { tt::gradgradcheck(f, in); }) == "no error");
    };
    for (int dim = -1; dim < 2; ++dim) {
      check([=](const Tensors& t) { return tt::sort(t[0] * t[0], dim, dim == 0).values * t[1]; }, {leaf({4, 3}, 1), leaf({4, 3}, 2)});
      check([=](const Tensors& t) { return tt::topk(t[0] * t[0], 2, dim, dim != 0).values.exp(); }, {leaf({4, 3}, 3)});
      check([=](const Tensors& t) { return tt::cumsum(t[0] * t[0], dim) * t[1]; }, {leaf({4, 3}, 4), leaf({4, 3}, 5)});
    }
    check([](const Tensors& t) { return tt::cumsum(t[0].square(), 0); }, {leaf({300}, 6).detach().slice(0, 0, 9).clone().requires_grad_()});
    check([](const Tensors& t) { return tt::sort(t[0].square()).values + tt::topk(t[0], 1).values + tt::cumsum(t[0], 0); }, {leaf({}, 7)});
    check([](const Tensors& t) { return tt::topk(t[0], 0).values.sum() + t[0].sum(); }, {leaf({3}, 8)});
    check([](const Tensors& t) { return tt::sort(t[0].transpose(0, 2), 1).values; }, {leaf({2, 3, 2}, 9)});
    const auto [v, i] = tt::sort(leaf({5}, 10));
    CHECK(v.requires_grad());
    CHECK(!i.requires_grad());
    CHECK(!tt::argsort(leaf({5}, 10)).requires_grad());
    {
      const tt::NoGrad off;
      CHECK(!tt::sort(leaf({5}, 10)).values.requires_grad());
    }
    const tt::InferenceMode inference;
    CHECK(tt::sort(tt::rand({3}, 1)).values.impl().inference);
    CHECK(tt::sort(tt::rand({3}, 1)).indices.impl().inference);
  });
}

TEST_CASE("equal elements: the gradient goes to the one that was taken") {
  Tensor x = tt::tensor({2.0, 5.0, 5.0, 1.0}).requires_grad_();
  tt::topk(x, 1).values.sum().backward();
  CHECK(numbers(x.grad()) == Numbers{0, 1, 0, 0});
}

TEST_CASE("the tape says what it cannot do") {
  Tensor x = tt::tensor({2.0, 5.0, 1.0}).requires_grad_();
  const int line = __LINE__ + 1;
  const Tensor u = tt::unique(x).values;
  CHECK(u.requires_grad());
  CHECK(message([&] { u.sum().backward(); }) == "tt::backward: unique has no derivative. Use detach() there?" + at(line));
  const auto r = tt::reduce_by_key(x, x);
  CHECK(message([&] { r.values.sum().backward(); }) == "tt::backward: reduce_by_key has no derivative. Use detach() there?" + at(__LINE__ - 1));
  auto s = tt::sort(x);  // what the message names
  s.indices.fill_(0);
  const std::string changed = "tt::backward: result 1 of sort, i64 (3,), was changed in place after it was saved: version 1, saved 0. Use a copy there?";
  CHECK(message([&] { s.values.sum().backward(); }) == changed + at(__LINE__ - 3));
  const Tensor sum = tt::sort(x).values.sum();
  sum.backward();
  CHECK(message([&] { sum.backward(); }).starts_with("tt::backward: the graph was freed by an earlier backward: "));
}

TEST_CASE("a compiled function that sorts, ranks and accumulates is one graph, with gradients") {
  const auto f = [](const Tensor& t, const Tensor& w) {
    const auto [values, indices] = tt::sort(t * 2, 1, true);
    const auto top = tt::topk(tt::exp(t), 2, 0);
    const Tensor order = tt::argsort(t, 1).to(tt::DType::f32);
    return tt::cumsum(values * w, 1) + order + top.values.sum(0) + indices.to(tt::DType::f32) * w + tt::cumsum(top.indices, 0).sum();
  };
  const Tensor x = tt::tensor({{2.0, 5.0, 1.0}, {0.5, -1.0, 7.0}, {3.0, 4.0, 2.5}}), w = tt::rand({3, 3}, 1);
  for (const bool compiled : {false, true}) {
    const auto c = tt::compile(f, {.tier = compiled, .wait = compiled, .fullgraph = true});
    CHECK(same_bits(c(x, w), f(x, w)));
    Tensor a = x.clone().requires_grad_(), b = x.clone().requires_grad_();
    f(a, w).sum().backward();
    c(b, w).sum().backward();
    CHECK(same_bits(a.grad(), b.grad()));
  }
  const auto c = tt::compile(f, {.tier = 0, .fullgraph = true});
  for (const std::int64_t n : {3, 4, 7}) {
    const Tensor t = tt::rand({n, n}, n), u = tt::rand({n, n}, 9);
    CHECK(same_bits(c(t, u), f(t, u)));
  }
  CHECK(c.captures() == 1);
  const auto t = tt::trace(f, x, w);
  CHECK(tt::parse(std::string(t.to_string())) == t.graph);
}

// ---- by name, Meta, mistakes

TEST_CASE("the dispatcher knows them by name") {
  tt::register_algorithms();
  const Tensor x = tt::tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
  const Tensors s = tt::call_results("sort", {x});
  REQUIRE(s.size() == 2);
  CHECK(numbers(s[0]) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(numbers(s[1]) == Numbers{1, 2, 0, 0, 2, 1});
  CHECK(numbers(tt::call_results("sort", {x, 0, true})[0]) == Numbers{4, 6, 5, 3, 1, 2});
  CHECK(numbers(tt::call_results("topk", {x, 1})[0]) == Numbers{3, 6});
  CHECK(numbers(tt::call_results("topk", {x}, {{"largest", false}, {"k", 2}})[0]) == Numbers{1, 2, 4, 5});
  CHECK(numbers(tt::call("argsort", {x}, {{"descending", true}})) == Numbers{0, 2, 1, 1, 2, 0});
  CHECK(numbers(tt::call_results("unique", {x < 3}, {{"return_counts", true}})[2]) == Numbers{4, 2});
  CHECK(numbers(tt::call("cumsum", {x, -1})) == Numbers{3, 4, 6, 4, 10, 15});
  CHECK(tt::call_results("reduce_by_key", {tt::arange(3), tt::arange(3)}).size() == 2);
  CHECK(tt::call_results("add", {x, x}).size() == 1);
  CHECK(message([&] { tt::call("sort", {x}); }) == "tt::call: sort: has 2 results. Use tt::call_results?" + at(__LINE__));
  const std::string integer = "tt::call: sort: an integer is expected for dim: takes (Tensor input, int dim=-1, bool descending=False, bool stable=False).";
  CHECK(message([&] { tt::call_results("sort", {x, 0.5}); }) == integer + at(__LINE__));
}

TEST_CASE("Meta Tensors know what the real ones would be") {
  for (const tt::IntList& shape : shapes) {
    const Tensor real = tt::zeros(shape), x = tt::empty(shape, {.device = meta});
    for (const int dim : axes_of(x)) {
      const auto same = [](const Tensor& a, const Tensor& b) {
        CHECK(a.is_meta());
        CHECK(a.dtype() == b.dtype());
        CHECK(a.shape() == b.shape());
      };
      const std::int64_t k = std::min<std::int64_t>(1, real.dim() ? std::int64_t{real.size(dim)} : 1);
      same(tt::sort(x, dim).values, tt::sort(real, dim).values);
      same(tt::sort(x, dim).indices, tt::sort(real, dim).indices);
      same(tt::argsort(x, dim), tt::argsort(real, dim));
      same(tt::topk(x, k, dim).values, tt::topk(real, k, dim).values);
      same(tt::cumsum(x.to(DType::i32), dim), tt::cumsum(real.to(DType::i32), dim));
    }
  }
  const Tensor x = tt::empty({3}, {.device = meta});
  const std::string size = "the size of the result depends on elements, and Meta Tensors have none.";
  CHECK(message<tt::Unavailable>([&] { tt::unique(x); }) == "tt::unique: " + size + at(__LINE__));
  CHECK(message<tt::Unavailable>([&] { tt::reduce_by_key(x, x); }) == "tt::reduce_by_key: " + size + at(__LINE__));
}

TEST_CASE("mistakes name op, facts and the caller's line") {
  const Tensor x = tt::zeros({2, 3}), one = tt::tensor(1.0), none;
  for (const Tensor& t : {x, tt::empty({2, 3}, {.device = meta})}) {
    CHECK(message([&] { tt::sort(t, 2); }) == "tt::sort: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
    CHECK(message([&] { tt::argsort(t, -3); }) == "tt::argsort: axis is out of range: -3 for shape (2, 3) of rank 2." + at(__LINE__));
    CHECK(message([&] { tt::cumsum(t, 5); }) == "tt::cumsum: axis is out of range: 5 for shape (2, 3) of rank 2." + at(__LINE__));
    CHECK(message([&] { tt::topk(t, 1, 2); }) == "tt::topk: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
    CHECK(message([&] { tt::topk(t, 4); }) == "tt::topk: k is out of range: 4 of 3 elements along axis 1 of shape (2, 3)." + at(__LINE__));
    CHECK(message([&] { tt::topk(t, -1, 0); }) == "tt::topk: k is out of range: -1 of 2 elements along axis 0 of shape (2, 3)." + at(__LINE__));
  }
  CHECK(message([&] { tt::sort(one, 1); }) == "tt::sort: axis is out of range: 1 for shape () of rank 0." + at(__LINE__));
  CHECK(message([&] { tt::topk(one, 2); }).starts_with("tt::topk: k is out of range: 2 of 1 elements"));
  CHECK(message([&] { tt::sort(none); }) == "tt::sort: argument input is an undefined Tensor." + at(__LINE__));
  const std::string vectors = "tt::reduce_by_key: keys and values are not vectors of one length: ";
  CHECK(message([&] { tt::reduce_by_key(x, x); }) == vectors + "(2, 3) and (2, 3)." + at(__LINE__));
  CHECK(message([&] { tt::reduce_by_key(tt::zeros({3}), tt::zeros({4})); }) == vectors + "(3,) and (4,)." + at(__LINE__));
}
