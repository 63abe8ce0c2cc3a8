// Definitions of grid_functions.hpp.
#pragma once
#include "tt/dispatch/grid_functions.hpp"
#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/shape_names_inl.hpp"

namespace tt {
namespace detail {

/// One axis of a sampled image: coordinates in elements, and the treatment of coordinates outside the image.
struct SampledAxis {
  Tensor place;  ///< (n, points)
  std::int64_t size;
  SamplePadding padding;
  bool align_corners;

  Tensor inside(const Tensor& x, SourceLine at) const {
    if (padding == SamplePadding::zeros) return x;
    const double last = static_cast<double>(size - 1);
    return tt::clamp(padding == SamplePadding::reflection ? reflected(x, at) : x, 0, last, at);
  }
  /// x reflected at both borders, as often as needed.
  Tensor reflected(const Tensor& x, SourceLine at) const {
    const double low = align_corners ? 0 : -0.5, span = static_cast<double>(align_corners ? size - 1 : size);
    if (span <= 0) return x * 0;
    const Tensor from = tt::abs(x - low, at), turns = tt::floor(from / span, at), rest = from - turns * span;
    const Tensor even = tt::eq(turns - tt::floor(turns / 2, at) * 2, 0, at);
    return tt::where(even, rest + low, (span + low) - rest, at);
  }
};
/// Elements of flattened images (n, c, size) at whole coordinates, a Tensor (n, points) for each axis; zeros outside the image.
template <class = void>
Tensor elements_at(const Tensor& flat, const std::vector<Tensor>& place, const std::vector<SampledAxis>& axis, SourceLine at) {
  Tensor index, valid;
  for (std::size_t k = 0; k < axis.size(); ++k) {
    const double last = static_cast<double>(axis[k].size - 1);
    const Tensor fits = tt::eq(tt::clamp(place[k], 0, last, at), place[k], at), own = tt::where(fits, place[k], 0, at).to(DType::i64, at);  // NaN is outside
    index = k == 0 ? own : index * axis[k].size + own;
    valid = k == 0 ? fits : tt::logical_and(valid, fits, at);
  }
  const Tensor taken = gather(flat, 2, index.unsqueeze(1, at).expand({flat.size(0, at), flat.size(1, at), index.size(1, at)}, at), at);
  return tt::where(valid.unsqueeze(1, at), taken, 0, at);
}
/// The weights of four neighbours at a distance t (0 to 1) behind the second: cubic convolution with a = -0.75 (Keys, 1981).
template <class = void>
std::vector<Tensor> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto near = [](const Tensor& x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](const Tensor& x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor grid_sample(const Tensor& input, const Tensor& grid, SampleMode mode, SamplePadding padding_mode, bool align_corners, SourceLine at) {
  detail::need_floating("grid_sample", input, at);
  detail::need_same_dtype("grid_sample", input, grid, at);
  const int axes = input.dim() - 2;
  const bool fits = (axes == 2 || axes == 3) && grid.dim() == input.dim() && grid.size(-1, at) == axes && grid.size(0, at) == input.size(0, at);
  if (!fits) TT_THROW(Error(Text("tt::grid_sample: shapes do not fit: ") << input.shape() << " and a grid " << grid.shape() << "." << at));
  if (mode == SampleMode::bicubic && axes != 2) TT_THROW(Error(Text("tt::grid_sample: bicubic is for images of two axes, not ") << axes << "." << at));
  const Size n = input.size(0, at);
  Size points(1);
  IntList to{n, input.size(1, at)};
  for (int k = 1; k <= axes; ++k) {
    points = points * grid.size(k, at);
    to.push_back(grid.size(k, at));
  }
  const Tensor flat = input.reshape({n, input.size(1, at), -1}, at), coordinates = grid.reshape({n, points, axes}, at);
  std::vector<detail::SampledAxis> axis;
  for (int k = 0; k < axes; ++k) {  // the grid's last axis is x first, which is the last of the image
    const std::int64_t size = input.size(k + 2, at);
    if (size == 0) TT_THROW(Error(Text("tt::grid_sample: images have no elements: ") << input.shape() << "." << at));
    const Tensor g = coordinates.select(2, axes - 1 - k, at);
    const double n_k = static_cast<double>(size);
    axis.push_back({align_corners ? (g + 1) * ((n_k - 1) / 2) : ((g + 1) * n_k - 1) / 2, size, padding_mode, align_corners});
  }
  std::vector<std::vector<Tensor>> places, weights;  // for each axis, of its neighbours
  for (const detail::SampledAxis& a : axis) {
    places.emplace_back();
    weights.emplace_back();
    if (mode == SampleMode::bicubic) {
      const Tensor first = tt::floor(a.place, at);
      weights.back() = detail::cubic_weights(a.place - first);
      for (int k = -1; k < 3; ++k) places.back().push_back(tt::round(a.inside(first + k, at), at));
    } else if (mode == SampleMode::nearest) {
      places.back().push_back(tt::round(a.inside(a.place, at), at));
      weights.back().push_back({});
    } else {
      const Tensor x = a.inside(a.place, at), first = tt::floor(x, at);
      places.back() = {first, first + 1};
      weights.back() = {first + 1 - x, x - first};
    }
  }
  Tensor total;
  const int each = static_cast<int>(places[0].size()), all = axes == 2 ? each * each : each * each * each;
  for (int k = 0; k < all; ++k) {
    std::vector<Tensor> own;
    Tensor weight;
    for (int j = 0, rest = k; j < axes; ++j, rest /= each) {
      const auto i = static_cast<std::size_t>(rest % each), which = static_cast<std::size_t>(axes - 1 - j);
      own.insert(own.begin(), places[which][i]);
      const Tensor& w = weights[which][i];
      if (w.defined()) weight = weight.defined() ? weight * w : w;
    }
    Tensor part = detail::elements_at(flat, own, axis, at);
    if (weight.defined()) part = part * tt::where(tt::eq(weight, weight, at), weight, 0, at).unsqueeze(1, at);  // NaN weighs 0
    total = total.defined() ? total + part : part;
  }
  return total.reshape(to, at);
}

TT_LAZY_DEFINITION Tensor affine_grid(const Tensor& theta, const IntList& size, bool align_corners, SourceLine at) {
  const int axes = size.size() - 2;
  if ((axes != 2 && axes != 3) || theta.dim() != 3 || theta.size(1, at) != axes || theta.size(2, at) != axes + 1 || theta.size(0, at) != size[0])
    TT_THROW(Error(Text("tt::affine_grid: shapes do not fit: ") << theta.shape() << " for a size " << size << "." << at));
  const TensorOptions like = detail::on_device(theta.dtype(), theta.device());
  IntList whole;
  for (int k = 0; k < axes; ++k) whole.push_back(size[k + 2]);
  std::vector<Tensor> columns;
  for (int k = axes; k-- > 0;) {  // x first
    const std::int64_t n = size[k + 2];
    const double scale = align_corners || n == 0 ? 1 : static_cast<double>(n - 1) / static_cast<double>(n);
    IntList along;
    for (int j = 0; j < axes; ++j) along.push_back(j == k ? n : 1);
    const Tensor row = n > 1 ? linspace(-1, 1, n, like, at) * scale : zeros({n}, like, at);
    columns.push_back(row.reshape(along, at).expand(whole, at).reshape({-1, 1}, at));
  }
  columns.push_back(ones(columns[0].shape(at), like, at));
  IntList to{size[0]};
  for (int k = 0; k < axes; ++k) to.push_back(size[k + 2]);
  to.push_back(axes);
  return tt::matmul(cat(columns, 1, at), theta.transpose(1, 2, at), at).reshape(to, at);
}

TT_LAZY_DEFINITION Tensor max_unpool(const Tensor& input, const Tensor& indices, const IntList& output_size, SourceLine at) {
  detail::need_floating("max_unpool", input, at);
  detail::need_index_dtype(indices.dtype() == DType::i64, "max_unpool", indices.dtype(), "i64", at);
  const int axes = output_size.size(), before = input.dim() - axes;
  if (before < 1 || !(input.shape(at) == indices.shape(at))) TT_THROW(Error(Text("tt::max_unpool: shapes do not fit: ") << input.shape() << " and indices " << indices.shape() << "." << at));
  IntList flat, to;
  Size points(1);
  for (int k = 0; k < before; ++k) {
    flat.push_back(input.size(k, at));
    to.push_back(input.size(k, at));
  }
  for (int k = 0; k < axes; ++k) {
    points = points * output_size[k];
    to.push_back(output_size[k]);
  }
  IntList rows = flat;
  rows.push_back(-1);
  flat.push_back(points);
  const Tensor zero = zeros(flat, detail::on_device(input.dtype(), input.device()), at);
  return scatter(zero, before, indices.reshape(rows, at), input.reshape(rows, at), at).reshape(to, at);
}

TT_LAZY_DEFINITION Tensor max_unpool(const Tensor& input, const Tensor& indices, int axes, const IntList& kernel_size, const IntList& given_stride, const IntList& padding, const IntList& size, SourceLine at) {
  if ((size.size() && size.size() != axes && size.size() != axes + 2) || input.dim() < axes)
    TT_THROW(Error(Text("tt::max_unpool: an output_size of ") << size.size() << " axes and an input " << input.shape() << " for images of " << axes << " axes." << at));
  IntList to;
  for (int k = 0; k < axes; ++k) {
    const auto of = [&](const IntList& l, std::int64_t otherwise) { return l.size() == 0 ? Size(otherwise) : l[l.size() == 1 ? 0 : k]; };
    const Size window = of(kernel_size, 1), stride = given_stride.size() ? of(given_stride, 1) : window;
    const Size usual = (input.size(input.dim() - axes + k, at) - 1) * stride - of(padding, 0) * 2 + window, wanted = size.size() ? size[size.size() - axes + k] : usual;
    if (wanted <= usual - stride || wanted >= usual + stride) TT_THROW(Error(Text("tt::max_unpool: an output_size of ") << std::int64_t{wanted} << " along axis " << k << " is not between " << std::int64_t{usual - stride} << " and " << std::int64_t{usual + stride} << "." << at));
    to.push_back(wanted);
  }
  return max_unpool(input, indices, to, at);
}

namespace detail {

template <int N>
void register_max_unpool(const char* name, const char* schema) {
  register_function(name, schema, [](const Tensor& x, const Tensor& indices, const IntList& kernel, const IntList& stride, const IntList& padding, const IntList& size, Line at) {
    return max_unpool(x, indices, N, kernel, stride, padding, size, at);
  });
}
template <class = void>
void register_grid_names() {
  register_function("grid_sample", "Tensor input, Tensor grid, bilinear|nearest|bicubic mode=bilinear, zeros|border|reflection padding_mode=zeros, bool? align_corners=None",
                    [](const Tensor& x, const Tensor& g, SampleMode m, SamplePadding p, Optional<bool> a, Line at) { return grid_sample(x, g, m, p, a.given && a.value, at); });
  for (const char* name : {"grid_sampler", "grid_sampler_2d", "grid_sampler_3d"})
    register_function(name, "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners", [](const Tensor& x, const Tensor& g, int m, int p, bool a, Line at) {
      if (m < 0 || m > 2 || p < 0 || p > 2) TT_THROW(Error(Text("tt::grid_sampler: modes ") << m << " and " << p << " are not from 0 to 2." << at));
      return grid_sample(x, g, static_cast<SampleMode>(m), static_cast<SamplePadding>(p), a, at);
    });
  register_function("affine_grid", "Tensor theta, int[] size, bool? align_corners=None", [](const Tensor& t, const IntList& s, Optional<bool> a, Line at) { return affine_grid(t, s, a.given && a.value, at); });
  for (const char* name : {"affine_grid_generator"}) register_function(name, "Tensor theta, int[] size, bool align_corners", [](const Tensor& t, const IntList& s, bool a, Line at) { return affine_grid(t, s, a, at); });
  register_max_unpool<1>("max_unpool1d", "Tensor input, Tensor indices, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[]? output_size=None");
  register_max_unpool<2>("max_unpool2d", "Tensor input, Tensor indices, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[]? output_size=None");
  register_max_unpool<3>("max_unpool3d", "Tensor input, Tensor indices, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[]? output_size=None");
}

}  // namespace detail
}  // namespace tt
