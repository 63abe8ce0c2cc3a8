// Operators with LAPACK kernels: determinants and their logarithms; and cofactors, the derivative of a determinant.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tt/dispatch/linalg_kernels_inl.hpp"

namespace tt {
namespace detail {

template <class = void>
struct Cofactors;
/// Determinants, from the LU factors.
template <class = void>
struct Det {
  static constexpr OpInfo info{.name = "_linalg_det", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = NoOptions;
  static Sym like(const Sym& a, const Options&) { return is_matrix(a, info.name) ? matrix_like(a, 1, 1, 2) : a; }
  template <class T>
  static T of_factors(const ColumnMajor<T>& lu, const std::vector<int>& pivots) {
    T det = 1;
    for (int i = 0; i < lu.rows; ++i) det *= lu.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(lu.rows + 1)] * T(pivots[static_cast<std::size_t>(i)] != i + 1 ? -1 : 1);
    return det;
  }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, true);
    c.result[0] = a.result(c, -1, -1);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows);
      std::vector<int> pivots(static_cast<std::size_t>(a.rows) + 1);
      const int n = a.rows, lead = m.lead();
      int code = 0;
      for (std::int64_t k = 0; k < a.count; ++k) {
        m.read(a.dense.data_ptr<T>() + k * n * n);
        if (n > 0) f.getrf(&n, &n, m.data(), &lead, pivots.data(), &code);
        c.result[0].data_ptr<T>()[k] = of_factors(m, pivots);
      }
    });
  }
  static void derivative(const auto& s, const Options&) { s.out[0] = call_with<OverMatrices>(s.at, {2}, s.gradient[0]) * call_with<Cofactors<>>(s.at, {}, s.argument[0]); }
};
/// The sign, and the logarithm of the absolute value, of determinants.
template <class = void>
struct Slogdet {
  static constexpr OpInfo info{.name = "_linalg_slogdet", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = NoOptions;
  struct Like {
    Sym sign, logabsdet;
  };
  using Results = linalg::SlogdetResult;
  static Like like(const Sym& a, const Options&) {
    const Sym one = is_matrix(a, info.name) ? matrix_like(a, 1, 1, 2) : a;
    return {one, symbol_like(one, one.dtype(), one.shape())};
  }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, true);
    for (int k = 0; k < 2; ++k) c.result[k] = a.result(c, -1, -1);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows);
      std::vector<int> pivots(static_cast<std::size_t>(a.rows) + 1);
      for (std::int64_t k = 0; k < a.count; ++k) {
        T sign = 1, log = 0;
        if (a.rows > 0) {
          m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
          int code = 0;
          const int lead = m.lead(), n = a.rows;
          f.getrf(&n, &n, m.data(), &lead, pivots.data(), &code);
          for (int i = 0; i < n; ++i) {
            const T d = m.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(n + 1)];
            sign = pivots[static_cast<std::size_t>(i)] != i + 1 ? -sign : sign;
            sign = d < 0 ? -sign : d == 0 ? T(0) : sign;
            log += std::log(std::fabs(d));
          }
        }
        c.result[0].data_ptr<T>()[k] = sign;
        c.result[1].data_ptr<T>()[k] = log;
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    if (!s.gradient[1].defined()) return;
    const auto [inverse, infos] = call_with<Inverse<>>(s.at, {false}, s.argument[0]);
    s.out[0] = call_with<OverMatrices>(s.at, {2}, s.gradient[1]) * transposed(inverse);
  }
};
template <class = void>
struct SecondCofactors;
/// A = U S V^T, of a matrix that is overwritten.
template <class T>
struct SingularValues {
  ColumnMajor<T> u, vt;
  std::vector<T> values;
  T sign = 1;  ///< det(U) det(V)

  SingularValues(const Call& c, const Matrices& a, std::int64_t k, ColumnMajor<T>& m) : u(a.rows, a.rows), vt(a.rows, a.rows), values(static_cast<std::size_t>(a.rows)) {
    const auto& f = backend::Lapack<T>::get();
    const int n = a.rows, room = 4 * n * n + 8 * n + 128 * n + 1;
    std::vector<T> work(static_cast<std::size_t>(room));
    std::vector<int> iwork(static_cast<std::size_t>(8 * n)), pivots(static_cast<std::size_t>(n) + 1);
    int code = 0;
    f.gesdd("A", &n, &n, m.data(), &n, values.data(), u.data(), &n, vt.data(), &n, work.data(), &room, iwork.data(), &code);
    if (code != 0) not_solved(c, "singular values were not found", a, k);
    for (const ColumnMajor<T>* const q : {&u, &vt}) {
      ColumnMajor<T> factors(n, n);
      std::copy(q->element, q->element + n * n, factors.element);
      f.getrf(&n, &n, factors.data(), &n, pivots.data(), &code);
      sign *= Det<>::of_factors(factors, pivots) < 0 ? T(-1) : T(1);
    }
  }
  T product_without(int i, int j) const {
    T product = 1;
    for (int k = 0; k < static_cast<int>(values.size()); ++k) product *= k == i || k == j ? T(1) : values[static_cast<std::size_t>(k)];
    return product;
  }
};
/// Base of ops of square matrices whose results have the same shape.
struct OfSquares {
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = NoOptions;
};
inline Sym square_like(const Sym& a, const char* op) {
  (void)is_matrix(a, op);
  return a;
}
/// Calls f(T, matrices, each) once; each(one) calls one(number, matrix, result) for each matrix. `one` may overwrite the matrix.
template <class F>
void each_square(Call& c, const F& f) {
  const Matrices a = Matrices::of(c, 0, true);
  const int n = a.rows;
  c.result[0] = a.result(c, n, n);
  if (c[0].is_meta() || n == 0) return;
  each_matrix(c[0].dtype(), [&]<class T>(T type) {
    f(type, a, [&](const auto& one) {
      ColumnMajor<T> m(n, n), to(n, n);
      for (std::int64_t k = 0; k < a.count; ++k) {
        m.read(a.dense.data_ptr<T>() + k * n * n);
        one(k, m, to);
        to.write(c.result[0].data_ptr<T>() + k * n * n, n, n);
      }
    });
  });
}
/// Cofactors: signed determinants of the matrix without each row and column, the gradient of a determinant. For singular matrices from the singular values.
template <class>
struct Cofactors : OfSquares {
  static constexpr OpInfo info{.name = "_linalg_cofactors", .arguments = "A"};
  static Sym like(const Sym& a, const Options&) { return square_like(a, info.name); }
  static void kernel(Call& c, const Options&) {
    each_square(c, [&]<class T>(T, const Matrices& a, const auto& each) {
      const auto& f = backend::Lapack<T>::get();
      const int n = a.rows;
      std::vector<int> pivots(static_cast<std::size_t>(n) + 1);
      each([&](std::int64_t k, ColumnMajor<T>& m, ColumnMajor<T>& x) {
        int code = 0;
        f.getrf(&n, &n, m.data(), &n, pivots.data(), &code);
        if (code > 0) {
          m.read(a.dense.data_ptr<T>() + k * n * n);
          return singular(c, a, k, m, x);
        }
        const T det = Det<>::of_factors(m, pivots);
        std::fill(x.element, x.element + n * n, T(0));
        for (int i = 0; i < n; ++i) x.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(n + 1)] = det;
        f.getrs("T", &n, &n, m.data(), &n, pivots.data(), x.data(), &n, &code);
      });
    });
  }
  static void derivative(const auto& s, const Options&) { s.out[0] = call_with<SecondCofactors<>>(s.at, {}, s.argument[0], s.gradient[0]); }

 private:
  /// det(U) det(V) U diag(products of all other singular values) V^T.
  template <class T>
  static void singular(const Call& c, const Matrices& a, std::int64_t k, ColumnMajor<T>& m, ColumnMajor<T>& out) {
    const SingularValues<T> s(c, a, k, m);
    const int n = a.rows;
    std::fill(out.element, out.element + n * n, T(0));
    for (int r = 0; r < n; ++r) {
      const T others = s.product_without(r, r);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) out.element[j * n + i] += s.u.element[r * n + i] * others * s.vt.element[j * n + r];
    }
    for (int i = 0; i < n * n; ++i) out.element[i] *= s.sign;
  }
};
/// The derivative of cofactors, times G: the second derivative of a determinant, also for singular matrices. With A = U S V^T and B = U^T G V it is det(U V) U
/// H V^T, where H[j][j] is the sum over i != j of B[i][i] p[i][j], and H[j][i] is -B[i][j] p[i][j]; p[i][j] is the product of the singular values but i and j.
template <class>
struct SecondCofactors : OfSquares {
  static constexpr OpInfo info{.name = "_linalg_second_cofactors", .arguments = "A, G"};
  static Sym like(const Sym& a, const Sym&, const Options&) { return square_like(a, info.name); }
  static void kernel(Call& c, const Options&) {
    each_square(c, [&]<class T>(T, const Matrices& a, const auto& each_one) {
      const int n = a.rows;
      const Tensor gradient = c[1].contiguous(c.at);
      ColumnMajor<T> g(n, n), b(n, n), h(n, n), x(n, n);
      each_one([&](std::int64_t k, ColumnMajor<T>& m, ColumnMajor<T>& to) {
        g.read(gradient.data_ptr<T>() + k * n * n);
        const SingularValues<T> s(c, a, k, m);
        const auto at = [n](const ColumnMajor<T>& q, int i, int j) -> T& { return q.element[j * n + i]; };
        const auto sum = [n](const auto& f) {
          T t = 0;
          for (int i = 0; i < n; ++i) t += f(i);
          return t;
        };
        const auto each = [n](const auto& f) {
          for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) f(i, j);
        };
        each([&](int i, int j) { at(x, i, j) = sum([&](int r) { return at(s.u, r, i) * at(g, r, j); }); });
        each([&](int i, int j) { at(b, i, j) = sum([&](int r) { return at(x, i, r) * at(s.vt, j, r); }); });
        each([&](int i, int j) {
          at(h, j, i) = i == j ? sum([&](int r) { return r == j ? T(0) : at(b, r, r) * s.product_without(r, j); }) : -at(b, i, j) * s.product_without(i, j);
        });
        each([&](int i, int j) { at(x, i, j) = sum([&](int r) { return at(s.u, i, r) * at(h, r, j); }); });
        each([&](int i, int j) { at(to, i, j) = s.sign * sum([&](int r) { return at(x, i, r) * at(s.vt, r, j); }); });
      });
    });
  }
  /// Linear in G, and symmetric in G and the incoming gradient W. By A it is a third derivative, here for invertible matrices only, with X = A^-T: of
  /// det (<G, X> <W, X> - <W, X G^T X>).
  static void derivative(const auto& s, const Options&) {
    const auto &a = s.argument[0], &g = s.argument[1], &w = s.gradient[0];
    s.out[1] = call_with<SecondCofactors>(s.at, {}, a, w);
    const auto [inverse, infos] = call_with<Inverse<>>(s.at, {false}, a);
    const auto x = transposed(inverse);
    const auto det = call_with<OverMatrices>(s.at, {2}, call_with<Det<>>(s.at, {}, a));
    const auto inner = [&](const auto& p, const auto& q) { return call_with<OverMatrices>(s.at, {2}, call_with<Sum>(s.at, {{-2, -1}, false}, p * q)); };
    const auto across = [&](const auto& p) { return tt::matmul(tt::matmul(x, transposed(p)), x); };
    const auto pg = across(g), pw = across(w), gx = inner(g, x), wx = inner(w, x);
    s.out[0] = det * (x * (gx * wx - inner(w, pg)) - pg * wx - pw * gx + tt::matmul(tt::matmul(pg, transposed(w)), x) + tt::matmul(tt::matmul(pw, transposed(g)), x));
  }
};

}  // namespace detail
}  // namespace tt
