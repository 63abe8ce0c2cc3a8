// Window functions of torch.signal.windows: vectors computed from scalars alone.
//   tt::windows::hann(400)   tt::windows::kaiser(256, 14, false)
#pragma once
#include <vector>

#include "tt/dispatch/factories.hpp"

namespace tt {

/// M values of a window: symmetric, or (sym false) periodic, for spectra. Floating dtypes.
namespace windows {

TT_LAZY Tensor bartlett(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor blackman(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor cosine(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
/// exp(-|k - center| / tau); center {}: the middle, required if symmetric.
TT_LAZY Tensor exponential(std::int64_t m, Optional<double> center = {}, double tau = 1, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor gaussian(std::int64_t m, double std = 1, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
/// a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., x from 0 to 2 pi.
TT_LAZY Tensor general_cosine(std::int64_t m, const std::vector<double>& a, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor general_hamming(std::int64_t m, double alpha = 0.54, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor hamming(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor hann(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor kaiser(std::int64_t m, double beta = 12, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());
TT_LAZY Tensor nuttall(std::int64_t m, bool sym = true, const TensorOptions& o = {}, SourceLine at = here());

}  // namespace windows
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/window_functions_inl.hpp"
#endif
