// Dropout in all forms, and rrelu: functions of networks that draw random numbers, from the default generator. Names, arguments and
// defaults are PyTorch's.
//   tt::dropout(x, 0.1, training)   tt::dropout2d(images)   tt::alpha_dropout(x, 0.2, true)
#pragma once
#include "tt/dispatch/random.hpp"

namespace tt {

/// Elements set to 0 with probability p, the rest divided by 1 - p; without training x itself. dropout_channels: whole channels (along the
/// first two axes).
TT_LAZY Tensor dropout(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here());
TT_LAZY Tensor dropout_channels(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here());
/// Elements (whole channels) replaced with probability p by the limit of selu at minus infinity; all are then scaled and shifted so that
/// mean 0 and variance 1 are kept: Klambauer and others, 2017.
TT_LAZY Tensor alpha_dropout(const Tensor& x, double p = 0.5, bool training = false, SourceLine at = here());
TT_LAZY Tensor feature_alpha_dropout(const Tensor& x, double p = 0.5, bool training = false, SourceLine at = here());
/// x where it is above 0, else x times a slope: drawn for each element between lower and upper, without training their mean.
TT_LAZY Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false, SourceLine at = here());

/// dropout_channels with one, two or three spatial axes, with or without a batch axis. (dropout2d takes three axes for batch, channels and
/// one spatial axis, as in PyTorch.) dropout1d throws Error for other ranks, the others take any above 1.
template <class = void>
Tensor dropout1d(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here()) {
  if (x.dim() != 2 && x.dim() != 3) TT_THROW(Error(Text("tt::dropout1d: of (channels, n) or (B, channels, n): shape is ") << x.shape() << "." << at));
  return x.dim() == 2 ? dropout_channels(x.unsqueeze(0, at), p, training, at).squeeze(0, at) : dropout_channels(x, p, training, at);
}
template <class = void>
Tensor dropout2d(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here()) { return dropout_channels(x, p, training, at); }
template <class = void>
Tensor dropout3d(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here()) {
  return x.dim() == 4 ? dropout_channels(x.unsqueeze(0, at), p, training, at).squeeze(0, at) : dropout_channels(x, p, training, at);
}

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/dropout_functions_inl.hpp"
#endif
