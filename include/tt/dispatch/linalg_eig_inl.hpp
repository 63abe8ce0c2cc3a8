// Operators with LAPACK kernels: complex eigenvalues and eigenvectors of matrices without symmetry. Real and imaginary parts are separate results here;
// linalg_inl.hpp gives them to the caller as one Tensor with a last axis of 2.
#pragma once
#include <vector>

#include "tt/dispatch/linalg_kernels_inl.hpp"

namespace tt {
namespace detail {

/// A complex matrix, or a vector for each matrix.
template <class X>
struct ComplexPair {
  X re, im;
  ComplexPair adjoint() const { return {transposed(re), -transposed(im)}; }
  ComplexPair operator+(const ComplexPair& o) const { return {re + o.re, im + o.im}; }
  ComplexPair operator-(const ComplexPair& o) const { return {re - o.re, im - o.im}; }
};
template <class X>
ComplexPair<X> matmul(const ComplexPair<X>& a, const ComplexPair<X>& b) {
  return {tt::matmul(a.re, b.re) - tt::matmul(a.im, b.im), tt::matmul(a.re, b.im) + tt::matmul(a.im, b.re)};
}

/// The inverse of a complex matrix A + iB, from the inverse of the real [[A, -B], [B, A]]; infinities if singular.
template <class = void>
struct ComplexInverse {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "_complex_inverse", .arguments = "real, imag"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym re, im;
  };
  struct Results {
    Tensor re, im;
  };
  static Like like(const Sym& a, const Sym&, const Options&) { return {a, symbol_like(a, a.dtype(), a.shape())}; }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, true), b = Matrices::of(c, 1, true);
    for (int k = 0; k < 2; ++k) c.result[k] = a.result(c, a.rows, a.rows);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      const int n = a.rows, both = 2 * n;
      ColumnMajor<T> m(both, both), x(both, n);
      std::vector<int> pivots(static_cast<std::size_t>(both) + 1);
      for (std::int64_t k = 0; k < a.count && n > 0; ++k) {
        const T *const re = a.dense.data_ptr<T>() + k * n * n, *const im = b.dense.data_ptr<T>() + k * n * n;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            m.element[j * both + i] = m.element[(n + j) * both + n + i] = re[i * n + j];
            m.element[j * both + n + i] = im[i * n + j];
            m.element[(n + j) * both + i] = -im[i * n + j];
            x.element[j * both + i] = i == j ? T(1) : T(0);
            x.element[j * both + n + i] = 0;
          }
        int code = 0;
        f.getrf(&both, &both, m.data(), &both, pivots.data(), &code);
        f.getrs("N", &both, &n, m.data(), &both, pivots.data(), x.data(), &both, &code);
        for (int part = 0; part < 2; ++part)
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) c.result[part].data_ptr<T>()[k * n * n + i * n + j] = x.element[j * both + part * n + i];
      }
    });
  }
  /// -W^H g W^H.
  static void derivative(const auto& s, const Options&) {
    using X = std::remove_cvref_t<decltype(s.result[0])>;
    const X zero = s.result[0] * 0.0;
    const auto w = ComplexPair<X>{s.result[0], s.result[1]}.adjoint();
    const ComplexPair<X> g{s.gradient[0].defined() ? X(s.gradient[0]) : zero, s.gradient[1].defined() ? X(s.gradient[1]) : zero};
    const auto r = matmul(matmul(w, g), w);
    s.out[0] = -r.re;
    s.out[1] = -r.im;
  }
};

template <class = void>
struct Eig {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "_linalg_eig", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym value_re, value_im, vector_re, vector_im;
  };
  struct Results {
    Tensor value_re, value_im, vector_re, vector_im;
  };
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a, a, a};
    const Sym values = matrix_like(a, a.shape()[a.shape().rank - 1], 1, 1);
    return {values, symbol_like(values, values.dtype(), values.shape()), symbol_like(a, a.dtype(), a.shape()), symbol_like(a, a.dtype(), a.shape())};
  }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, true);
    const int n = a.rows;
    for (int k = 0; k < 4; ++k) c.result[k] = a.result(c, n, k < 2 ? -1 : n);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      const int room = 8 * n + 1, one = 1;
      std::vector<T> work(static_cast<std::size_t>(room));
      ColumnMajor<T> m(n, n), v(n, n);
      for (std::int64_t k = 0; k < a.count && n > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * n * n);
        for (std::int64_t j = 0; j < std::int64_t{n} * n; ++j)  // others make LAPACK's xerbla end the program
          if (!(m.element[j] - m.element[j] == 0)) not_solved(c, "an element is not finite", a, k);
        T* const im = c.result[1].data_ptr<T>() + k * n;
        int code = 0;
        f.geev("N", "V", &n, m.data(), &n, c.result[0].data_ptr<T>() + k * n, im, nullptr, &one, v.data(), &n, work.data(), &room, &code);
        if (code != 0) not_solved(c, "eigenvalues were not found", a, k);
        T *const re = c.result[2].data_ptr<T>() + k * n * n, *const imag = c.result[3].data_ptr<T>() + k * n * n;
        for (int j = 0; j < n; ++j) {  // of a conjugate pair LAPACK gives the first vector's parts
          const int first = im[j] < 0 ? j - 1 : j;
          for (int i = 0; i < n; ++i) {
            re[i * n + j] = v.element[first * n + i];
            imag[i * n + j] = im[j] == 0 ? T(0) : im[j] > 0 ? v.element[(first + 1) * n + i] : -v.element[(first + 1) * n + i];
          }
        }
      }
    });
  }
  /// The real part of V^-H (diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(L_j - L_i)) V^H (Boeddeker et al., 2017). Vectors have length 1; changes of
  /// their phase have no gradient.
  static void derivative(const auto& s, const Options&) {
    using X = std::remove_cvref_t<decltype(s.result[0])>;
    const ComplexPair<X> l{s.result[0], s.result[1]}, v{s.result[2], s.result[3]};
    const auto given = [&](int k) { return s.gradient[k].defined() ? X(s.gradient[k]) : X(s.result[k] * 0.0); };
    const auto row = [&](const X& x) { return call_with<OverMatrices>(s.at, {-1}, x); };
    const auto column = [&](const X& x) { return call_with<OverMatrices>(s.at, {1}, x); };
    const auto diagonal = [&](const X& x) { return call_with<DiagEmbed>(s.at, {0}, x); };
    ComplexPair<X> inner{diagonal(given(0)), diagonal(given(1))};
    if (s.gradient[2].defined() || s.gradient[3].defined()) {
      const ComplexPair<X> vh = v.adjoint(), p = matmul(vh, {given(2), given(3)});
      const X own = call_with<Sum>(s.at, {{-1}, false}, p.re * diagonal(s.result[0] * 0.0 + 1.0));
      const auto q = p - matmul(vh, ComplexPair<X>{v.re * row(own), v.im * row(own)});
      const X re = row(l.re) - column(l.re), im = row(l.im) - column(l.im), size = re * re + im * im, over = tt::where(size == 0, 0.0, 1.0 / tt::where(size == 0, 1.0, size));
      inner = inner + ComplexPair<X>{(q.re * re - q.im * im) * over, (q.re * im + q.im * re) * over};
    }
    const auto vh = v.adjoint();
    auto [re, im] = call_with<ComplexInverse<>>(s.at, {}, vh.re, vh.im);
    s.out[0] = matmul(matmul(ComplexPair<X>{re, im}, inner), vh).re;
  }
};

}  // namespace detail
}  // namespace tt
