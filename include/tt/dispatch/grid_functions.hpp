// Images sampled at coordinates of a grid, and written at the indices of a max pool. Names, arguments, defaults and meanings are PyTorch's.
//   tt::grid_sample(images, tt::affine_grid(theta, images.shape()))   tt::max_unpool(y, indices, {28, 28})
#pragma once
#include "tt/dispatch/shape_functions.hpp"

namespace tt {

enum class SampleMode { bilinear, nearest, bicubic };
template <>
inline constexpr const char* choices_of<SampleMode> = "bilinear|nearest|bicubic";
/// The elements outside an image.
enum class SamplePadding { zeros, border, reflection };
template <>
inline constexpr const char* choices_of<SamplePadding> = "zeros|border|reflection";

/// Images (n, c, h, w) or volumes (n, c, d, h, w) at the coordinates that a grid (n, ..., 2 or 3) has for each element of the result: x, y, z
/// from -1 to 1, which are the outer borders of the first and last elements, or their centres (align_corners). Bicubic is for images. Throws
/// Error where shapes do not fit.
TT_LAZY Tensor grid_sample(const Tensor& input, const Tensor& grid, SampleMode mode = SampleMode::bilinear, SamplePadding padding_mode = SamplePadding::zeros, bool align_corners = false,
                           SourceLine at = here());
/// The grid of affine maps theta (n, 2, 3) or (n, 3, 4) for a result of `size`, (n, c, h, w) or (n, c, d, h, w).
TT_LAZY Tensor affine_grid(const Tensor& theta, const IntList& size, bool align_corners = false, SourceLine at = here());
/// The inverse of max_pool_with_indices: elements at their indices in images of `output_size` (the last axes), zeros elsewhere.
TT_LAZY Tensor max_unpool(const Tensor& input, const Tensor& indices, const IntList& output_size, SourceLine at = here());
/// The same for pools over the last `axes` axes with these windows; output_size {}: the smallest that gives this input's size.
TT_LAZY Tensor max_unpool(const Tensor& input, const Tensor& indices, int axes, const IntList& kernel_size, const IntList& stride = {}, const IntList& padding = {0}, const IntList& output_size = {},
                          SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/grid_functions_inl.hpp"
#endif
