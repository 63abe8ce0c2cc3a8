// Definitions of index_functions.hpp.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/row_ops_inl.hpp"
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {
namespace detail {

/// How a written element is combined with the element already at its index.
enum class Meeting { assign, sum, prod, amax, amin };
}  // namespace detail
template <>
inline constexpr const char* choices_of<detail::Meeting> = "assign|sum|prod|amax|amin";
namespace detail {

template <class = void>
struct Scatter {
  struct Options {
    int dim = 0;
    Meeting meeting = Meeting::assign;
    bool include_self = true;
  };
  static constexpr OpInfo info{.name = "_scatter", .arguments = "input, .dim, index, src"};
  static constexpr bool is_linear = true;  // for the meetings differentiated here, see below
  static constexpr Batching batching = Batching::along_dim;
  static Sym like(const Sym& x, const Sym& index, const Sym& src, const Options&) { return like_written(x, src, index.shape(), info.name); }
  static void kernel(Call& c, const Options& o) {
    const AxisElements e(c, o.dim);
    if (!(c[2].impl().shape == e.shape)) sizes_differ(c, o.dim, "source", c[2]);
    need_device(c, 2);
    const DType d = c[0].dtype();
    need_same_dtype("scatter", c[0], c[2], c.at);
    if (c[0].is_meta()) return void(c.result[0] = Tensor(d, c[0].impl().shape, c[0].device()));
    const Tensor source = c[2].contiguous(), index = checked_indices(c, e.axis, false);
    const Tensor& result = c.result[0] = elements_to_change(c);
    const Tensor touched = o.include_self ? Tensor() : zeros(result.shape(), TensorOptions{.dtype = DType::boolean});
    bool* const there = touched.defined() ? touched.data_ptr<bool>() : nullptr;
    with_dtype(d, [&]<class T>(T) {
      const auto* const values = source.data_ptr<T>();
      const auto* const places = index.data_ptr<std::int64_t>();
      auto* const to = result.data_ptr<T>();
      const auto each = [&](const auto& meet) {  // meet(index in the result, value written there)
        e.each_row(result, e.rows_are_apart(), [&](std::int64_t first, std::int64_t base) {
          const auto* from = values + first;
          e.each_place(result, places + first, [&](std::int64_t j, std::int64_t place) { meet(base + place, from[j]); });
        });
      };
      if (o.meeting == Meeting::assign) return each([&](std::int64_t at, T value) { to[at] = value; });
      each([&](std::int64_t at, T value) {
        const bool alone = there && !there[at];
        if (alone) there[at] = true;
        to[at] = alone ? value : met(o.meeting, to[at], value);
      });
    });
  }
  /// For assign and sum; for the other meetings see ScatterProduct and scatter_reduce.
  static void derivative(const auto& s, const Options& o) {
    if (o.meeting == Meeting::sum && o.include_self) s.out[0] = s.gradient[0];
    else s.out[0] = call_with<Scatter<>>(s.at, {o.dim}, s.gradient[0], s.argument[1], zeros_like_index(s));
    s.out[2] = call_with<Gather>(s.at, {o.dim}, s.gradient[0], s.argument[1]);
  }

 private:
  static Tensor zeros_like_index(const DerivativeStep& s) { return tt::zeros(s.argument[1].impl().shape, {s.gradient[0].dtype(), s.gradient[0].device()}); }
  static Sym zeros_like_index(const DerivativeRecord& s) { return symbol_like(s.argument[1], s.gradient[0].dtype(), s.argument[1].shape()); }
  template <class T>
  static T met(Meeting m, T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
      return m == Meeting::assign ? b : m == Meeting::sum || m == Meeting::amax ? a || b : a && b;
    } else {
      switch (m) {
        case Meeting::sum: return sum_of(a, b);
        case Meeting::prod:
          if constexpr (std::is_integral_v<T>) return wrap_mul(a, b);
          else return static_cast<T>(a * b);
        case Meeting::amax: return a < b || b != b ? b : a;
        case Meeting::amin: return b < a || b != b ? b : a;
        default: return b;
      }
    }
  }
};

/// Products of all elements written to one index. An op of its own, because its derivative reads the factors.
template <class = void>
struct ScatterProduct {
  struct Options {
    int dim = 0;
    bool include_self = true;
  };
  static constexpr OpInfo info{.name = "_scatter_prod", .arguments = "input, .dim, index, src"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Sym& index, const Sym& src, const Options&) { return like_written(x, src, index.shape(), Scatter<>::info.name); }
  static void kernel(Call& c, const Options& o) { Scatter<>::kernel(c, {o.dim, Meeting::prod, o.include_self}); }
  /// The gradient of a factor is the product of the others, in forms whose derivatives are right where factors are 0: the whole product divided by the factor;
  /// for a single 0, the product of the rest; for one of two zeros, that product times the other 0.
  static void derivative(const auto& s, const Options& o) {
    const auto& x = s.argument[0];
    const auto& index = s.argument[1];
    const auto& src = s.argument[2];
    const auto& g = s.gradient[0];
    const auto meet = [&](const auto& to, const auto& from, Meeting m, bool self) { return call_with<Scatter<>>(s.at, {o.dim, m, self}, to, index, from); };
    const auto at_places = [&](const auto& t) { return call_with<Gather>(s.at, {o.dim}, t, index); };
    const auto nonzero = [](const auto& t) { return tt::where(t == 0, 1, t); };
    const auto is_zero = [](const auto& t) { return tt::where(t == 0, 1, zero_of(t)); };
    const auto only_zeros = [](const auto& t) { return tt::where(t == 0, t, zero_of(t)); };
    const auto product = call_with<ScatterProduct<>>(s.at, o, x, index, src), rest = call_with<ScatterProduct<>>(s.at, o, nonzero(x), index, nonzero(src));
    const auto count = meet(is_zero(x), is_zero(src), Meeting::sum, o.include_self), zeros = meet(only_zeros(x), only_zeros(src), Meeting::sum, o.include_self);
    const auto others = [&](const auto& t, const auto& whole, const auto& without, const auto& how_many, const auto& sum_of_zeros) {
      const auto beside_a_zero = tt::where(how_many == 2, (sum_of_zeros - t) * without, zero_of(t));
      return tt::where(t == 0, tt::where(how_many == 1, without, beside_a_zero), whole / nonzero(t));
    };
    s.out[0] = o.include_self ? g * others(x, product, rest, count, zeros) : meet(g, zero_of(src), Meeting::assign, true);
    s.out[2] = at_places(g) * others(src, at_places(product), at_places(rest), at_places(count), at_places(zeros));
  }
};

/// A vector of indices along axis `d`, expanded to the shape of `source`.
template <class = void>
Tensor index_over(const Tensor& index, int d, const Tensor& source, SourceLine at) {
  IntList to;
  for (int k = 0; k < source.dim(); ++k) to.push_back(k == d ? index.numel(at) : Size(1));
  return index.reshape(to, at).expand(source.shape(at), at);
}
inline bool is_mask(const Tensor& t) { return t.dtype() == DType::boolean || t.dtype() == DType::u8; }
/// Index Tensors (or masks) of x[indices], as one vector of positions among the indexed axes of `x`, which are moved to the front.
template <class = void>
struct Places {
  Tensor moved;          ///< `x` with the indexed axes in front
  Tensor flat;           ///< positions among the indexed axes, a vector
  IntList shape;         ///< shape of the broadcast indices
  int indexed = 0, front = 0;  ///< number of indexed axes; first axis of the indices in the result
  Places(const Tensor& x, TensorSpan given, const char* op, SourceLine at) {
    TensorList all;
    for (const Tensor& t : given) {
      if (t.defined() && is_mask(t)) {
        if (t.dim() == 0) TT_THROW(Error(Text("tt::") << op << ": a mask has no axes." << at));
        for (int k = 0; k < t.dim(); ++k)
          if (const int axis = static_cast<int>(all.size()) + k; axis < x.dim() && t.size(k, at) != x.size(axis, at))
            TT_THROW(Error(Text("tt::") << op << ": a mask of shape " << t.shape() << " does not fit axis " << axis << " of shape " << x.shape() << "." << at));
        const Tensor where = nonzero(t, at);
        for (int k = 0; k < t.dim(); ++k) all.push_back(where.select(1, k, at));
      } else {
        if (t.defined()) need_index_dtype(t.dtype() == DType::i64 || t.dtype() == DType::i32, op, t.dtype(), "i64 or i32", at);
        all.push_back(t);
      }
    }
    if (static_cast<int>(all.size()) > x.dim()) TT_THROW(Error(Text("tt::") << op << ": more indices than axes of shape " << x.shape() << "." << at));
    IntList order, rest;
    TensorList used;
    bool apart = false;
    int last = -1;
    for (int k = 0; k < x.dim(); ++k) {
      if (k < static_cast<int>(all.size()) && all[static_cast<std::size_t>(k)].defined()) {
        apart = apart || (last >= 0 && last != k - 1);
        if (last < 0) front = k;
        last = k;
        order.push_back(k);
        used.push_back(all[static_cast<std::size_t>(k)].to(DType::i64, at));
      } else {
        rest.push_back(k);
      }
    }
    indexed = order.size();
    if (apart) front = 0;
    for (int k = 0; k < rest.size(); ++k) order.push_back(rest[k]);
    moved = x.permute(order, at);
    used = broadcast_tensors(used, at);
    Tensor place;
    for (int k = 0; k < indexed; ++k) {
      const Size n = moved.size(k, at);
      const Tensor& own = used[static_cast<std::size_t>(k)];
      Tensor from_end;
      if (is_plain(own)) from_end = checked_places(op, own, x.impl().shape, static_cast<int>(order.value(k)), true, at);
      else {
        from_end = tt::where(own < 0, own + n, own, at);
        if (is_host(own.device()) && !capture_mode && own.numel() > 0)
          if (!tt::logical_and(from_end >= 0, from_end < n, at).all({}, false, at).item<bool>(at))
            TT_THROW(Error(Text("tt::") << op << ": an index is out of range for axis " << order.value(k) << " of shape " << x.shape() << "." << at));
      }
      place = place.defined() ? place * n + from_end : from_end;
    }
    if (!place.defined()) place = tt::arange(0);
    shape = place.shape(at);
    flat = place.reshape({-1}, at);
  }
  /// `moved`, with the indexed axes joined to one.
  Tensor rows(SourceLine at) const {
    IntList to;
    Size n(1);
    for (int k = 0; k < indexed; ++k) n *= moved.size(k, at);
    to.push_back(n);
    for (int k = indexed; k < moved.dim(); ++k) to.push_back(moved.size(k, at));
    return moved.reshape(to, at);
  }
};

}  // namespace detail

TT_LAZY_DEFINITION Tensor scatter(const Tensor& x, int dim, const Tensor& index, const Tensor& src, SourceLine at) {
  detail::need_same_dtype("scatter", x, src, at);
  return call_with<detail::Scatter<>>(at, {dim}, x, index, detail::beginning_of(src, index, at));
}
TT_LAZY_DEFINITION Tensor scatter(const Tensor& x, int dim, const Tensor& index, const detail::TensorOperand& value, SourceLine at) {
  if (value.tensor && value.tensor->dim() > 0) return scatter(x, dim, index, *value.tensor, at);
  const Tensor number = value.beside_as_element(x, "scatter", at);
  return call_with<detail::Scatter<>>(at, {dim}, x, index, number.to(x.dtype(), at).to(x.device()).expand(index.shape(at), at));
}
TT_LAZY_DEFINITION Tensor scatter_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& given, ScatterReduction reduce, bool include_self, SourceLine at) {
  using detail::Meeting;
  const Tensor src = detail::beginning_of(given, index, at);
  const auto met = [&](const Tensor& to, const Tensor& from, Meeting m, bool self) { return call_with<detail::Scatter<>>(at, {dim, m, self}, to, index, from); };
  const auto zeros_of = [&](const Tensor& t) { return zeros(t.shape(at), detail::on_device(t.dtype(), t.device()), at); };
  const Tensor one = ones(src.shape(at), detail::on_device(x.dtype(), x.device()), at);
  switch (reduce) {
    case ScatterReduction::sum: return met(x, src, Meeting::sum, include_self);
    case ScatterReduction::prod: return call_with<detail::ScatterProduct<>>(at, {dim, include_self}, x, index, src);
    case ScatterReduction::mean: {
      const Tensor sum = met(x, src, Meeting::sum, include_self), start = ones(x.shape(at), detail::on_device(x.dtype(), x.device()), at);
      const Tensor count = tt::maximum(met(include_self ? start : zeros_of(start), one, Meeting::sum, true), 1, at);
      if (is_floating(x.dtype())) return sum / count;
      return tt::floor(sum.to(DType::f64, at) / count.to(DType::f64, at), at).to(x.dtype(), at);
    }
    default: break;
  }
  const Meeting m = reduce == ScatterReduction::amax ? Meeting::amax : Meeting::amin;
  const Tensor own = x.detach(), from = src.detach(), r = met(own, from, m, include_self);
  if (!is_floating(x.dtype()) || !(x.impl().is_differentiated() || given.impl().is_differentiated() || detail::capture_mode)) return r;
  // The result is one of the joined elements: its gradient is shared among the elements equal to it, and so are tangents.
  const Tensor same = (own == r).to(x.dtype(), at), same_source = (from == gather(r, dim, index, at)).to(x.dtype(), at);
  const Tensor self = include_self ? same : met(same, zeros_of(from), Meeting::assign, true);
  const Tensor share = 1 / tt::maximum(met(self, same_source, Meeting::sum, true), 1, at);
  Tensor by_self = self * share;
  const Tensor by_source = same_source * gather(share, dim, index, at);
  if (!include_self) by_self = met(by_self, zeros_of(from), Meeting::assign, true);
  const Tensor untouched = met(zeros_of(own), one, Meeting::assign, true) == 0;
  return r + call<Tangent>(at, tt::where(untouched, 1, by_self, at) * x + met(zeros_of(own), by_source * src, Meeting::sum, true));
}
TT_LAZY_DEFINITION Tensor index_copy(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  const detail::AxisOf<> a(x, dim, "index_copy", at);
  const Tensor src = source.dim() ? source : source.reshape({1}, at);
  return a.back(call_with<detail::IndexCopy>(at, {a.d}, a.x, index, src), at);
}
namespace detail {
/// x with one value at these indices along an axis.
inline Tensor with_filled(const Tensor& x, int axis, const Tensor& index, const Tensor& value, SourceLine at) {
  const Tensor places = index.contiguous(at);
  const Shape& s = x.impl().shape;
  const AroundAxis around(s, axis);
  const auto place_of = [&](std::int64_t j) {
    const std::int64_t given = places.data_ptr<std::int64_t>()[j], place = given < 0 ? given + around.size : given;
    if (place < 0 || place >= around.size) TT_THROW(Error(Text("tt::index_fill: index ") << given << " is out of range: axis " << axis << " of shape " << s << '.' << at));
    return place;
  };
  for (std::int64_t j = 0; j < places.impl().numel; ++j) place_of(j);
  const Tensor* others[] = {&places};
  const Tensor r = elements_to_change(x, others, 1);
  with_dtype(r.dtype(), [&]<class T>(T) {
    const T v = *reinterpret_cast<const T*>(value.impl().data);
    for (std::int64_t j = 0; j < places.impl().numel; ++j) {
      T* to = reinterpret_cast<T*>(r.impl().data) + place_of(j) * around.inner;
      for (std::int64_t k = 0; k < around.outer; ++k, to += around.size * around.inner) std::fill(to, to + around.inner, v);
    }
  });
  return r;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor index_fill(const Tensor& x, int dim, const Tensor& index, const Tensor& value, SourceLine at) {
  const detail::AxisOf<> a(x, dim, "index_fill", at);
  if (value.dim() != 0) TT_THROW(Error(Text("tt::index_fill: the value is of shape ") << value.shape() << ". A number?" << at));
  detail::need_index_dtype(index.dtype() == DType::i64, "index_fill", index.dtype(), "i64", at);
  if (index.dim() > 1) detail::refuse("index_fill", "indices are no vector", index, at);
  const Size n = a.x.size(a.d, at);
  const Tensor own = index.reshape({-1}, at);
  if (detail::is_plain(x) && detail::is_plain(own) && detail::is_plain(value)) return a.back(detail::with_filled(a.x, a.d, own, value.to(x.dtype(), at), at), at);
  IntList along;
  for (int k = 0; k < a.x.dim(); ++k) along.push_back(k == a.d ? n : Size(1));
  const Tensor from_end = tt::where(own < 0, own + n, own, at);
  const Tensor named = scatter(zeros({n}, detail::on_device(DType::boolean, x.device()), at), 0, from_end, 1, at).reshape(along, at);
  return a.back(tt::where(named, value.to(x.dtype(), at), a.x, at), at);
}
TT_LAZY_DEFINITION Tensor index_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self, SourceLine at) {
  const detail::AxisOf<> a(x, dim, "index_reduce", at);
  const Tensor src = source.dim() ? source : source.reshape({1}, at);
  return a.back(scatter_reduce(a.x, a.d, detail::index_over(index, a.d, src, at), src, reduce, include_self, at), at);
}
TT_LAZY_DEFINITION Tensor index(const Tensor& x, TensorSpan indices, SourceLine at) {
  const detail::Places<> p(x, indices, "index", at);
  if (p.indexed == 0) return x;
  IntList to = p.shape;
  for (int k = p.indexed; k < p.moved.dim(); ++k) to.push_back(p.moved.size(k, at));
  const Tensor r = index_select(p.rows(at), 0, p.flat, at).reshape(to, at);
  IntList from, onto;  // the indices' axes go where the indexed axes were, if these were adjacent
  for (int k = 0; k < p.shape.size(); ++k) {
    from.push_back(k);
    onto.push_back(k + p.front);
  }
  return p.front ? movedim(r, from, onto, at) : r;
}
namespace detail {
/// `view`: `x` after the items that are no Tensors; `tensors`: the index Tensors, by axis of `view`.
struct IndexedView {
  Tensor view;
  TensorList tensors;
  bool has_tensors = false;
};
/// `written`: the view is written to, so it must share memory with `x`.
template <class = void>
IndexedView view_of_items(const Tensor& x, std::span<const IndexItem> items, bool written, SourceLine at) {
  using Kind = IndexItem::Kind;
  IndexedView r{x, {}, false};
  int named = 0, ellipses = 0, tensors = 0;
  for (const IndexItem& i : items) {
    ellipses += i.kind == Kind::ellipsis;
    tensors += i.kind == Kind::tensor;
    named += i.kind == Kind::number || i.kind == Kind::slice ? 1 : i.kind == Kind::tensor ? (is_mask(i.tensor) ? i.tensor.dim() : 1) : 0;
  }
  if (ellipses > 1) TT_THROW(Error(Text("tt::index: more than one Ellipsis.") << at));
  if (named > x.dim()) TT_THROW(Error(Text("tt::index: ") << named << " axes are named, shape " << x.shape() << " has " << x.dim() << "." << at));
  int axis = 0;
  const auto pass = [&](int axes) {
    for (int k = 0; k < axes; ++k, ++axis) r.tensors.push_back({});
  };
  for (const IndexItem& i : items) {
    switch (i.kind) {
      case Kind::number: r.view = r.view.select(axis, i.slice.start, at); break;
      case Kind::slice:
        r.view = r.view.slice(axis, i.slice.start, i.slice.stop, i.slice.step, at);
        pass(1);
        break;
      case Kind::ellipsis: pass(x.dim() - named); break;
      case Kind::new_axis:
        r.view = r.view.unsqueeze(axis, at);
        pass(1);
        break;
      case Kind::tensor:
        if (i.tensor.dim() == 0 && !is_mask(i.tensor)) {  // a scalar index: read now (select), or on its device (index)
          need_index_dtype(is_integral(i.tensor.dtype()), "index", i.tensor.dtype(), "an integer", at);
          if (is_plain(i.tensor) || (written && tensors > 1)) {
            r.view = r.view.select(axis, i.tensor.to(DType::i64, at).item<std::int64_t>(at), at);
            break;
          }
          if (!written) {
            TensorList places(static_cast<std::size_t>(axis));  // undefined: whole axes
            places.push_back(i.tensor.reshape({1}, at));
            r.view = tt::index(r.view, places, at).squeeze(axis, at);
            break;
          }
        }
        if (i.tensor.dim() == 0 && is_mask(i.tensor)) {  // a scalar mask: a new axis of extent 1 or 0
          r.view = r.view.unsqueeze(axis, at);
          r.tensors.push_back(i.tensor.reshape({1}, at));
          ++axis;
        } else {
          r.tensors.push_back(i.tensor);
          axis += is_mask(i.tensor) ? i.tensor.dim() : 1;
        }
        r.has_tensors = true;
        break;
    }
  }
  return r;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor index(const Tensor& x, std::span<const IndexItem> items, SourceLine at) {
  const detail::IndexedView r = detail::view_of_items(x, items, false, at);
  if (r.has_tensors) return tt::index(r.view, r.tensors, at);
  return r.view.is_same(x) ? x.reshape(x.shape(at), at) : r.view;
}
TT_LAZY_DEFINITION void detail::write_index(Tensor& x, std::span<const IndexItem> items, const TensorOperand& value, bool accumulate, SourceLine at) {
  IndexedView r = view_of_items(x, items, true, at);
  Tensor own = value.tensor ? *value.tensor : value.number(x.dtype());
  if (!value.tensor || !r.has_tensors) own = own.to(x.dtype(), at);
  while (own.dim() > 0 && own.size(0, at) == 1) own = own.select(0, 0, at);  // drops leading axes of extent 1 that have no counterpart
  if (r.has_tensors) InPlaceSome(r.view, "index_put_", at, own).take(tt::index_put(r.view, r.tensors, own, accumulate, at));
  else if (accumulate) r.view.add_(own, at);
  else r.view.copy_(own.expand(r.view.shape(at), at), at);
}
TT_LAZY_DEFINITION Tensor index_put(const Tensor& x, TensorSpan indices, const Tensor& values, bool accumulate, SourceLine at) {
  detail::need_same_dtype("index_put", x, values, at);
  const detail::Places<> p(x, indices, "index_put", at);
  const Tensor rows = p.rows(at);
  IntList natural;  // the shape of x[indices]
  for (int k = 0; k < p.front; ++k) natural.push_back(p.moved.size(p.indexed + k, at));
  for (int k = 0; k < p.shape.size(); ++k) natural.push_back(p.shape[k]);
  for (int k = p.indexed + p.front; k < p.moved.dim(); ++k) natural.push_back(p.moved.size(k, at));
  Tensor v = values.expand(natural, at);
  if (p.front) {
    IntList from, onto;
    for (int k = 0; k < p.shape.size(); ++k) {
      from.push_back(k + p.front);
      onto.push_back(k);
    }
    v = movedim(v, from, onto, at);
  }
  IntList as_rows{p.flat.numel(at)};
  for (int k = 1; k < rows.dim(); ++k) as_rows.push_back(rows.size(k, at));
  v = v.reshape(as_rows, at);
  Tensor r = accumulate ? index_add(rows, 0, p.flat, v, at) : index_copy(rows, 0, p.flat, v, at);
  r = r.reshape(p.moved.shape(at), at);
  IntList back;  // undo the permutation: indexed axes came first
  std::vector<int> place;
  int seen = 0;
  TensorList all(indices.begin(), indices.end());
  std::vector<bool> is_indexed;
  for (const Tensor& t : all)
    for (int k = 0; k < (t.defined() && detail::is_mask(t) ? t.dim() : 1); ++k) is_indexed.push_back(t.defined());
  int others = p.indexed;
  for (int k = 0; k < x.dim(); ++k) back.push_back(k < static_cast<int>(is_indexed.size()) && is_indexed[static_cast<std::size_t>(k)] ? seen++ : others++);
  return r.permute(back, at);
}
TT_LAZY_DEFINITION Tensor take(const Tensor& x, const Tensor& index, SourceLine at) {
  detail::need_index_dtype(index.dtype() == DType::i64, "take", index.dtype(), "i64", at);
  const Tensor places[] = {index};
  return tt::index(x.reshape({-1}, at), places, at);
}
TT_LAZY_DEFINITION Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate, SourceLine at) {
  detail::need_index_dtype(index.dtype() == DType::i64, "put", index.dtype(), "i64", at);
  if (index.numel(at) != source.numel(at)) TT_THROW(Error(Text("tt::put: as many indices as elements are needed: shapes ") << index.shape() << " and " << source.shape() << "." << at));
  const Tensor places[] = {index.reshape({-1}, at)};
  return index_put(x.reshape({-1}, at), places, source.reshape({-1}, at), accumulate, at).reshape(x.shape(at), at);
}
TT_LAZY_DEFINITION Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, SourceLine at) {
  if (mask.dtype() != DType::boolean) TT_THROW(Error(Text("tt::masked_scatter: the mask is ") << name(mask.dtype()) << ", not bool." << at));
  detail::need_same_dtype("masked_scatter", x, source, at);
  const Tensor both[] = {x, mask};
  const TensorList wide = broadcast_tensors(both, at);
  if (detail::is_plain(wide[1]) && wide[1].sum({}, false, at).item<std::int64_t>(at) > source.numel(at).value())
    TT_THROW(Error(Text("tt::masked_scatter: more places than elements: source of shape ") << source.shape() << "." << at));
  if (source.numel(at) == 0) return wide[0].clone(at);
  const Tensor there = wide[1].reshape({-1}, at);
  const Tensor from = source.reshape({-1}, at);
  const Tensor place = tt::clamp(detail::running_sum(there.to(DType::f64, at), 0, at).to(DType::i64, at) - 1, 0, from.numel(at) - 1, at);
  return tt::where(wide[1], index_select(from, 0, place, at).reshape(wide[0].shape(at), at), wide[0], at);
}

TT_LAZY_DEFINITION std::vector<Tensor> unravel_index(const Tensor& indices, const IntList& shape, SourceLine at) {
  detail::need_dtype(is_integral(indices.dtype()), "unravel_index", indices.dtype(), at);
  std::vector<Tensor> places(static_cast<std::size_t>(shape.size()));
  Tensor rest = indices.to(DType::i64, at);
  for (int k = shape.size(); k-- > 0;) {
    if (shape[k] < 1) TT_THROW(Error(Text("tt::unravel_index: a shape with no elements: ") << shape << "." << at));
    const Tensor next = tt::floor_divide(rest, shape[k], at);
    places[static_cast<std::size_t>(k)] = rest - next * shape[k];
    rest = next;
  }
  return places;
}
TT_LAZY_DEFINITION Tensor nonzero_static(const Tensor& x, SizeArgument size, std::int64_t fill_value, SourceLine at) {
  const Size n = size.size;
  if (n < 0) TT_THROW(Error(Text("tt::nonzero_static: size is negative: ") << n.value() << "." << at));
  if (x.dim() == 0) return full({n, 0}, fill_value, detail::on_device(DType::i64, x.device()), at);
  const Tensor mask = tt::ne(x, 0, at).reshape({-1}, at), counted = detail::running_sum(mask.to(DType::i64, at), 0, at);
  const Size all = mask.numel(at);
  const Tensor to = tt::where(tt::logical_and(mask, tt::le(counted, n, at), at), counted - 1, n, at);  // index n, cut off below: all other elements
  const Tensor first = scatter(zeros({n + 1}, detail::on_device(DType::i64, x.device()), at), 0, to, arange(all).to(x.device(), false, at), at).slice(0, 0, n, 1, at);
  IntList shape;
  for (int k = 0; k < x.dim(); ++k) shape.push_back(x.size(k, at) < 1 ? Size(1) : x.size(k, at));
  const Tensor there = tt::lt(arange(n).to(x.device(), false, at), mask.sum({}, false, at), at).unsqueeze(1, at);
  return tt::where(there, stack(unravel_index(first, shape, at), 1, at), fill_value, at);
}

}  // namespace tt
