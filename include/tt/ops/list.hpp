// The library's elementwise ops with a body, as lists of types. A new op needs a line here.
#pragma once
#include "tt/ops/activation.hpp"
#include "tt/ops/further.hpp"
#include "tt/ops/math.hpp"
#include "tt/ops/random.hpp"

namespace tt {

/// Generic tests run over this list.
using ElementwiseOps = TypeList<Exp, Exp2, Expm1, Sigmoid, Tanh, Log, Log2, Log1p, Pow, Sin, Cos,
                                Tan, Erf, Relu, LeakyRelu, Silu, Gelu, GeluTanh, Softplus, Elu,
                                Mish, Hardswish, Sign, Clamp, Square, Reciprocal, Rsqrt>;

/// The other elementwise ops: no other op's body needs them. Their generic tests are tests/test_further_ops.cpp.
using FurtherOps =
    TypeList<Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh, Log10, Atan2, Hypot, Deg2rad, Rad2deg, Frac, Logit, Sinc, Logaddexp, Logaddexp2, Xlogy,
             Xlog1py, Entr, Hardtanh, Relu6, Hardsigmoid, Logsigmoid, Selu, Celu, Softsign, Tanhshrink, Softshrink, Hardshrink, Threshold,
             Copysign, Fmax, Fmin, Heaviside, Lerp, Addcmul, Addcdiv, Fmod, Remainder, FloorDivide, Ldexp,
             Erfc, Erfcx, Ndtr, LogNdtr, Erfinv, Ndtri, Lgamma, Digamma, I0, I0e, I1, I1e>;

/// Parts of ops over graphs (functional/), which run as one step where those run eagerly.
using InnerOps = TypeList<TruncDivide, NextNumber, ReplaceNonfinite, ZeroOfNan, SmoothL1, Huber, BinaryLoss, BinaryLossGradient, ClampBetween, ClampMin, ClampMax, SqrtFlatAtZero>;

namespace detail {
template <class... A, class... B>
TypeList<A..., B...> joined(TypeList<A...>, TypeList<B...>);
}
/// Ops for which tt::compiled has a loop of their own, for calls of the op alone (backends/cpu/tile_functions_inl.hpp).
using DirectOps = decltype(detail::joined(detail::joined(ElementwiseOps{}, FurtherOps{}), InnerOps{}));

/// Intrinsics: ops that stay one instruction in kernels; a new one goes at the end.
using OpaqueOps =
    TypeList<Exp, Exp2, Expm1, Sigmoid, Tanh, Log, Log2, Log1p, Pow, Sin, Cos, Tan, Erf, Philox, IntegerPow>;

}  // namespace tt
