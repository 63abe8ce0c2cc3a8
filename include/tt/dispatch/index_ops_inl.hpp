// Definitions of index_ops.hpp: operators with kernels of their own, loops over rows.
#pragma once
#include <cstring>

#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/index_ops.hpp"

namespace tt {
namespace detail {

/// A run of consecutive indices; padding, roll and windows consist mostly of such runs.
struct PlaceRun {
  std::int64_t begin, count;
};
/// The runs, if they have at least `least` indices each on average; else none.
inline std::vector<PlaceRun> runs_of_places(const std::int64_t* place, std::int64_t count, std::int64_t least) {
  std::vector<PlaceRun> runs;
  for (std::int64_t i = 0; i < count; ++i)
    if (!runs.empty() && place[i] == runs.back().begin + runs.back().count) ++runs.back().count;
    else if (least * static_cast<std::int64_t>(runs.size()) < count) runs.push_back({place[i], 1});
    else return {};
  return runs;
}
TT_INLINE void IndexSelect::kernel(Call& c, const Options& o) {
  const AxisBlocks b(c, o.dim);
  Tensor result(c[0].dtype(), b.with_rows(c[0], c[1].impl().numel), c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor dense = c[0].contiguous(), index = checked_indices(c, b.axis, o.wrap);
  const auto* place = index.data_ptr<std::int64_t>();
  const std::int64_t count = index.impl().numel;
  std::vector<PlaceRun> runs;
  if (b.outer > 1 && b.inner > 0) runs = runs_of_places(place, count, 4);  // found once, used for each slice before the axis
  with_element_size(result.dtype(), [&]<class T>(T) {
    const auto* from = static_cast<const T*>(dense.data());
    auto* to = static_cast<T*>(result.data());
    const auto select = [&, b](const T* slice, T* into, std::int64_t begin, std::int64_t end) {  // places [begin, end), or all by runs
      if (!runs.empty()) {
        auto* next = into;
        for (const PlaceRun& run : runs) {
          const std::int64_t n = run.count * b.inner;
          if (n == 1) *next = slice[run.begin];
          else copy_memory(next, slice + run.begin * b.inner, static_cast<std::size_t>(n) * sizeof(T));
          next += n;
        }
      } else if (b.inner == 1)
        for (std::int64_t i = begin; i < end; ++i) into[i] = slice[place[i]];
      else
        for (std::int64_t i = begin; i < end && b.inner > 0; ++i)
          copy_memory(into + i * b.inner, slice + place[i] * b.inner, static_cast<std::size_t>(b.inner) * sizeof(T));
    };
    if (b.outer == 1) in_ranges(count, b.inner, [&](std::int64_t begin, std::int64_t end) { select(from, to, begin, end); });
    else
      in_ranges(b.outer, count * b.inner, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) select(from + k * b.size * b.inner, to + k * count * b.inner, 0, count);
      });
  });
}
/// f(n, k) for each index k of each block n before the axis. Threads share the blocks, or the written rows; writes to one row keep their order.
template <class F>
void each_place(const AxisBlocks& b, const std::int64_t* place, std::int64_t count, const F& f) {
  constexpr std::int64_t worth_looking = 8;  // elements of a row: each thread reads all indices
  if (b.outer != 1 || b.inner < worth_looking || count == 0)
    return in_ranges(b.outer, count * b.inner, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        for (std::int64_t k = 0; k < count; ++k) f(n, k);
    });
  in_ranges(b.size, (count / b.size + 1) * b.inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = 0; k < count; ++k)
      if (place[k] >= begin && place[k] < end) f(0, k);
  });
}
TT_INLINE void IndexAdd::kernel(Call& c, const Options& o) {
  const AxisBlocks b(c, o.dim);
  if (!(c[2].impl().shape == b.with_rows(c[0], c[1].impl().numel))) sizes_differ(c, o.dim, "source", c[2]);
  if (c[0].is_meta()) c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, b.axis, o.wrap);
    const Tensor& result = c.result[0] = elements_to_change(c);
    const auto* place = index.data_ptr<std::int64_t>();
    const auto* from = source.data_ptr<T>();
    auto* to = result.data_ptr<T>();
    const std::int64_t count = index.impl().numel;
    each_place(b, place, count, [&](std::int64_t n, std::int64_t k) { add_to_row(to + (n * b.size + place[k]) * b.inner, from + (n * count + k) * b.inner, b.inner); });
  });
}
TT_INLINE void IndexCopy::kernel(Call& c, const Options& o) {
  const AxisBlocks b(c, o.dim);
  if (!(c[2].impl().shape == b.with_rows(c[0], c[1].impl().numel))) sizes_differ(c, o.dim, "source", c[2]);
  need_device(c, 2);
  need_same_dtype("index_copy", c[0], c[2], c.at);
  if (c[0].is_meta()) return void(c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device()));
  const Tensor source = c[2].contiguous(), index = checked_indices(c, b.axis, o.wrap);
  const Tensor& result = c.result[0] = elements_to_change(c);
  const auto* place = index.data_ptr<std::int64_t>();
  const std::int64_t bytes = b.inner * size_of(result.dtype());
  const auto* from = static_cast<const std::byte*>(source.data());
  auto* to = reinterpret_cast<std::byte*>(result.impl().data);
  const std::int64_t count = index.impl().numel;
  if (bytes > 0)
    each_place(b, place, count, [&](std::int64_t n, std::int64_t k) { copy_memory(to + (n * b.size + place[k]) * bytes, from + (n * count + k) * bytes, static_cast<std::size_t>(bytes)); });
}

/// The call of an op with other first two arguments.
template <class F>
void call_on(Call& c, const Tensor& x, const Tensor& index, const IndexOptions& o) {
  const Tensor* argument[] = {&x, &index, c.arguments > 2 ? &c[2] : nullptr};
  Call own = c;
  own.argument = argument;
  F::kernel(own, o);
}

TT_INLINE void Gather::kernel(Call& c, const Options& o) {
  if (c[0].dim() == 0 && c[1].dim() == 1) return call_on<Gather>(c, c[0].reshape({1}), c[1], o);  // as a vector of one element
  if (const Tensor places = places_of_slices(c, o.dim); places.defined()) return call_on<IndexSelect>(c, c[0], places, o);
  const AxisElements e(c, o.dim);
  Tensor result(c[0].dtype(), e.shape, c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor index = checked_indices(c, e.axis, o.wrap);
  with_element_size(result.dtype(), [&]<class T>(T) {
    const auto* const source = static_cast<const T*>(c[0].data());
    auto* const target = static_cast<T*>(result.data());
    const auto* const places = index.data_ptr<std::int64_t>();
    e.each_row(c[0], true, [&](std::int64_t first, std::int64_t base) {
      const auto* from = source + base;
      auto* to = target + first;
      e.each_place(c[0], places + first, [&](std::int64_t j, std::int64_t place) { to[j] = from[place]; });
    });
  });
}
TT_INLINE void ScatterAdd::kernel(Call& c, const Options& o) {
  if (c[0].dim() == 0 && c[1].dim() == 1) {
    call_on<ScatterAdd>(c, c[0].reshape({1}), c[1], o);
    c.result[0] = c.result[0].reshape({});
    return;
  }
  if (const Tensor places = places_of_slices(c, o.dim); places.defined() && c[2].impl().shape == c[1].impl().shape) return call_on<IndexAdd>(c, c[0], places, o);
  const AxisElements e(c, o.dim);
  if (!(c[2].impl().shape == e.shape)) sizes_differ(c, o.dim, "source", c[2]);
  if (c[0].is_meta()) c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, e.axis, o.wrap);
    const Tensor& result = c.result[0] = elements_to_change(c);
    const auto* const values = source.data_ptr<T>();
    auto* const target = result.data_ptr<T>();
    const auto* const places = index.data_ptr<std::int64_t>();
    e.each_row(result, e.rows_are_apart(), [&](std::int64_t first, std::int64_t base) {
      const auto* from = values + first;
      auto* to = target + base;
      e.each_place(result, places + first, [&](std::int64_t j, std::int64_t place) { to[place] = sum_of(to[place], from[j]); });
    });
  });
}
TT_INLINE void Nonzero::kernel(Call& c, const Options&) {
  need_readable(c);
  const Tensor mask = convert(c[0], DType::boolean, c.at).contiguous();
  const auto* there = mask.data_ptr<bool>();
  const std::int64_t n = mask.impl().numel;
  const Split split = split_rows(n, 1);
  std::vector<std::int64_t> first(static_cast<std::size_t>(split.parts) + 1);  // first result row of each part
  in_ranges(split, n, [&](int part, std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) count += there[i];
    first[static_cast<std::size_t>(part) + 1] = count;
  });
  for (std::size_t part = 1; part < first.size(); ++part) first[part] += first[part - 1];
  const Shape& shape = mask.impl().shape;
  const int rank = shape.rank;
  c.result[0] = Tensor(DType::i64, Shape{first.back(), rank}, c[0].device());
  if (rank == 0 || first.back() == 0) return;
  auto* const to = c.result[0].data_ptr<std::int64_t>();
  in_ranges(split, n, [&](int part, std::int64_t i, std::int64_t) {
    std::int64_t found = first[static_cast<std::size_t>(part)], place[max_rank], left = i;
    const std::int64_t last = first[static_cast<std::size_t>(part) + 1];
    for (int k = rank - 1; k >= 0; --k) {
      place[k] = left % shape.code[k];
      left /= shape.code[k];
    }
    const auto rows = [&](auto axes) {  // axes: a constant for ranks 1 to 3
      for (const std::int64_t columns = shape.code[axes - 1]; found < last;) {
        for (std::int64_t& j = place[axes - 1]; j < columns && found < last; ++j, ++i) {  // branch-free: a branch on there[i] would be mispredicted
          for (int k = 0; k < axes; ++k) to[found * axes + k] = place[k];
          found += there[i];
        }
        place[axes - 1] = 0;
        for (int k = axes - 2; k >= 0 && ++place[k] == shape.code[k]; --k) place[k] = 0;
      }
    };
    if (rank == 1) rows(std::integral_constant<int, 1>{});
    else if (rank == 2) rows(std::integral_constant<int, 2>{});
    else if (rank == 3) rows(std::integral_constant<int, 3>{});
    else rows(rank);
  });
}

TT_INLINE void ScatterAdd::front(Call& c, const Options& o) { c.result[0] = call_with<ScatterAdd>(c.at, o, c[0], c[1], beginning_of(c[2], c[1], c.at)); }

inline void need_defined(const char* op, std::initializer_list<std::pair<const char*, const Tensor*>> all, SourceLine at) {
  for (const auto& [name, t] : all)
    if (!t->defined()) TT_THROW(Error(Text("tt::") << op << ": argument " << name << " is an undefined Tensor." << at));
}
/// Rows of `x` for indices of any shape.
template <class = void> Tensor rows_at(const Tensor& x, const Tensor& index, bool wrap, SourceLine at) {
  IntList shape = index.shape(at);
  for (int k = 1; k < x.dim(); ++k) shape.push_back(x.size(k, at));
  return call_with<IndexSelect>(at, {0, wrap}, x, index.flatten(at)).reshape(shape, at);
}
/// Indices of the true elements of a mask, in row-major order.
template <class = void> Tensor places_of(const Tensor& mask, SourceLine at) {
  return call_with<Nonzero>(at, {}, mask.flatten(at)).select(1, 0, at);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor index_select(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  return call_with<detail::IndexSelect>(at, {dim}, x, index);
}
TT_LAZY_DEFINITION Tensor gather(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  return call_with<detail::Gather>(at, {dim}, x, index);
}
TT_LAZY_DEFINITION Tensor take_along_dim(const Tensor& x, const Tensor& index, int dim, SourceLine at) {
  detail::need_defined("take_along_dim", {{"input", &x}, {"index", &index}}, at);
  const int axis = detail::axis_of(x, dim, "take_along_dim", at, x.dim());
  Shape from = x.impl().shape, to = index.impl().shape;
  if (from.rank == to.rank) {
    from.set(axis, 1);
    to.set(axis, 1);
    if (const BroadcastResult both = try_broadcast(from, to); both.ok) {
      from = to = both.shape;
      from.set(axis, x.impl().shape[axis]);
      to.set(axis, index.impl().shape[axis]);
      return call_with<detail::Gather>(at, {axis, true}, x.expand(from, at), index.expand(to, at));
    }
  }
  TT_THROW(Error(Text("tt::take_along_dim: shapes do not broadcast beside axis ") << axis << ": " << x.shape() << " and " << index.shape() << "." << at));
}
TT_LAZY_DEFINITION Tensor embedding(const Tensor& index, const Tensor& weight, SourceLine at) {
  detail::need_defined("embedding", {{"input", &index}, {"weight", &weight}}, at);
  if (weight.dim() != 2) TT_THROW(Error(Text("tt::embedding: the table is of shape ") << weight.shape() << ". (n, d)?" << at));
  return detail::rows_at(weight, index, false, at);
}
TT_LAZY_DEFINITION Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  return call_with<detail::IndexAdd>(at, {dim}, x, index, source);
}
TT_LAZY_DEFINITION Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  detail::need_defined("scatter_add", {{"input", &x}, {"index", &index}, {"src", &source}}, at);
  return call_with<detail::ScatterAdd>(at, {dim}, x, index, detail::beginning_of(source, index, at));
}
TT_LAZY_DEFINITION Tensor nonzero(const Tensor& x, SourceLine at) { return call_with<detail::Nonzero>(at, {}, x); }
TT_LAZY_DEFINITION Tensor masked_select(const Tensor& x, const Tensor& mask, SourceLine at) {
  detail::need_defined("masked_select", {{"input", &x}, {"mask", &mask}}, at);
  if (mask.dtype() != DType::boolean)
    TT_THROW(Error(Text("tt::masked_select: the mask is ") << name(mask.dtype()) << ", not bool." << at));
  const BroadcastResult both = try_broadcast(x.impl().shape, mask.impl().shape);
  if (!both.ok) TT_THROW(Error(Text("tt::masked_select: shapes do not broadcast: ") << x.shape() << " and " << mask.shape() << "." << at));
  const Tensor all = x.expand(both.shape, at).reshape({both.shape.size().code}, at);
  return index_select(all, 0, detail::places_of(mask.expand(both.shape, at), at), at);
}

TT_LAZY_DEFINITION Tensor Tensor::index_select(int axis, const Tensor& index, SourceLine at) const { return tt::index_select(*this, axis, index, at); }
TT_LAZY_DEFINITION Tensor Tensor::gather(int axis, const Tensor& index, SourceLine at) const { return tt::gather(*this, axis, index, at); }
TT_LAZY_DEFINITION Tensor Tensor::masked_select(const Tensor& mask, SourceLine at) const { return tt::masked_select(*this, mask, at); }
TT_LAZY_DEFINITION Tensor Tensor::nonzero(SourceLine at) const { return tt::nonzero(*this, at); }
TT_INLINE const Tensor Tensor::operator[](const TensorIndex& i) const {
  const Tensor& index = i.tensor;
  detail::need_defined("Tensor", {{"self", this}, {"index", &index}}, i.at);
  if (index.dtype() != DType::boolean) return detail::rows_at(*this, index, true, i.at);
  IntList shape{index.numel(i.at)};
  bool fits = index.dim() <= dim();
  for (int k = 0; k < dim(); ++k) {
    if (k >= index.dim()) shape.push_back(size(k));
    else fits = fits && size(k) == index.size(k);
  }
  if (!fits)
    TT_THROW(Error(Text("tt::Tensor: a mask of shape ") << index.shape() << " does not fit shape " << this->shape() << "." << i.at));
  return tt::index_select(reshape(shape, i.at), 0, detail::places_of(index, i.at), i.at);
}

TT_LAZY_DEFINITION void register_index_ops() {
  operator_entry<detail::IndexSelect>();
  operator_entry<detail::IndexAdd>();
  operator_entry<detail::Gather>();
  operator_entry<detail::ScatterAdd>();
  operator_entry<detail::Nonzero>();
}

}  // namespace tt
