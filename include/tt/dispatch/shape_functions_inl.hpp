// Definitions of shape_functions.hpp, and their names.
#pragma once
#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/example_run.hpp"
#include "tt/dispatch/shape_functions.hpp"

namespace tt {
namespace detail {

/// The axes 0 to rank - 1, as an argument of permute.
template <class = void>
IntList axes_in_order(int rank) {
  IntList order;
  for (int k = 0; k < rank; ++k) order.push_back(k);
  return order;
}
/// The axes in a list, as bits; throws Error when an axis is named twice.
inline std::uint64_t axis_set(const Tensor& x, const IntList& dims, const char* op, SourceLine at) {
  std::uint64_t set = 0;
  for (int k = 0; k < dims.size(); ++k) {
    const int axis = axis_of(x, tt::detail::saturated<int>(dims.value(k)), op, at, x.dim() ? x.dim() : 1);
    if (set >> axis & 1) TT_THROW(Error(Text("tt::") << op << ": axis is given twice: " << axis << '.' << at));
    set |= std::uint64_t{1} << axis;
  }
  return set;
}
template <class = void>
Tensor index_tensor(const std::vector<std::int64_t>& v, const Device& device) {
  const Tensor t = tt::from_span(std::span<const std::int64_t>(v), IntList{static_cast<std::int64_t>(v.size())});
  return device.type == DeviceType::cpu ? t : t.to(device);
}
/// The same for indices that depend on sizes and options alone.
template <class = void>
Tensor index_table(const std::vector<std::int64_t>& v, const Device& device) {
  const Tensor t = made_of_numbers(index_tensor(v, Device{}));
  return device.type == DeviceType::cpu ? t : t.to(device);
}

/// Throws Error before a table of `count` indices is made that would take more than 16 GB.
template <class = void>
void need_places(const char* op, std::int64_t count, SourceLine at) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (count > most) TT_THROW(Error(Text("tt::") << op << ": a result of " << count << " elements along its axes is more than memory holds." << at));
}
/// A zero added behind the last element of an axis: read where an element must not contribute, which a product with 0 would not ensure for infinities.
template <class = void>
Tensor with_zero_behind(const Tensor& x, int axis, SourceLine at) {
  IntList one = x.shape(at);
  one.set(axis, Size(1));
  return cat({x, zeros(one, TensorOptions{.dtype = x.dtype(), .device = x.device()}, at)}, axis, at);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor narrow(const Tensor& x, int dim, SizeArgument start, SizeArgument length, SourceLine at) {
  const int d = detail::axis_of(x, dim, "narrow", at, x.dim());
  const Size n = x.size(d, at), first = start.size < 0 ? start.size + n : start.size;
  if (first < 0 || first > n || length.size < 0 || length.size > n - first)
    TT_THROW(Error(Text("tt::narrow: ") << length.size.value() << " elements from " << start.size.value() << " on are beyond axis " << d << " of shape " << x.shape() << "." << at));
  return x.slice(d, first, first + length.size, 1, at);
}
TT_LAZY_DEFINITION Tensor swapaxes(const Tensor& x, int axis0, int axis1, SourceLine at) { return x.dim() == 0 ? x.reshape({}, at) : x.transpose(axis0, axis1, at); }
TT_LAZY_DEFINITION Tensor movedim(const Tensor& x, const IntList& source, const IntList& destination, SourceLine at) {
  if (source.size() != destination.size()) detail::refuse("movedim", "as many axes come from as go to", x, at);
  const std::uint64_t from = detail::axis_set(x, source, "movedim", at);
  (void)detail::axis_set(x, destination, "movedim", at);
  if (x.dim() == 0) return x.reshape({}, at);
  IntList order;
  for (int k = 0; k < x.dim(); ++k) order.push_back(-1);
  for (int k = 0; k < source.size(); ++k)
    order[normalize_axis(tt::detail::saturated<int>(destination.value(k)), x.dim())] = normalize_axis(tt::detail::saturated<int>(source.value(k)), x.dim());
  int next = 0;
  for (int k = 0; k < x.dim(); ++k) {
    if (order.value(k) >= 0) continue;
    while (from >> next & 1) ++next;
    order[k] = next++;
  }
  return x.permute(order, at);
}
TT_LAZY_DEFINITION Tensor squeeze(const Tensor& x, const IntList& dim, SourceLine at) {
  const std::uint64_t set = dim.size() == 0 ? ~std::uint64_t{0} : detail::axis_set(x, dim, "squeeze", at);
  IntList to;
  for (int k = 0; k < x.dim(); ++k)
    if (!(set >> k & 1) || !(x.size(k, at) == 1)) to.push_back(x.size(k, at));
  return x.reshape(to, at);
}
TT_LAZY_DEFINITION Tensor flatten(const Tensor& x, int start_dim, int end_dim, SourceLine at) {
  if (x.dim() == 0) return x.reshape({1}, at);
  const int first = detail::axis_of(x, start_dim, "flatten", at, x.dim()), last = detail::axis_of(x, end_dim, "flatten", at, x.dim());
  if (last < first) detail::refuse("flatten", "the last axis comes before the first", x, at);
  IntList to;
  for (int k = 0; k < first; ++k) to.push_back(x.size(k, at));
  Size joined(1);
  for (int k = first; k <= last; ++k) joined *= x.size(k, at);
  to.push_back(joined);
  for (int k = last + 1; k < x.dim(); ++k) to.push_back(x.size(k, at));
  return x.reshape(to, at);
}
TT_LAZY_DEFINITION Tensor unflatten(const Tensor& x, int dim, const IntList& sizes, SourceLine at) {
  const int d = detail::axis_of(x, dim, "unflatten", at, x.dim());
  IntList to;
  Size known(1);
  int open = -1;
  for (int k = 0; k < sizes.size(); ++k)
    if (sizes.hint(k) != -1) known *= sizes[k];
    else if (open < 0) open = k;
    else TT_THROW(Error(Text("tt::unflatten: more than one size of ") << sizes << " is -1." << at));
  const bool fits = open < 0 ? known == x.size(d, at) : known > 0 && x.size(d, at) % known == 0;
  if (!fits) TT_THROW(Error(Text("tt::unflatten: sizes ") << sizes << " do not make up axis " << d << " of shape " << x.shape() << "." << at));
  for (int k = 0; k < d; ++k) to.push_back(x.size(k, at));
  for (int k = 0; k < sizes.size(); ++k) to.push_back(k == open ? x.size(d, at) / known : sizes[k]);
  for (int k = d + 1; k < x.dim(); ++k) to.push_back(x.size(k, at));
  return x.reshape(to, at);
}
TT_LAZY_DEFINITION TensorList split(const Tensor& x, std::int64_t step, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "split", at, x.dim());
  const std::int64_t n = x.size(d, at);
  if (step < 0 || (step == 0 && n > 0)) TT_THROW(Error(Text("tt::split: a part has ") << step << " elements." << at));
  TensorList parts;
  for (std::int64_t k = 0; k < n || k == 0; k += step) {
    parts.push_back(x.slice(d, k, k + step < n ? k + step : n, 1, at));
    if (step == 0) break;
  }
  return parts;
}
TT_LAZY_DEFINITION TensorList split(const Tensor& x, const IntList& sizes, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "split", at, x.dim());
  TensorList parts;
  Size begin(0);
  for (int k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < 0) TT_THROW(Error(Text("tt::split: a size is negative: ") << sizes.value(k) << "." << at));
    if (sizes[k] > x.size(d, at)) TT_THROW(Error(Text("tt::split: sizes ") << sizes << " do not make up axis " << d << " of shape " << x.shape() << "." << at));
    begin += sizes[k];
  }
  if (begin != x.size(d, at)) TT_THROW(Error(Text("tt::split: sizes ") << sizes << " do not make up axis " << d << " of shape " << x.shape() << "." << at));
  begin = Size(0);
  for (int k = 0; k < sizes.size(); ++k) {
    parts.push_back(x.slice(d, begin, begin + sizes[k], 1, at));
    begin += sizes[k];
  }
  return parts;
}
TT_LAZY_DEFINITION TensorList chunk(const Tensor& x, int chunks, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "chunk", at, x.dim());
  if (chunks < 1) TT_THROW(Error(Text("tt::chunk: ") << chunks << " parts. At least one?" << at));
  const std::int64_t n = x.size(d, at);
  if (n == 0) {
    IntList empty;
    for (int k = 0; k < chunks; ++k) empty.push_back(0);
    return split(x, empty, d, at);
  }
  return split(x, (n + chunks - 1) / chunks, d, at);
}
TT_LAZY_DEFINITION TensorList tensor_split(const Tensor& x, int sections, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "tensor_split", at, x.dim());
  if (sections < 1) TT_THROW(Error(Text("tt::tensor_split: ") << sections << " parts. At least one?" << at));
  const std::int64_t n = x.size(d, at);
  IntList sizes;
  for (int k = 0; k < sections; ++k) sizes.push_back(n / sections + (k < n % sections ? 1 : 0));
  return split(x, sizes, d, at);
}
TT_LAZY_DEFINITION TensorList tensor_split(const Tensor& x, const IntList& indices, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "tensor_split", at, x.dim());
  TensorList parts;
  Size begin(0);
  for (int k = 0; k <= indices.size(); ++k) {
    const Size end = k < indices.size() ? indices[k] : x.size(d, at);
    parts.push_back(x.slice(d, begin, end, 1, at));
    begin = end;
  }
  return parts;
}
TT_LAZY_DEFINITION TensorList unbind(const Tensor& x, int dim, SourceLine at) {
  const int d = detail::axis_of(x, dim, "unbind", at, x.dim());
  TensorList slices;
  const std::int64_t n = x.size(d, at);
  for (std::int64_t k = 0; k < n; ++k) slices.push_back(x.select(d, k, at));
  return slices;
}
namespace detail {
template <class = void>
const Tensor& view_on_tape(const Tensor& view) {
  if (const auto hook = tape_hooks().view) hook(view);
  return view;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor diagonal(const Tensor& x, int offset, int dim1, int dim2, SourceLine at) {
  const int a = detail::axis_of(x, dim1, "diagonal", at, x.dim()), b = detail::axis_of(x, dim2, "diagonal", at, x.dim());
  if (a == b) detail::refuse("diagonal", "the two axes are one", x, at);
  return detail::call_list(detail::diagonal_operator(), x, IntList{offset, a, b}, at);
}
TT_LAZY_DEFINITION Tensor as_strided(const Tensor& x, const IntList& size, const IntList& stride, Optional<std::int64_t> storage_offset, SourceLine at) {
  if (detail::capture_mode) detail::capture_mode->need(x, "as_strided", at);
  const Shape to = shape_of(size, "as_strided", at);
  if (stride.size() != to.rank) TT_THROW(Error(Text("tt::as_strided: ") << size << " sizes, but strides " << stride << "." << at));
  detail::TensorImpl& t = x.impl();
  const detail::StoragePart seen = detail::visible_part(t);
  const std::int64_t width = size_of(t.dtype), first = storage_offset.given ? seen.begin / width + storage_offset.value : detail::offset_in_storage(x.impl());
  std::int64_t low = first, high = first, strides[max_rank] = {};
  bool empty = false, beyond = false;
  for (int k = 0; k < to.rank; ++k) {
    strides[k] = stride.value(k);
    empty = empty || to.code[k] == 0;
    std::int64_t reach = 0;
    std::int64_t& end = strides[k] < 0 ? low : high;
    beyond = __builtin_mul_overflow(strides[k], to.code[k] - 1, &reach) || __builtin_add_overflow(end, reach, &end) || beyond;
  }
  if (!empty && (beyond || low < seen.begin / width || !t.storage || high >= seen.end / width))
    TT_THROW(Error(Text("tt::as_strided: sizes ") << size << " with strides " << stride << " from " << first << " on reach beyond the storage." << at));
  const Tensor view = detail::view_on_tape(detail::make_view(x, to, strides, t.storage ? static_cast<std::byte*>(t.storage->data) + first * width : nullptr));
  if (x.requires_grad() && DispatchState::of_this_thread().grad_enabled && !view.requires_grad())  // the tape does not know the base's history
    TT_THROW(Error(Text("tt::as_strided: of a leaf that is a view of another Tensor there is no gradient. Use clone() before requires_grad_()?") << at));
  if (detail::capture_mode) view.impl().capture = t.capture;  // made within the same capture as its base
  return view;
}
TT_LAZY_DEFINITION TensorList broadcast_tensors(TensorSpan all, SourceLine at) {
  IntList to;
  for (const Tensor& t : all) to = detail::broadcast_together("broadcast_tensors", to, t.shape(at), at);
  TensorList r;
  for (const Tensor& t : all) r.push_back(t.expand(to, at));
  return r;
}

TT_LAZY_DEFINITION Tensor hstack(TensorSpan all, SourceLine at) {
  const TensorList r = detail::each_at_least(all, 1, at);
  return cat(r, !r.empty() && r[0].dim() == 1 ? 0 : 1, at);
}
TT_LAZY_DEFINITION Tensor vstack(TensorSpan all, SourceLine at) { return cat(detail::each_at_least(all, 2, at), 0, at); }
TT_LAZY_DEFINITION Tensor dstack(TensorSpan all, SourceLine at) { return cat(detail::each_at_least(all, 3, at), 2, at); }
TT_LAZY_DEFINITION Tensor column_stack(TensorSpan all, SourceLine at) {
  TensorList r;
  for (const Tensor& t : all) r.push_back(t.dim() < 2 ? t.reshape({t.numel(at), 1}, at) : t);
  return cat(r, 1, at);
}
TT_LAZY_DEFINITION TensorList meshgrid(TensorSpan all, std::string_view indexing, SourceLine at) {
  const bool xy = indexing == "xy";
  if (!xy && indexing != "ij") TT_THROW(Error(Text("tt::meshgrid: indexing is neither ij nor xy.") << at));
  const int n = static_cast<int>(all.size());
  IntList to;
  for (const Tensor& t : all) {
    if (t.dim() > 1) detail::refuse("meshgrid", "not a vector", t, at);
    to.push_back(t.numel(at));
  }
  const auto place = [&](int k) { return xy && k < 2 && n > 1 ? 1 - k : k; };
  IntList shape;
  for (int k = 0; k < n; ++k) shape.push_back(to[place(k)]);
  TensorList r;
  for (int k = 0; k < n; ++k) {
    IntList own;
    for (int j = 0; j < n; ++j) own.push_back(place(j) == k ? to[k] : Size(1));
    r.push_back(all[static_cast<std::size_t>(k)].reshape(own, at).expand(shape, at));
  }
  return r;
}
TT_LAZY_DEFINITION Tensor cartesian_prod(TensorSpan all, SourceLine at) {
  for (const Tensor& t : all)
    if (t.dim() != 1) detail::refuse("cartesian_prod", "not a vector", t, at);
  if (all.size() == 1) return all[0];
  TensorList columns;
  for (const Tensor& t : meshgrid(all, "ij", at)) columns.push_back(t.reshape({-1}, at));
  return stack(columns, 1, at);
}
TT_LAZY_DEFINITION Tensor combinations(const Tensor& x, int r, bool with_replacement, SourceLine at) {
  if (x.dim() != 1) detail::refuse("combinations", "not a vector", x, at);
  if (r < 0) TT_THROW(Error(Text("tt::combinations: ") << r << " elements of a choice." << at));
  if (r == 0) return empty({0}, {.dtype = x.dtype()});
  const std::int64_t n = x.numel(at);
  double choices = 1;  // the number of choices, of r out of n or of n + r - 1; below 1 if there is none
  for (int k = 0; k < r && choices < 1e18; ++k) choices *= static_cast<double>(with_replacement ? n + k : n - k) / (k + 1);
  if (r > 1000 || choices * r > 0x1p31) TT_THROW(Error(Text("tt::combinations: of ") << r << " out of " << n << " elements there are more than memory holds." << at));
  std::vector<std::int64_t> place, own(static_cast<std::size_t>(r));
  const auto next = [&](const auto& self, int k, std::int64_t from) -> void {
    if (k == r) return static_cast<void>(place.insert(place.end(), own.begin(), own.end()));
    const std::int64_t end = with_replacement ? n : n - (r - 1 - k);  // elements must remain for the rest of the choice
    for (std::int64_t i = from; i < end; ++i) {
      own[static_cast<std::size_t>(k)] = i;
      self(self, k + 1, with_replacement ? i : i + 1);
    }
  };
  if (n > 0 && (r <= n || with_replacement)) next(next, 0, 0);
  const std::int64_t rows = static_cast<std::int64_t>(place.size()) / r;
  return index_select(x, 0, detail::index_table(place, x.device()), at).reshape({rows, r}, at);
}

TT_LAZY_DEFINITION Tensor repeat(const Tensor& x, const IntList& repeats, SourceLine at) {
  const int more = repeats.size() - x.dim();
  if (more < 0) TT_THROW(Error(Text("tt::repeat: fewer numbers than axes: ") << repeats << " for shape " << x.shape() << "." << at));
  IntList apart, expanded, to;
  for (int k = 0; k < repeats.size(); ++k) {
    const Size n = k < more ? Size(1) : x.size(k - more, at);
    if (repeats[k] < 0) TT_THROW(Error(Text("tt::repeat: a number is negative: ") << repeats << "." << at));
    apart.push_back(1);
    apart.push_back(n);
    expanded.push_back(repeats[k]);
    expanded.push_back(n);
    to.push_back(repeats[k] * n);
  }
  if (apart.size() <= max_rank) {
    const Tensor r = x.reshape(apart, at).expand(expanded, at).reshape(to, at);
    return detail::capture_mode || r.shares_storage(x) ? r.clone(at) : r;
  }
  Tensor r = x;  // one axis after the other
  for (int k = 0; k < more; ++k) r = r.unsqueeze(0, at);
  for (int k = 0; k < repeats.size(); ++k) {
    const TensorList copies(static_cast<std::size_t>(std::int64_t{repeats[k]}), r);
    r = copies.empty() ? r.slice(k, 0, 0, 1, at) : cat(copies, k, at);
  }
  return r;
}
TT_LAZY_DEFINITION Tensor tile(const Tensor& x, const IntList& dims, SourceLine at) {
  IntList all;
  for (int k = dims.size(); k < x.dim(); ++k) all.push_back(1);
  for (int k = 0; k < dims.size(); ++k) all.push_back(dims[k]);
  return repeat(x, all, at);
}
TT_LAZY_DEFINITION Tensor repeat_interleave(const Tensor& x, SizeArgument repeats, Optional<int> dim, SourceLine at) {
  const Tensor own = dim.given ? x.dim() == 0 ? x.reshape({1}, at) : x : x.reshape({-1}, at);
  if (repeats.size < 0) TT_THROW(Error(Text("tt::repeat_interleave: a number is negative: ") << repeats.size.value() << "." << at));
  const int d = detail::axis_of(own, dim.given ? dim.value : 0, "repeat_interleave", at, own.dim());
  IntList expanded, to;
  for (int k = 0; k < own.dim(); ++k) {
    expanded.push_back(own.size(k, at));
    if (k == d) expanded.push_back(repeats.size);
    to.push_back(k == d ? own.size(k, at) * repeats.size : own.size(k, at));
  }
  const Tensor r = own.unsqueeze(d + 1, at).expand(expanded, at).reshape(to, at);
  return detail::is_plain(x) && !r.shares_storage(own) ? r : r.clone(at);
}
TT_LAZY_DEFINITION Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, Optional<int> dim, SourceLine at) {
  const Tensor own = dim.given ? x : x.reshape({-1}, at);
  const int d = detail::axis_of(own, dim.given ? dim.value : 0, "repeat_interleave", at, own.dim());
  if (repeats.dim() > 1 || !is_integral(repeats.dtype())) detail::refuse("repeat_interleave", "numbers are integers, one or a vector", repeats, at);
  if (repeats.numel(at) == 1) return repeat_interleave(own, repeats.item<std::int64_t>(at), Optional<int>(d), at);
  if (repeats.numel(at) != own.size(d, at))
    TT_THROW(Error(Text("tt::repeat_interleave: ") << repeats.numel().value() << " numbers for axis " << d << " of shape " << own.shape() << "." << at));
  const Tensor host = repeats.cpu(at).to(DType::i64, at).contiguous(at);
  std::vector<std::int64_t> place;
  const auto* n = host.data_ptr<std::int64_t>(at);
  std::int64_t all = 0;
  for (std::int64_t k = 0; k < host.numel(); ++k) {
    if (n[k] < 0) TT_THROW(Error(Text("tt::repeat_interleave: a number is negative: ") << n[k] << "." << at));
    if (__builtin_add_overflow(all, n[k], &all)) all = INT64_MAX;
    detail::need_places("repeat_interleave", all, at);
    place.insert(place.end(), static_cast<std::size_t>(n[k]), k);
  }
  return index_select(own, d, detail::index_tensor(place, own.device()), at);
}
TT_LAZY_DEFINITION Tensor flip(const Tensor& x, const IntList& dims, SourceLine at) {
  const std::uint64_t flipped = detail::axis_set(x, dims, "flip", at);
  if (x.dim() == 0) return x.clone(at);
  const detail::MemoryOrder order(x);
  if (order.is_row_major()) return call_with<Flip>(at, {dims}, x);
  IntList axes, back = detail::axes_in_order(x.dim()), there;  // the result keeps the memory order of x
  for (int k = 0; k < x.dim(); ++k) {
    axes.push_back(order.axis[k]);
    back.set(order.axis[k], Size(k));
    if (flipped >> order.axis[k] & 1) there.push_back(k);
  }
  return call_with<Flip>(at, {there}, x.permute(axes, at)).permute(back, at);
}
TT_LAZY_DEFINITION Tensor fliplr(const Tensor& x, SourceLine at) {
  if (x.dim() < 2) detail::refuse("fliplr", "of fewer than two axes", x, at);
  return flip(x, {1}, at);
}
TT_LAZY_DEFINITION Tensor flipud(const Tensor& x, SourceLine at) {
  if (x.dim() < 1) detail::refuse("flipud", "of no axes", x, at);
  return flip(x, {0}, at);
}
TT_LAZY_DEFINITION Tensor roll(const Tensor& x, const IntList& shifts, const IntList& dims, SourceLine at) {
  if (shifts.size() == 0) TT_THROW(Error(Text("tt::roll: there are no shifts.") << at));
  if (dims.size() == 0 && shifts.size() == 1) return roll(x.reshape({-1}, at), shifts, {0}, at).reshape(x.shape(at), at);
  if (dims.size() != shifts.size()) TT_THROW(Error(Text("tt::roll: shifts ") << shifts << " for axes " << dims << "." << at));
  Tensor r = x;
  for (int k = 0; k < dims.size(); ++k) {
    const int d = detail::axis_of(r, tt::detail::saturated<int>(dims.value(k)), "roll", at, r.dim());
    const Size n = r.size(d, at);
    if (n == 0) continue;
    Size shift = shifts[k] % n;
    if (shift < 0) shift = shift + n;
    r = cat({r.slice(d, n - shift, n, 1, at), r.slice(d, 0, n - shift, 1, at)}, d, at);
  }
  return r.is_same(x) ? x.clone(at) : r;
}
TT_LAZY_DEFINITION Tensor rot90(const Tensor& x, int k, const IntList& dims, SourceLine at) {
  if (dims.size() != 2) TT_THROW(Error(Text("tt::rot90: two axes are needed, not ") << dims << "." << at));
  (void)detail::axis_set(x, dims, "rot90", at);
  const int a = detail::axis_of(x, tt::detail::saturated<int>(dims.value(0)), "rot90", at, x.dim()), b = detail::axis_of(x, tt::detail::saturated<int>(dims.value(1)), "rot90", at, x.dim());
  switch ((k % 4 + 4) % 4) {
    case 1: return flip(x, {b}, at).transpose(a, b, at);
    case 2: return flip(x, {a, b}, at);
    case 3: return flip(x, {a}, at).transpose(a, b, at);
    default: return x.clone(at);
  }
}
TT_LAZY_DEFINITION Tensor sum_to_size(const Tensor& x, const IntList& size, SourceLine at) {
  const int more = x.dim() - size.size();
  IntList dims, kept;
  for (int k = 0; k < x.dim(); ++k)
    if (k < more || (size[k - more] == 1 && !(x.size(k, at) == 1))) dims.push_back(k);
    else if (k >= more && size[k - more] != x.size(k, at)) more < 0 ? void() : TT_THROW(Error(Text("tt::sum_to_size: shape ") << x.shape() << " was not broadcast from " << size << "." << at));
  if (more < 0) TT_THROW(Error(Text("tt::sum_to_size: shape ") << x.shape() << " was not broadcast from " << size << "." << at));
  return (dims.size() || x.dim() == 0 ? x.sum(dims, true, at) : x).reshape(size, at);
}

}  // namespace tt

#include "tt/dispatch/creation_functions_inl.hpp"
#include "tt/dispatch/placing_functions_inl.hpp"
