// The units of a simulated NPU that carry out its kernels, on the thread of its queue: vector instructions, 256 lanes at a time, the
// reduction unit, and the matrix unit.
//   Units(arena, addresses of the operands).run(kernel);
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "isa.hpp"

namespace npu {

class Units {
 public:
  Units(Arena& arena, const std::vector<void*>& operands) : arena_(arena), operand_(operands) {}

  void run(const Kernel& k) {
    switch (k.kind) {
      case Kernel::elements: return run_elements(k);
      case Kernel::reduction: return run_reduction(k);
      case Kernel::product: return with(k.type, [&]<class T>(T) { run_product<T>(k); });
    }
  }

 private:
  struct Register {
    std::uint64_t lane[lanes] = {};
    std::uint64_t& operator[](int l) { return lane[l]; }
  };
  Arena& arena_;
  const std::vector<void*>& operand_;

  std::byte* inside(int operand) { return arena_.inside(operand_[static_cast<std::size_t>(operand)]); }

  /// A type of the chip. Others were refused by the assembler.
  template <class F>
  static void with(tt::DType d, const F& f) {
    switch (d) {
      case tt::DType::f32: return f(float());
      case tt::DType::i32: return f(std::int32_t());
      case tt::DType::i64: return f(std::int64_t());
      default: return f(bool());
    }
  }
  // A lane holds the bits of its type in its low bytes.
  template <class T>
  static T get(std::uint64_t lane) {
    if constexpr (std::is_same_v<T, bool>) return lane != 0;
    else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(lane));
    else return static_cast<T>(lane);
  }
  template <class T>
  static std::uint64_t put(T x) {
    if constexpr (std::is_same_v<T, bool>) return x;
    else if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x);
    else return static_cast<std::uint64_t>(x);
  }

  // [lanes]
  /// The lanes of elements begin, begin + 1 ... of the grid.
  void run_code(const Kernel& k, std::int64_t begin, int count, std::vector<Register>& r) {
    for (const Instruction& i : k.code) {
      Register& to = r[static_cast<std::size_t>(i.to)];
      if (i.code == Code::load) {
        with(i.to_type, [&]<class T>(T) { load<T>(k, i, begin, count, r); });
      } else if (i.code == Code::immediate) {
        with(i.to_type, [&]<class T>(T) { std::fill_n(to.lane, count, put(tt::decode<T>(i.bits))); });
      } else if (i.code == Code::index) {
        for (int l = 0; l < count; ++l) {
          std::int64_t c[tt::max_rank] = {};
          coordinates(k.grid, begin + l, c);
          with(i.to_type, [&]<class T>(T) { to[l] = put(static_cast<T>(c[i.bits])); });
        }
      } else {
        with(i.type, [&]<class T>(T) { compute<T>(i, count, r); });
      }
    }
  }
  // [/lanes]
  template <class T>
  void load(const Kernel& k, const Instruction& i, std::int64_t begin, int count, std::vector<Register>& r) {
    const Place& p = k.places[i.bits];
    const T* from = reinterpret_cast<const T*>(inside(p.operand));
    Register& to = r[static_cast<std::size_t>(i.to)];
    if (p.dense) {
      for (int l = 0; l < count; ++l) to[l] = put(from[begin + l]);
      return;
    }
    for (int l = 0; l < count; ++l) {
      std::int64_t c[tt::max_rank] = {}, at = 0;
      coordinates(k.grid, begin + l, c);
      if (!follow(p.steps, c, static_cast<int>(k.grid.size()))) {
        to[l] = r[static_cast<std::size_t>(i.a)][l];
        continue;
      }
      for (std::size_t a = 0; a < p.strides.size(); ++a) at += c[a] * p.strides[a];
      to[l] = put(from[at]);
    }
  }
  template <class T>
  static void compute(const Instruction& i, int count, std::vector<Register>& r) {
    const auto lane = [&](int k, int l) { return k < 0 ? 0 : r[static_cast<std::size_t>(k)][l]; };
    Register& to = r[static_cast<std::size_t>(i.to)];
    for (int l = 0; l < count; ++l) {
      const T a = get<T>(lane(i.a, l)), b = get<T>(lane(i.b, l)), c = get<T>(lane(i.c, l));
      switch (i.code) {
        case Code::less: to[l] = a < b; break;
        case Code::less_equal: to[l] = a <= b; break;
        case Code::equal: to[l] = a == b; break;
        case Code::not_equal: to[l] = a != b; break;
        case Code::select: to[l] = lane(i.a, l) ? lane(i.b, l) : lane(i.c, l); break;
        case Code::move: to[l] = lane(i.a, l); break;
        case Code::convert:
          with(i.to_type, [&]<class To>(To) { to[l] = put(tt::Carrier<T>::template cast<To>(a)); });
          break;
        default: to[l] = put(arithmetic(i, a, b, c));
      }
    }
  }
  /// Integers wrap around; of min and max NaN wins.
  template <class T>
  static T arithmetic(const Instruction& i, T a, T b, T c) {
    const int shift = static_cast<int>(i.bits);
    if constexpr (std::is_same_v<T, bool>) {
      return i.code == Code::bit_and ? a && b : i.code == Code::bit_or ? a || b : i.code == Code::bit_not ? !a : a != b;
    } else if constexpr (std::is_same_v<T, float>) {
      switch (i.code) {
        case Code::add: return a + b;
        case Code::sub: return a - b;
        case Code::mul: return a * b;
        case Code::div: return a / b;
        case Code::min: return a < b || a != a ? a : b;
        case Code::max: return a > b || a != a ? a : b;
        case Code::fma: return multiply_add(a, b, c);
        case Code::neg: return -a;
        case Code::abs: return std::fabs(a);
        case Code::sqrt: return std::sqrt(a);
        case Code::floor: return std::floor(a);
        case Code::ceil: return std::ceil(a);
        case Code::round: return std::nearbyint(a);
        default: return std::trunc(a);
      }
    } else {
      using U = std::make_unsigned_t<T>;
      const U x = static_cast<U>(a), y = static_cast<U>(b);
      switch (i.code) {
        case Code::add: return static_cast<T>(x + y);
        case Code::sub: return static_cast<T>(x - y);
        case Code::mul: return static_cast<T>(x * y);
        case Code::min: return a < b ? a : b;
        case Code::max: return a > b ? a : b;
        case Code::fma: return static_cast<T>(x * y + static_cast<U>(c));
        case Code::neg: return static_cast<T>(U(0) - x);
        case Code::abs: return a < 0 ? static_cast<T>(U(0) - x) : a;
        case Code::bit_and: return static_cast<T>(x & y);
        case Code::bit_or: return static_cast<T>(x | y);
        case Code::bit_xor: return static_cast<T>(x ^ y);
        case Code::bit_not: return static_cast<T>(~x);
        case Code::shift_left: return static_cast<T>(x << shift);
        case Code::shift_right: return static_cast<T>(a >> shift);
        case Code::shift_right_logical: return static_cast<T>(x >> shift);
        default: return a;  // whole numbers are round
      }
    }
  }
  /// As the library's programs multiply and add: rounded once, where the processor that they run on can do that.
  template <class T>
  static T multiply_add(T a, T b, T c) {
    return tt::Carrier<T>::template apply<tt::Op::fma>(a, b, c);
  }

  void run_elements(const Kernel& k) {
    std::vector<Register> r(static_cast<std::size_t>(k.registers));
    const std::int64_t n = count_of(k.grid);
    with(k.type, [&]<class T>(T) {
      T* const to = reinterpret_cast<T*>(inside(k.to));
      for (std::int64_t begin = 0; begin < n; begin += lanes) {
        const int count = static_cast<int>(std::min<std::int64_t>(lanes, n - begin));
        run_code(k, begin, count, r);
        for (int l = 0; l < count; ++l) to[begin + l] = get<T>(r[static_cast<std::size_t>(k.result)][l]);
      }
    });
  }

  /// All elements first, then each sum in the order that the library states (graph/reduce_order.hpp), so that the bits are the CPU's.
  void run_reduction(const Kernel& k) {
    with(k.type, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        switch (k.reduce) {
          case tt::Op::sum: return reduce<tt::Op::sum, T>(k);
          case tt::Op::amax: return reduce<tt::Op::amax, T>(k);
          default: return reduce<tt::Op::amin, T>(k);
        }
      }
    });
  }
  template <tt::Op K, class T>
  void reduce(const Kernel& k) {
    std::vector<Register> r(static_cast<std::size_t>(k.registers));
    const std::int64_t n = count_of(k.grid);
    std::vector<T> element(static_cast<std::size_t>(n));
    for (std::int64_t begin = 0; begin < n; begin += lanes) {
      const int count = static_cast<int>(std::min<std::int64_t>(lanes, n - begin));
      run_code(k, begin, count, r);
      for (int l = 0; l < count; ++l) element[static_cast<std::size_t>(begin + l)] = get<T>(r[static_cast<std::size_t>(k.result)][l]);
    }
    Sizes kept = k.grid, gone = k.grid;  // the grid of the results, and that of what each of them is made of
    for (std::size_t a = 0; a < k.grid.size(); ++a) (k.axes >> a & 1 ? kept : gone)[a] = 1;
    const std::int64_t terms = count_of(gone);
    T* const to = reinterpret_cast<T*>(inside(k.to));
    std::vector<T> row(static_cast<std::size_t>(terms));
    for (std::int64_t e = 0; e < count_of(kept); ++e) {
      std::int64_t base[tt::max_rank] = {};
      coordinates(kept, e, base);
      for (std::int64_t t = 0; t < terms; ++t) {
        std::int64_t c[tt::max_rank] = {}, at = 0;
        coordinates(gone, t, c);
        for (std::size_t a = 0; a < k.grid.size(); ++a) at = at * k.grid[a] + base[a] + c[a];
        row[static_cast<std::size_t>(t)] = element[static_cast<std::size_t>(at)];
      }
      // [reduction]
      to[e] = k.row_order ? tt::reference_reduce<K, T>(row.data(), terms)
                          : tt::reference_reduce_rows<K, T>(terms, [&](std::int64_t t) { return row[static_cast<std::size_t>(t)]; });
      // [/reduction]
    }
  }

  /// Both factors are brought together in the matrix unit's own memory; each result is one chain of multiply-adds along K.
  template <class T>
  void run_product(const Kernel& k) {
    if constexpr (!std::is_same_v<T, bool>) {
      const std::vector<T> a = gather<T>(k.places[0], k.a_shape), b = gather<T>(k.places[1], k.b_shape);
      const std::size_t rank = k.grid.size();
      const std::int64_t rows = k.grid[rank - 2], columns = k.grid[rank - 1], inner = k.a_shape.back();
      T* const to = reinterpret_cast<T*>(inside(k.to));
      const Sizes batches(k.grid.begin(), k.grid.end() - 2);
      for (std::int64_t batch = 0; batch < count_of(batches); ++batch) {
        const T* const left = a.data() + matrix_of(batches, batch, k.a_shape) * rows * inner;
        const T* const right = b.data() + matrix_of(batches, batch, k.b_shape) * inner * columns;
        // [product]
        for (std::int64_t m = 0; m < rows; ++m) {
          T* const out = to + (batch * rows + m) * columns;
          std::fill_n(out, columns, T(0));
          for (std::int64_t i = 0; i < inner; ++i)
            for (std::int64_t n = 0; n < columns; ++n) out[n] = multiply_add(left[m * inner + i], right[i * columns + n], out[n]);
        }
        // [/product]
      }
    }
  }
  template <class T>
  std::vector<T> gather(const Place& p, const Sizes& shape) {
    const T* const from = reinterpret_cast<const T*>(inside(p.operand));
    std::vector<T> all(static_cast<std::size_t>(count_of(shape)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::int64_t c[tt::max_rank] = {}, at = 0;
      coordinates(shape, static_cast<std::int64_t>(i), c);
      follow(p.steps, c, static_cast<int>(shape.size()));
      for (std::size_t k = 0; k < p.strides.size(); ++k) at += c[k] * p.strides[k];
      all[i] = from[at];
    }
    return all;
  }
  /// Which matrix of a factor, whose leading axes are repeated where they are 1.
  static std::int64_t matrix_of(const Sizes& batches, std::int64_t batch, const Sizes& shape) {
    std::int64_t c[tt::max_rank] = {}, at = 0;
    coordinates(batches, batch, c);
    const std::size_t own = shape.size() - 2;
    for (std::size_t k = 0; k < own; ++k) at = at * shape[k] + (shape[k] == 1 ? 0 : c[batches.size() - own + k]);
    return at;
  }
};

}  // namespace npu
