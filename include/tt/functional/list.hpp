// Lists of all ops over graphs of the library, for tt::compiled and for calls by name.
#pragma once
#include "tt/functional/elementwise.hpp"
#include "tt/functional/distances.hpp"
#include "tt/functional/elementwise_losses.hpp"
#include "tt/functional/image_ops.hpp"
#include "tt/functional/join_ops.hpp"
#include "tt/functional/network.hpp"
#include "tt/functional/packed.hpp"
#include "tt/functional/products.hpp"
#include "tt/functional/tensor_ops.hpp"

namespace tt {

using StructuredOps = TypeList<Sum, Mean, Var, Std, Amax, Amin, AnyOrAll<false>, AnyOrAll<true>, CountNonzero, Argmax, Argmin, Extreme<Op::amax>, Extreme<Op::amin>, Softmax, LogSoftmax, Logsumexp, LayerNorm, Matmul,
                               CrossEntropy, MseLoss, ArangeLike, EyeLike, RandLike, RandnLike, SliceScatter, Cat, Stack, Triangle<true>, Triangle<false>, Conv2d, MaxPool2d,
                               AvgPool2d, Pad>;
/// The other ops; a file of src/ of its own compiles them.
using FurtherStructuredOps = TypeList<Isnan, Isinf, Isposinf, Isneginf, Isfinite, Signbit, LogicalXor, BitwiseNot, Isclose, NanToNum, Nansum, Nanmean, VectorNorm, MaskedFill, Flip, Cross, DiagEmbed, RoundDecimals, Frexp, RandintLike,
                                      Nextafter, Polygamma, NllLoss, L1Loss, SmoothL1Loss, HuberLoss,
                                      BinaryCrossEntropy, BinaryCrossEntropyWithLogits, KlDiv, PoissonNllLoss, GaussianNllLoss, HingeEmbeddingLoss,
                                      MarginRankingLoss, SoftMarginLoss, MultilabelSoftMarginLoss, MultiMarginLoss, MultilabelMarginLoss,
                                      CosineEmbeddingLoss, TripletMarginLoss, Normalize, CosineSimilarity, PairwiseDistance, Cdist, Pdist,
                                      BatchNorm, GroupNorm, InstanceNorm, RmsNorm, Linear, IntMm, Contraction, Addmm, Addmv, Addr, Addbmm, Baddbmm, Inner, Vecdot, Glu, Prelu, PixelShuffle<true>, PixelShuffle<false>, Attention, PackInt4, UnpackInt4<true>, UnpackInt4<false>>;

}  // namespace tt
