// Definitions of linear_algebra.hpp, and their names.
#pragma once
#include "tt/dispatch/einsum_inl.hpp"
#include "tt/dispatch/reduction_functions_inl.hpp"
#include "tt/dispatch/shape_names_inl.hpp"

namespace tt {
namespace detail {

template <class = void>
void need_ranks(const char* op, const Tensor& a, int rank_a, const Tensor& b, int rank_b, SourceLine at) {
  if (a.dim() != rank_a || b.dim() != rank_b)
    TT_THROW(Error(Text("tt::") << op << ": shapes " << a.shape() << " and " << b.shape() << " have ranks " << a.dim() << " and " << b.dim() << ", needed are " << rank_a << " and " << rank_b << "." << at));
  need_same_dtype(op, a, b, at);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor mm(const Tensor& a, const Tensor& b, SourceLine at) {
  detail::need_ranks("mm", a, 2, b, 2, at);
  return tt::matmul(a, b, at);
}
TT_LAZY_DEFINITION Tensor bmm(const Tensor& a, const Tensor& b, SourceLine at) {
  detail::need_ranks("bmm", a, 3, b, 3, at);
  if (a.size(0, at) != b.size(0, at)) TT_THROW(Error(Text("tt::bmm: batches differ: ") << a.shape() << " and " << b.shape() << "." << at));
  return tt::matmul(a, b, at);
}
TT_LAZY_DEFINITION Tensor mv(const Tensor& a, const Tensor& v, SourceLine at) {
  detail::need_ranks("mv", a, 2, v, 1, at);
  return tt::matmul(a, v, at);
}
TT_LAZY_DEFINITION Tensor dot(const Tensor& a, const Tensor& b, SourceLine at) {
  detail::need_ranks("dot", a, 1, b, 1, at);
  return tt::matmul(a, b, at);
}
TT_LAZY_DEFINITION Tensor inner(const Tensor& a, const Tensor& b, SourceLine at) { return call_with<Inner>(at, {}, a, b); }
TT_LAZY_DEFINITION Tensor outer(const Tensor& a, const Tensor& b, SourceLine at) {
  if (a.dim() != 1 || b.dim() != 1) detail::need_ranks("outer", a, 1, b, 1, at);
  return a.unsqueeze(1, at) * b.unsqueeze(0, at);
}
TT_LAZY_DEFINITION Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) { return call_with<Addmm>(at, {beta, alpha}, input, a, b); }
TT_LAZY_DEFINITION Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& v, double beta, double alpha, SourceLine at) { return call_with<Addmv>(at, {beta, alpha}, input, a, v); }
TT_LAZY_DEFINITION Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) { return call_with<Addr>(at, {beta, alpha}, input, a, b); }
TT_LAZY_DEFINITION Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) { return call_with<Addbmm>(at, {beta, alpha}, input, a, b); }
TT_LAZY_DEFINITION Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha, SourceLine at) { return call_with<Baddbmm>(at, {beta, alpha}, input, a, b); }
TT_LAZY_DEFINITION Tensor tensordot(const Tensor& a, const Tensor& b, int dims, SourceLine at) {
  if (dims < 0 || dims > a.dim() || dims > b.dim()) TT_THROW(Error(Text("tt::tensordot: ") << dims << " axes of shapes " << a.shape() << " and " << b.shape() << "." << at));
  IntList of_a, of_b;
  for (int k = 0; k < dims; ++k) {
    of_a.push_back(a.dim() - dims + k);
    of_b.push_back(k);
  }
  return tensordot(a, b, of_a, of_b, at);
}
TT_LAZY_DEFINITION Tensor tensordot(const Tensor& a, const Tensor& b, const IntList& dims_a, const IntList& dims_b, SourceLine at) {
  detail::need_same_dtype("tensordot", a, b, at);
  if (dims_a.size() != dims_b.size()) TT_THROW(Error(Text("tt::tensordot: axes ") << dims_a << " and " << dims_b << " are not as many." << at));
  const std::uint64_t in_a = detail::axis_set(a, dims_a, "tensordot", at), in_b = detail::axis_set(b, dims_b, "tensordot", at);
  if (a.dim() + b.dim() - 2 * dims_a.size() > max_rank) TT_THROW(Error(Text("tt::tensordot: the product of shapes ") << a.shape() << " and " << b.shape() << " has more than " << max_rank << " axes." << at));
  Contraction::Options letters;  // numbers of axes: 1 and up for a; summed axes of b share a's number
  for (int k = 0; k < a.dim(); ++k) letters.left.push_back(1 + k);
  for (int k = 0; k < b.dim(); ++k) letters.right.push_back(1 + max_rank + k);
  for (int k = 0; k < dims_a.size(); ++k) {
    const int i = normalize_axis(detail::saturated<int>(dims_a.value(k)), a.dim()), j = normalize_axis(detail::saturated<int>(dims_b.value(k)), b.dim());
    if (a.size(i, at) != b.size(j, at)) TT_THROW(Error(Text("tt::tensordot: sizes differ: axis ") << i << " of shape " << a.shape() << ", axis " << j << " of shape " << b.shape() << "." << at));
    letters.right.item[j] = letters.left.item[i];
  }
  for (int k = 0; k < a.dim(); ++k)
    if (!(in_a >> k & 1)) letters.result.push_back(letters.left.item[k]);
  for (int k = 0; k < b.dim(); ++k)
    if (!(in_b >> k & 1)) letters.result.push_back(letters.right.item[k]);
  return call_with<Contraction>(at, letters, a, b);
}
TT_LAZY_DEFINITION Tensor cross(const Tensor& a, const Tensor& b, Optional<int> dim, SourceLine at) {
  int axis = dim.given ? dim.value : -1;
  for (int k = a.dim() - 1; !dim.given && k >= 0; --k)
    if (a.size(k, at) == 3) axis = k;
  return linalg::cross(a, b, axis, at);
}
TT_LAZY_DEFINITION Tensor kron(const Tensor& a, const Tensor& b, SourceLine at) {
  const int rank = a.dim() > b.dim() ? a.dim() : b.dim();
  if (rank == 0) return a * b;
  IntList left, right, row_of_a, row_of_b, wide_a, wide_b, to;
  for (int k = 0; k < rank; ++k) {
    const Size n = k < rank - a.dim() ? Size(1) : a.size(k - (rank - a.dim()), at), m = k < rank - b.dim() ? Size(1) : b.size(k - (rank - b.dim()), at);
    const bool last = k == rank - 1;
    left.push_back(n);
    left.push_back(1);
    right.push_back(1);
    right.push_back(m);
    wide_a.push_back(n);
    wide_a.push_back(last ? m : Size(1));
    wide_b.push_back(last ? n : Size(1));
    wide_b.push_back(m);
    row_of_a.push_back(last ? n * m : n);
    row_of_b.push_back(last ? n * m : Size(1));
    if (!last) {
      row_of_a.push_back(1);
      row_of_b.push_back(m);
    }
    to.push_back(n * m);
  }
  constexpr int long_row = 32;
  if (b.dim() > 0 && b.size(-1, at) >= long_row) return (a.reshape(left, at) * b.reshape(right, at)).reshape(to, at);
  // Short rows of b: rows of the result are products of two rows of that length, elements of a repeated and rows of b.
  return (a.reshape(left, at).expand(wide_a, at).reshape(row_of_a, at) * b.reshape(right, at).expand(wide_b, at).reshape(row_of_b, at)).reshape(to, at);
}
TT_LAZY_DEFINITION Tensor block_diag(TensorSpan all, SourceLine at) {
  TensorList blocks;
  Size columns(0), before(0);
  for (const Tensor& t : all) {
    if (t.dim() > 2) detail::refuse("block_diag", "of more than two axes", t, at);
    blocks.push_back(detail::at_least(t, 2, at));
    columns += blocks.back().size(1, at);
  }
  TensorList rows;
  for (const Tensor& t : blocks) {
    rows.push_back(tt::pad(t, {before, columns - before - t.size(1, at)}, PadMode::constant, 0, at));
    before += t.size(1, at);
  }
  return cat(rows, 0, at);
}
TT_LAZY_DEFINITION Tensor trace(const Tensor& x, SourceLine at) {
  if (x.dim() != 2) detail::refuse("trace", "not a matrix", x, at);
  return diagonal(x, 0, 0, 1, at).sum({}, false, at);
}
TT_LAZY_DEFINITION Tensor cov(const Tensor& given, int correction, const Tensor& fweights, const Tensor& aweights, SourceLine at) {
  if (given.dim() > 2) detail::refuse("cov", "of more than two axes", given, at);
  Tensor x = detail::at_least(given, 2, at);
  if (!is_floating(x.dtype())) x = x.to(DType::f32, at);
  const auto need_weights = [&](const Tensor& v, const char* what, bool whole) {
    if (!v.defined()) return;
    if (v.dim() > 1 || v.numel(at) != x.size(1, at)) TT_THROW(Error(Text("tt::cov: ") << what << " of shape " << v.shape() << " for " << x.size(1, at).value() << " observations." << at));
    if (is_integral(v.dtype()) != whole) TT_THROW(Error(Text("tt::cov: ") << what << " are of " << name(v.dtype()) << (whole ? ". Integers?" : ". Floats?") << at));
    if (detail::capture_mode) detail::capture_mode->need(v, "cov", at);  // reads signs
    if (!v.is_meta() && (v.detach() < 0).any({}, false, at).item<bool>(at)) TT_THROW(Error(Text("tt::cov: ") << what << " are negative." << at));
  };
  need_weights(fweights, "fweights", true);
  need_weights(aweights, "aweights", false);
  Tensor w;
  if (fweights.defined()) w = fweights;
  if (aweights.defined()) w = w.defined() ? w * aweights : aweights;
  const Tensor sum = w.defined() ? w.sum({}, false, at) : full({}, x.size(1, at), detail::on_device(x.dtype(), x.device()), at);
  const Tensor mean = (w.defined() ? (x * w).sum({1}, true, at) : x.sum({1}, true, at)) / sum;
  const Tensor lost = aweights.defined() && correction != 0 ? (w * aweights).sum({}, false, at) / sum * correction : full({}, static_cast<double>(correction), detail::on_device(x.dtype(), x.device()));
  const Tensor by = tt::maximum(sum - lost, 0, at), c = x - mean;
  const Tensor r = tt::matmul(w.defined() ? c * w : c, c.transpose(0, 1, at), at) / by;
  return r.size(0, at) == 1 ? r.reshape({}, at) : r;
}
TT_LAZY_DEFINITION Tensor corrcoef(const Tensor& x, SourceLine at) {
  const Tensor c = cov(x, 1, {}, {}, at);
  if (c.dim() == 0) return c / c;
  const Tensor d = tt::sqrt(diagonal(c, 0, 0, 1, at), at);
  return tt::clamp(c / d.unsqueeze(1, at) / d.unsqueeze(0, at), -1, 1, at);
}
TT_LAZY_DEFINITION Tensor norm(const Tensor& x, double p, const IntList& dim, bool keepdim, SourceLine at) {
  detail::need_floating("norm", x, at);
  return call_with<VectorNorm>(at, {p, dim, keepdim}, x);
}

TT_LAZY_DEFINITION Tensor linalg::vector_norm(const Tensor& x, double ord, const IntList& dim, bool keepdim, SourceLine at) {
  detail::need_floating("vector_norm", x, at);
  return call_with<VectorNorm>(at, {ord, dim, keepdim}, x);
}
namespace linalg {
/// The largest along an axis, 0 if it is empty; for elements >= 0.
template <class = void>
Tensor largest_along(const Tensor& x, int dim, bool keepdim, SourceLine at) { return x.size(dim, at) == 0 ? x.sum({dim}, keepdim, at) : x.amax({dim}, keepdim, at); }
template <class F>
Tensor of_singular_values(const Tensor& x, const IntList& dim, bool keepdim, const F& f, SourceLine at) {
  const int a = tt::detail::axis_of(x, tt::detail::saturated<int>(dim.value(0)), "matrix_norm", at, x.dim()), b = tt::detail::axis_of(x, tt::detail::saturated<int>(dim.value(1)), "matrix_norm", at, x.dim());
  const Tensor r = f(svdvals(movedim(x, {a, b}, {-2, -1}, at), at));
  return keepdim ? r.unsqueeze(a < b ? a : b, at).unsqueeze(a < b ? b : a, at) : r;
}
}  // namespace linalg
TT_LAZY_DEFINITION Tensor linalg::matrix_norm(const Tensor& x, std::string_view ord, const IntList& dim, bool keepdim, SourceLine at) {
  detail::need_floating("matrix_norm", x, at);
  if (dim.size() != 2) TT_THROW(Error(Text("tt::matrix_norm: two axes are needed, not ") << dim << "." << at));
  if (ord == "nuc") return of_singular_values(x, dim, keepdim, [&](const Tensor& s) { return s.sum({-1}, false, at); }, at);
  if (ord != "fro") TT_THROW(Error(Text("tt::matrix_norm: the norm is neither fro nor nuc.") << at));
  return call_with<VectorNorm>(at, {2, dim, keepdim}, x);
}
TT_LAZY_DEFINITION Tensor linalg::matrix_norm(const Tensor& x, double ord, const IntList& dim, bool keepdim, SourceLine at) {
  detail::need_floating("matrix_norm", x, at);
  if (dim.size() != 2) TT_THROW(Error(Text("tt::matrix_norm: two axes are needed, not ") << dim << "." << at));
  const double size = ord < 0 ? -ord : ord;
  if (size == 2) return of_singular_values(x, dim, keepdim, [&](const Tensor& s) { return ord > 0 ? largest_along(s, -1, false, at) : s.amin({-1}, false, at); }, at);
  if (size != 1 && !std::isinf(size)) TT_THROW(Error(Text("tt::matrix_norm: there is no such norm of matrices.") << at));
  const int rows = detail::axis_of(x, tt::detail::saturated<int>(dim.value(0)), "matrix_norm", at, x.dim()), columns = detail::axis_of(x, tt::detail::saturated<int>(dim.value(1)), "matrix_norm", at, x.dim());
  const int summed = size == 1 ? rows : columns, compared = size == 1 ? columns : rows;
  const Tensor sums = tt::abs(x, at).sum({summed}, true, at), r = ord > 0 ? largest_along(sums, compared, true, at) : sums.amin({compared}, true, at);
  return keepdim ? r : tt::squeeze(r, {rows, columns}, at);
}
TT_LAZY_DEFINITION Tensor linalg::cross(const Tensor& a, const Tensor& b, int dim, SourceLine at) {
  if (a.dim() != b.dim()) TT_THROW(Error(Text("tt::cross: ranks differ: shapes ") << a.shape() << " and " << b.shape() << "." << at));
  detail::need_same_dtype("cross", a, b, at);
  for (const Tensor* t : {&a, &b})
    if (!(t->size(detail::axis_of(*t, dim, "cross", at, t->dim()), at) == 3)) detail::refuse("cross", "the axis is not of 3", *t, at);
  const Tensor both[] = {a, b};
  const TensorList w = broadcast_tensors(both, at);
  const int d = detail::axis_of(w[0], dim, "cross", at, w[0].dim());
  if (!(w[0].size(d, at) == 3)) detail::refuse("cross", "the axis is not of 3", w[0], at);
  return call_with<Cross>(at, {d}, w[0], w[1]);
}
TT_LAZY_DEFINITION Tensor linalg::vecdot(const Tensor& a, const Tensor& b, int dim, SourceLine at) { return call_with<Vecdot>(at, {dim}, a, b); }
TT_LAZY_DEFINITION Tensor linalg::matrix_power(const Tensor& a, int n, SourceLine at) {
  if (a.dim() < 2 || a.size(-1, at) != a.size(-2, at)) detail::refuse("matrix_power", "matrices are not square", a, at);
  if (n == 0) return eye(a.size(-1, at), detail::on_device(a.dtype(), a.device()), at).expand(a.shape(at), at) + tt::where(zeros({}, detail::on_device(DType::boolean, a.device())), a, 0, at);  // a gradient of 0
  Tensor r, square = n < 0 ? inv(a, at) : a;
  for (auto left = n < 0 ? 0 - static_cast<unsigned>(n) : static_cast<unsigned>(n); left > 0; left >>= 1) {
    if (left & 1) r = r.defined() ? tt::matmul(r, square, at) : square;
    if (left > 1) square = tt::matmul(square, square, at);
  }
  return r;
}
TT_LAZY_DEFINITION Tensor linalg::multi_dot(TensorSpan all, SourceLine at) {
  const int n = static_cast<int>(all.size());
  if (n < 2) TT_THROW(Error(Text("tt::multi_dot: ") << n << " Tensors. Two or more?" << at));
  TensorList x(all.begin(), all.end());
  const bool row = x[0].dim() == 1, column = x.back().dim() == 1;
  if (row) x[0] = x[0].unsqueeze(0, at);
  if (column) x.back() = x.back().unsqueeze(1, at);
  for (const Tensor& t : x)
    if (t.dim() != 2) detail::refuse("multi_dot", "not a matrix", t, at);
  // The cheapest order: cost[i][j] of the product of i to j (Cormen et al., Introduction to Algorithms, 15.2).
  const auto side = [&](int k) { return static_cast<double>((k < n ? x[static_cast<std::size_t>(k)].size(0, at) : x.back().size(1, at)).hint()); };
  std::vector<std::vector<double>> cost(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n), 0));
  std::vector<std::vector<int>> cut(static_cast<std::size_t>(n), std::vector<int>(static_cast<std::size_t>(n), 0));
  for (int length = 1; length < n; ++length)
    for (int i = 0; i + length < n; ++i) {
      const int j = i + length;
      auto& best = cost[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      best = -1;
      for (int k = i; k < j; ++k) {
        const double c = cost[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] + cost[static_cast<std::size_t>(k + 1)][static_cast<std::size_t>(j)] + side(i) * side(k + 1) * side(j + 1);
        if (best < 0 || c < best) best = c, cut[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = k;
      }
    }
  const auto product = [&](const auto& self, int i, int j) -> Tensor {
    if (i == j) return x[static_cast<std::size_t>(i)];
    const int k = cut[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    return tt::matmul(self(self, i, k), self(self, k + 1, j), at);
  };
  Tensor r = product(product, 0, n - 1);
  if (row) r = r.select(0, 0, at);
  return column ? r.select(-1, 0, at) : r;
}
TT_LAZY_DEFINITION Tensor linalg::vander(const Tensor& x, Optional<std::int64_t> n, SourceLine at) {
  const std::int64_t columns = n.given ? n.value : x.dim() ? x.size(-1, at).value() : 1;
  detail::need_dtype(x.dtype() != DType::boolean, "vander", x.dtype(), at);
  if (columns < (n.given ? 2 : 1)) TT_THROW(Error(Text("tt::vander: ") << columns << " powers. Two or more?" << at));
  if (columns > 1 << 24) TT_THROW(Error(Text("tt::vander: ") << columns << " powers are more than memory holds." << at));
  const DType d = is_floating(x.dtype()) ? x.dtype() : DType::i64;
  TensorList powers{ones(x.shape(at), detail::on_device(d, x.device()), at)};
  for (std::int64_t k = 1; k < columns; ++k) powers.push_back(powers.back() * x);
  const Tensor r = stack(powers, x.dim(), at);
  return x.dim() ? r : r.unsqueeze(0, at);
}

namespace detail {

template <class = void>
void register_linear_algebra_names() {
  const auto pair = [](const char* name, const char* a, auto f) {
    const Text schema = Text("Tensor ") << a;
    register_function(name, keep_text(schema.begin(), static_cast<std::size_t>(schema.size())), f);
  };
  pair("mm", "input, Tensor mat2", [](const Tensor& a, const Tensor& b, Line at) { return mm(a, b, at); });
  pair("bmm", "input, Tensor mat2", [](const Tensor& a, const Tensor& b, Line at) { return bmm(a, b, at); });
  pair("mv", "input, Tensor vec", [](const Tensor& a, const Tensor& b, Line at) { return mv(a, b, at); });
  for (const char* name : {"dot", "vdot"}) pair(name, "input, Tensor other", [](const Tensor& a, const Tensor& b, Line at) { return dot(a, b, at); });
  for (const char* name : {"outer", "ger"}) pair(name, "input, Tensor vec2", [](const Tensor& a, const Tensor& b, Line at) { return outer(a, b, at); });
  register_function("tensordot", "Tensor a, Tensor b, int dims=2", [](const Tensor& a, const Tensor& b, int d, Line at) { return tensordot(a, b, d, at); });
  register_function("tensordot", "Tensor a, Tensor b, int[] dims_self, int[] dims_other", [](const Tensor& a, const Tensor& b, const IntList& x, const IntList& y, Line at) { return tensordot(a, b, x, y, at); });
  register_function("einsum", "str equation, Tensor[] tensors", [](const std::string& e, const TensorList& l, Line at) { return einsum(e, l, at); });
  register_function("einsum", "Tensor[] tensors, str equation", [](const TensorList& l, const std::string& e, Line at) { return einsum(e, l, at); });
  register_function("kron", "Tensor input, Tensor other", [](const Tensor& a, const Tensor& b, Line at) { return kron(a, b, at); });
  register_function("block_diag", "Tensor[] tensors", [](const TensorList& l, Line at) { return block_diag(l, at); });
  register_function("trace", "Tensor input", [](const Tensor& x, Line at) { return trace(x, at); });
  register_function("cov", "Tensor input, int correction=1, Tensor? fweights=None, Tensor? aweights=None", [](const Tensor& x, int c, const Tensor& f, const Tensor& a, Line at) { return cov(x, c, f, a, at); });
  register_function("corrcoef", "Tensor input", [](const Tensor& x, Line at) { return corrcoef(x, at); });
  register_function("linalg_vector_norm", "Tensor x, Scalar ord=2, int[]? dim=None, bool keepdim=False, dtype? dtype=None",
                    [](const Tensor& x, const TensorOperand& p, const IntList& d, bool k, OptionalDType t, Line at) { return linalg::vector_norm(converted(x, t, at), real_of(p, at), d, k, at); });
  // ord is a scalar or "fro"; over two axes a matrix norm.
  static constexpr auto norm_of = [](const Tensor& x, const BoxedValue& p, const IntList& d, bool k, bool of_matrices, Line at) {
    if (p.is_text()) return linalg::matrix_norm(x, p.text(), d.size() == 2 ? d : IntList{-2, -1}, k, at);
    if (of_matrices && !p.is_none()) return linalg::matrix_norm(x, p.real(), d.size() == 2 ? d : IntList{-2, -1}, k, at);
    return linalg::vector_norm(x, p.is_none() ? 2 : p.real(), d, k, at);
  };
  register_function("norm", "Tensor input, Scalar|str? p=None, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const BoxedValue& p, const IntList& d, bool k, OptionalDType t, Line at) {
    if (p.is_text() && p.text() == "fro") return linalg::vector_norm(converted(x, t, at), 2, d, k, at);
    return norm_of(converted(x, t, at), p, d, k, false, at);
  });
  register_function("linalg_norm", "Tensor A, Scalar|str? ord=None, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const BoxedValue& p, const IntList& d, bool k, OptionalDType t, Line at) {
    return norm_of(converted(x, t, at), p, d, k, d.size() == 2 || (d.size() == 0 && x.dim() == 2), at);
  });
  register_function("linalg_matrix_norm", "Tensor A, Scalar|str? ord=None, int[] dim=[-2, -1], bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const BoxedValue& p, const IntList& d, bool k, OptionalDType t, Line at) {
    return p.is_none() ? linalg::matrix_norm(converted(x, t, at), "fro", d, k, at) : norm_of(converted(x, t, at), p, d, k, true, at);
  });
  register_function("linalg_cross", "Tensor input, Tensor other, int dim=-1", [](const Tensor& a, const Tensor& b, int d, Line at) { return linalg::cross(a, b, d, at); });
  register_function("cross", "Tensor input, Tensor other, int? dim=None", [](const Tensor& a, const Tensor& b, Optional<int> d, Line at) { return cross(a, b, d, at); });
  for (const char* name : {"linalg_matrix_power", "matrix_power"}) register_function(name, "Tensor A, int n", [](const Tensor& a, int n, Line at) { return linalg::matrix_power(a, n, at); });
  for (const char* name : {"linalg_multi_dot", "chain_matmul"}) register_function(name, "Tensor[] tensors", [](const TensorList& l, Line at) { return linalg::multi_dot(l, at); });
  register_function("linalg_vander", "Tensor x, int? N=None", [](const Tensor& x, Optional<std::int64_t> n, Line at) { return linalg::vander(x, n, at); });
}

}  // namespace detail
}  // namespace tt
