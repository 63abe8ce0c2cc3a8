# Writes tests/data/operators.txt: what PyTorch gives for its own samples of operators, with gradients; operator_errors.txt, calls that it refuses;
# drawn_operators.txt, calls whose elements are of chance; edge_operators.txt, calls with NaN, infinities, zeros and equals; and fft_operators.txt, Fourier transforms. For who changes the set; tests read the files.
#   cd tests/data; python3 record_operators.py operators.txt operator_errors.txt drawn_operators.txt edge_operators.txt fft_operators.txt     (needs torch, numpy, expecttest)
import collections
import itertools
import math
import sys
import warnings

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import BinaryUfuncInfo, UnaryUfuncInfo, op_db

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
common_methods_invocations.wrapper_set_seed = lambda op, *a, **k: op(*a, **k)  # that a call draws is seen by the generator's state
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.int32: "i32", torch.bool: "bool",
         torch.float16: "f16", torch.bfloat16: "bf16", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16"}
# Results of chance, of memory that nobody wrote, and what has another name or is not there.
LEFT_OUT = ("fft.", "jiterator", "sparse", "_", "torch.", "segment", "to_sparse", "native_", "ops.aten", "rand", "normal", "bernoulli", "empty", "new_empty",
            "uniform", "exponential", "geometric", "cauchy", "log_normal", "multinomial", "nn.functional.dropout", "nn.functional.alpha_dropout", "nn.functional.feature_alpha",
            "nn.functional.fractional", "nn.functional.rrelu", "where", "zero_", "resize", "nn.functional.scaled_dot_product_attention", "svd_lowrank", "pca_lowrank", "as_strided")
WEIGHT_FIRST = {"nn.functional.embedding": "embedding", "nn.functional.embedding_bag": "embedding_bag"}  # their samples are of functions with arguments in another order
SAMPLES, FEW, MANY = 4, 40, 200  # an operator whose samples all have more than FEW elements has one of MANY
ELEMENTS = FEW


class Skip(Exception):
    pass


def number(v):
    if isinstance(v, (bool, int)):
        return str(int(v))
    return "nan" if math.isnan(v) else ("inf" if v > 0 else "-inf") if math.isinf(v) else "%.10g" % v


def tensor(t):
    if t.dtype not in NAMES or t.numel() > ELEMENTS or t.dim() > 6 or t.layout != torch.strided or t.device.type != "cpu":
        raise Skip()
    flat = t.detach().double() if t.is_floating_point() else t.detach()
    return "T %s %s : %s" % (NAMES[t.dtype], " ".join(map(str, [t.dim(), *t.shape])), " ".join(map(number, flat.reshape(-1).tolist())))


def value(v):
    if isinstance(v, torch.Tensor):
        return tensor(v)
    if v is None:
        return "N"
    if isinstance(v, bool):
        return "B %d" % v
    if isinstance(v, int) and abs(v) < 2 ** 62:
        return "I %d" % v
    if isinstance(v, float):
        return "F " + number(v)
    if isinstance(v, str):
        return "S " + v
    if isinstance(v, torch.dtype) and v in NAMES:
        return "D " + NAMES[v]
    if isinstance(v, (list, tuple, torch.Size)):
        v = list(v)
        if all(isinstance(x, int) and not isinstance(x, bool) for x in v):
            return " ".join(["L", str(len(v)), *map(str, v)])
        if all(isinstance(x, (int, float)) for x in v):
            return " ".join(["R", str(len(v)), *map(number, map(float, v))])
        if all(isinstance(x, torch.Tensor) for x in v):
            return "\n".join(["M %d" % len(v), *map(tensor, v)])
    raise Skip()


def leaves(v):
    if isinstance(v, torch.Tensor):
        return [v]
    return [x for y in v for x in leaves(y)] if isinstance(v, (list, tuple)) else []


def case(op, sample, dtype):
    first = sample.input.reshape(-1)[:24] if isinstance(op, UnaryUfuncInfo) and sample.input.numel() > FEW else sample.input
    arguments = [first, *sample.args]
    if op.name in WEIGHT_FIRST:
        arguments[:2] = arguments[1::-1]
    function = getattr(torch.nn.functional, WEIGHT_FIRST[op.name]) if op.name in WEIGHT_FIRST else op.op
    before = torch.get_rng_state()
    text = called(function, arguments, sample.kwargs, dtype == torch.float64 and op.supports_autograd)
    if not torch.equal(before, torch.get_rng_state()):
        raise Skip()  # of chance
    return text


def called(function, arguments, named, differentiated):
    """Gradients are by all floating Tensors, or by the first, or by none, as PyTorch has them."""
    for by in (99, 1, 0) if differentiated else (0,):
        try:
            return told(function, arguments, named, by)
        except Skip:
            raise
        except Exception:
            if by == 0:
                raise


def told(function, arguments, named, differentiated):
    floating = [t for t in leaves(arguments) + leaves(list(named.values())) if t.is_floating_point()]
    with torch.no_grad():  # few digits: the file is read by people too
        own = {id(t): (t.detach().double() * 64).round().div(64).to(t.dtype).reshape(t.shape).clone().requires_grad_(k < differentiated) for k, t in enumerate(floating)}

    def replaced(v):
        if isinstance(v, torch.Tensor):
            return own.get(id(v), v)
        if isinstance(v, (list, tuple)) and leaves(v):
            return type(v)(replaced(x) for x in v)
        return v

    arguments, named = [replaced(a) for a in arguments], {k: replaced(v) for k, v in named.items()}
    text = "".join("arg %s\n" % value(a) for a in arguments) + "".join("kw %s %s\n" % (k, value(v)) for k, v in named.items())
    result = function(*arguments, **named)
    results = [result] if isinstance(result, torch.Tensor) else [torch.tensor(result)] if isinstance(result, bool) else leaves(result)
    if not results:
        raise Skip()
    text += "out %d\n" % len(results) + "".join(tensor(t) + "\n" for t in results)
    flowing = [t for t in results if t.is_floating_point() and t.requires_grad]
    if flowing:
        into = [torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).reshape(t.shape) for t in flowing]
        by = [id(t) for t in floating if own[id(t)].requires_grad]
        found = dict(zip(by, torch.autograd.grad(flowing, [own[t] for t in by], into, allow_unused=True)))
        gradients = [found.get(id(t)) for t in floating]
        text += "grad %d\n" % len(gradients) + "".join(("N" if g is None else tensor(g)) + "\n" for g in gradients)
    return text


def kind(v):
    """Of an option: its word, yes or no, or what it is."""
    if v is None or isinstance(v, (bool, str)):
        return str(v)
    return "number" if isinstance(v, (int, float)) else "list" if isinstance(v, (list, tuple, torch.Size)) else type(v).__name__


def options(op, sample):
    """What a sample tells besides its first argument, by place or name; and each two of those with names."""
    named = sorted((name, kind(v)) for name, v in sample.kwargs.items())
    return {(k, kind(v)) for k, v in enumerate(sample.args)} | set(named) | set(itertools.combinations(named, 2))


def record(out, op, sample, dtype):
    try:
        text = case(op, sample, dtype)
    except Exception:
        return 0
    seen[op.name] |= options(op, sample)
    write(out, op.name, text)
    return 1


def more():
    """Operators and forms that have no sample of PyTorch's own, or one of a function with other arguments."""
    f = torch.nn.functional
    x = lambda *s: torch.randn(s, dtype=torch.float64)
    i = lambda *v: torch.tensor(v)
    n = lambda t: t.float()
    yield "tensor_split", torch.tensor_split, [torch.arange(7.0), 3]
    yield "tensor_split", torch.tensor_split, [torch.arange(12).reshape(4, 3), [1, 3]]
    yield "nn.functional.one_hot", f.one_hot, [i(0, 2, 1), 4]
    yield "nn.functional.adaptive_max_pool3d", f.adaptive_max_pool3d, [x(1, 2, 3, 4, 5), (2, 2, 3)]
    yield "nn.functional.adaptive_max_pool3d", f.adaptive_max_pool3d, [n(x(2, 3, 4, 5)), 2], {"return_indices": True}
    yield "nn.functional.affine_grid", f.affine_grid, [x(2, 2, 3), [2, 1, 3, 4]], {"align_corners": False}
    yield "nn.functional.affine_grid", f.affine_grid, [x(1, 3, 4), [1, 1, 2, 3, 2]], {"align_corners": True}
    yield "as_strided", torch.as_strided, [x(12), [2, 3], [1, 4], 1]
    yield "as_strided", torch.as_strided, [x(6), [3, 3], [1, 1]]
    yield "as_strided_copy", torch.as_strided_copy, [x(12), [2, 3], [1, 4], 1]
    yield "as_strided_scatter", torch.as_strided_scatter, [torch.arange(12), i(7, 7, 8, 8, 9, 9).reshape(2, 3), [2, 3], [1, 4], 1]
    yield "bmm", torch.bmm, [x(2, 3, 4), x(2, 4, 2)]
    yield "bmm", torch.bmm, [i(1, 2, 3, 4).reshape(1, 2, 2), i(5, 6, 7, 8).reshape(1, 2, 2)]
    yield "nn.functional.channel_shuffle", f.channel_shuffle, [x(1, 6, 2, 2), 3]
    yield "nn.functional.conv_transpose3d", f.conv_transpose3d, [x(1, 2, 2, 3, 2), x(2, 1, 2, 2, 2), x(1)], {"stride": 2, "padding": 1}
    yield "nn.functional.conv_transpose3d", f.conv_transpose3d, [x(1, 2, 2, 2, 2), x(2, 1, 2, 1, 2)], {"groups": 2, "output_padding": 1, "stride": (2, 2, 2), "dilation": 1}
    yield "nn.functional.ctc_loss", f.ctc_loss, [x(5, 2, 4).log_softmax(-1), i(1, 2, 2, 3).reshape(2, 2), i(5, 4), i(2, 1)]
    yield "nn.functional.ctc_loss", f.ctc_loss, [x(5, 2, 4).log_softmax(-1), i(1, 2, 3), i(5, 5), i(2, 1)], {"reduction": "none", "zero_infinity": True}
    yield "nn.functional.fold", f.fold, [x(1, 8, 6), (3, 4), (2, 2)]
    yield "nn.functional.fold", f.fold, [x(8, 4), (3, 3), 2], {"dilation": 1, "padding": 1, "stride": 2}
    yield "nn.functional.unfold", f.unfold, [x(1, 2, 3, 4), (2, 3)], {"padding": (1, 0), "stride": (1, 1), "dilation": 1}
    yield "kron", torch.kron, [x(2, 3), x(2, 2)]
    yield "kron", torch.kron, [x(3), x(2, 1, 2)]
    yield "nn.functional.lp_pool1d", f.lp_pool1d, [x(1, 2, 7).abs(), 2.0, 3], {"stride": 2}
    yield "nn.functional.lp_pool2d", f.lp_pool2d, [x(1, 2, 5, 4).abs(), 3.0, (2, 3)], {"ceil_mode": True}
    yield "nn.functional.lp_pool3d", f.lp_pool3d, [x(1, 1, 3, 4, 2).abs(), 2.0, 2]
    yield "msort", torch.msort, [x(4, 3)]
    for mask, causal in ((None, False), (x(3, 5), False), (torch.rand(2, 1, 3, 5) < 0.8, False), (None, True)):
        yield "nn.functional.scaled_dot_product_attention", f.scaled_dot_product_attention, [x(2, 2, 3, 2), x(2, 2, 5, 2), x(2, 2, 5, 3)], {"attn_mask": mask, "is_causal": causal}
    yield "nn.functional.scaled_dot_product_attention", f.scaled_dot_product_attention, [x(1, 4, 3, 2), x(1, 2, 3, 2), x(1, 2, 3, 2)], {"scale": 0.3, "enable_gqa": True}
    yield "nn.functional.scaled_dot_product_attention", f.scaled_dot_product_attention, [n(x(3, 4)), n(x(5, 4)), n(x(5, 4))]
    yield "where", torch.where, [torch.rand(3, 4) < 0.5, x(3, 4), x(4)]
    yield "where", torch.where, [torch.rand(3) < 0.5, x(3), 2.5]
    yield "where", torch.where, [torch.rand(3) < 0.5, i(1, 2, 3), n(x(3))]
    yield "slice_scatter", torch.slice_scatter, [x(5, 3), x(2, 3)], {"dim": 0, "start": 1, "end": 5, "step": 2}
    yield "fma", lambda a, b, c: a * b + c, [x(3), x(3), x(3)]
    yield "zero", torch.zeros_like, [x(3, 2)]
    yield "native_layer_norm", torch.native_layer_norm, [x(2, 3, 4), [3, 4], x(3, 4), None, 1e-5]
    yield "native_group_norm", torch.native_group_norm, [x(2, 4, 3), x(4), x(4), 2, 4, 3, 2, 1e-5]
    yield "native_batch_norm", torch.native_batch_norm, [x(3, 2, 4), x(2), None, None, None, True, 0.1, 1e-5]
    yield "clamp", torch.clamp, [x(3, 4), -0.5, 0.5]
    yield "clamp", torch.clamp, [x(3, 4)], {"min": x(4)}
    yield "clamp", torch.clamp, [i(1, 5, -3)], {"max": 2.5}
    yield "nn.functional.dropout", f.dropout, [x(3, 4), 0.5, False]
    yield "nn.functional.alpha_dropout", f.alpha_dropout, [x(3, 4), 0.5, False]
    yield "nn.functional.rrelu", f.rrelu, [x(3, 4)]
    yield "adjoint", torch.adjoint, [x(2, 3, 2)]
    yield "chain_matmul", torch.chain_matmul, [x(2, 3), x(3, 4), x(4, 1)]
    yield "cholesky", torch.linalg.cholesky, [torch.eye(3, dtype=torch.float64) * 2]
    yield "det", torch.det, [x(3, 3)]
    yield "slogdet", torch.slogdet, [x(2, 3, 3)]
    yield "inverse", torch.inverse, [torch.eye(3, dtype=torch.float64) * 2 + 0.25]
    yield "matrix_power", torch.matrix_power, [x(2, 3, 3), 3]
    yield "linalg.matrix_exp", torch.linalg.matrix_exp, [x(2, 3, 3)]
    yield "grid_sampler_2d", torch.grid_sampler_2d, [x(1, 2, 3, 3), x(1, 2, 2, 2) / 2, 0, 0, False]
    yield "grid_sampler", torch.grid_sampler, [x(1, 1, 3, 3), x(1, 2, 2, 2) / 2, 1, 1, True]
    yield "special.multigammaln", torch.special.multigammaln, [x(4).abs() + 3, 2]
    yield "swapaxes", torch.swapaxes, [x(2, 3, 2), 0, 2]
    yield "swapdims", torch.swapdims, [x(2, 3), 0, -1]
    yield "moveaxis", torch.moveaxis, [x(2, 3, 2), 0, 2]
    yield "movedim", torch.movedim, [x(2, 3, 2), (0, 1), (2, 0)]
    yield "select_copy", torch.select_copy, [x(3, 4), 1, -2]
    yield "split_copy", torch.split_copy, [x(5, 2), 2]
    yield "row_stack", torch.row_stack, [[x(3), x(2, 3)]]
    yield "concat", torch.concat, [[x(2, 2), x(1, 2)]], {"dim": 0}
    yield "concatenate", torch.concatenate, [[x(2, 2), x(2, 1)], 1]
    yield "detach", torch.detach, [x(3)]
    yield "alias", lambda t: t.alias() if hasattr(t, "alias") else torch.ops.aten.alias(t), [x(3)]
    yield "divide", torch.divide, [x(3), x(3).abs() + 1], {"rounding_mode": "floor"}
    yield "subtract", torch.subtract, [x(3), x(3)], {"alpha": 2}
    yield "greater", torch.greater, [x(3), 0.5]
    yield "greater_equal", torch.greater_equal, [x(3), x(3)]
    yield "clip", torch.clip, [x(5), -1.0, 1.0]
    yield "ger", torch.ger, [x(3), x(2)]
    yield "nn.functional.embedding", f.embedding, [i(1, 1, 0), x(4, 3)], {"padding_idx": -3, "scale_grad_by_freq": True}
    yield "nn.functional.embedding_bag", f.embedding_bag, [i(1, 1, 0, 3), x(4, 3), i(0, 0, 3)], {"mode": "max"}
    yield "nn.functional.embedding_bag", f.embedding_bag, [i(1, 1, 0, 3).reshape(2, 2), x(4, 3)], {"mode": "sum", "per_sample_weights": x(2, 2)}
    yield "baddbmm", torch.baddbmm, [x(2, 2, 3), x(2, 2, 2), x(2, 2, 3)]
    # What writes its first argument writes a copy of it here, and in the tests.
    yield "transpose_", lambda t, *a: t.clone().transpose_(*a), [x(2, 3, 2), 0, -1]
    yield "swapaxes_", lambda t, *a: t.clone().swapaxes_(*a), [x(2, 3), 1, 0]
    yield "swapdims_", lambda t, *a: t.clone().swapdims_(*a), [x(2, 3, 2), 1, 2]
    yield "t_", lambda t: t.clone().t_(), [x(2, 3)]
    yield "squeeze_", lambda t: t.clone().squeeze_(), [x(1, 3, 1)]
    yield "squeeze_", lambda t, d: t.clone().squeeze_(d), [x(1, 3, 1), [0, 1]]
    yield "unsqueeze_", lambda t, d: t.clone().unsqueeze_(d), [x(3, 2), -1]
    yield "as_strided_", lambda t, *a: t.clone().as_strided_(*a), [x(12), [2, 3], [1, 4], 1]
    yield "resize_", lambda t, s: t.clone().resize_(s), [torch.arange(12), [2, 3]]
    yield "resize_as_", lambda t, o: t.clone().resize_as_(o), [torch.arange(12), i(1, 2, 3, 4).reshape(2, 2)]
    yield "set_", lambda t, o: t.clone().set_(o), [i(1, 2, 3), i(4, 5)]
    yield "fill_diagonal_", lambda t, v: t.clone().fill_diagonal_(v), [x(3, 4), 2.5]
    yield "fill_diagonal_", lambda t, v, wrap: t.clone().fill_diagonal_(v, wrap), [x(7, 2), -1.0], {"wrap": True}
    yield "copy_", lambda t, o: t.clone().copy_(o), [x(3, 4), x(4)]
    yield "copy_", lambda t, o: t.clone().copy_(o), [i(1, 2, 3), n(x(3))]
    yield "copy", lambda t, o: t.clone().copy_(o), [x(3, 4), n(x(4))]
    yield "to", lambda t, d: t.to(d), [x(3, 4), torch.float32]
    yield "to", lambda t, d: t.to(d), [n(x(3)) * 3, torch.int32]
    yield "type_as", lambda t, o: t.type_as(o), [x(3, 4), n(x(2))]
    yield "bitcast", lambda t, d: t.view(d), [n(x(3, 4)), torch.int32]
    yield "bitcast", lambda t, d: t.view(d), [torch.arange(5), torch.float64]
    yield "__lshift__", lambda t, o: t << o, [i(1, 2, -3), 3]
    yield "__rshift__", lambda t, o: t >> o, [i(100, 7, -9), 2]
    yield "shift_left", torch.bitwise_left_shift, [i(1, 2, -3), 3]
    yield "shift_right", torch.bitwise_right_shift, [i(100, 7, -9), 2]
    yield "shift_right_logical", lambda t, k: (t >> k) & ((1 << (64 - k)) - 1), [i(100, 7, -9), 2]
    yield "integer_pow", torch.pow, [i(2, -3, 5), i(10, 3, 0)]
    yield "gelu_tanh", lambda t: f.gelu(t, approximate="tanh"), [x(3, 4)]
    yield "special.gammainc", lambda a, b: torch.special.gammainc(a.detach(), b), [n(x(4)).abs() + 0.5, n(x(4)).abs() + 0.5]
    yield "special.gammaincc", lambda a, b: torch.special.gammaincc(a.detach(), b), [n(x(4)).abs() + 0.5, n(x(4)).abs() + 0.5]
    yield "index", torch.ops.aten.index, [x(4, 3), [i(0, 2, 2)]]
    yield "index", torch.ops.aten.index, [x(4, 3), [i(0, -1).reshape(2, 1), i(0, 2)]]
    yield "affine_grid_generator", torch.affine_grid_generator, [x(1, 2, 3), [1, 1, 3, 4], False]
    yield "arange_like", lambda t, start, step: start + torch.arange(t.numel(), dtype=t.dtype) * step, [x(5), torch.tensor(0.5).double(), torch.tensor(2.0).double()]
    yield "eye_like", lambda t: torch.eye(*t.shape, dtype=t.dtype), [x(3, 4)]
    yield "pack_int4", lambda t: ((t[..., ::2] & 15) | (t[..., 1::2] & 15) << 4).to(torch.uint8), [torch.arange(-8, 8).reshape(2, 8)]
    yield "unpack_int4", lambda t: torch.stack((t & 15, t >> 4), -1).flatten(-2).to(torch.int8).add(8).bitwise_and(15).sub(8), [i(0, 23, 200, 255).reshape(2, 2).to(torch.uint8)]
    yield "unpack_uint4", lambda t: torch.stack((t & 15, t >> 4), -1).flatten(-2), [i(0, 23, 200, 255).reshape(2, 2).to(torch.uint8)]
    yield "reduce_by_key", lambda k, v: (torch.unique_consecutive(k), torch.zeros(3, dtype=v.dtype).index_add(0, torch.unique_consecutive(k, return_inverse=True)[1], v.detach())), [i(4, 4, 2, 2, 2, 4), x(6)]
    yield "qr", torch.linalg.qr, [x(4, 3)]
    yield "orgqr", torch.orgqr, [x(4, 3), x(2)]
    yield "linalg.eigvals", lambda a: torch.view_as_real(torch.linalg.eigvals(a)), [x(3, 3)]
    # Vectors are known up to a phase: what it does not change are the sizes of their elements, which are compared.
    yield "linalg.eig", lambda a: (lambda r: [torch.view_as_real(r[0]), r[1].abs().square()])(torch.linalg.eig(a)), [x(3, 3)]
    yield "nn.functional.fractional_max_pool2d", lambda t, k, output_size, _random_samples: f.fractional_max_pool2d(t, k, output_size, None, False, _random_samples.detach()), [x(1, 2, 4, 5), 2], {"output_size": (2, 3), "_random_samples": i(1, 3, 2, 2).reshape(1, 2, 2).double() / 4}
    yield "nn.functional.fractional_max_pool3d", lambda t, k, output_size, _random_samples: f.fractional_max_pool3d(t, k, output_size, None, False, _random_samples.detach()), [x(1, 1, 4, 3, 3), (2, 1, 1)], {"output_size": (2, 2, 2), "_random_samples": i(1, 3, 2).reshape(1, 1, 3).double() / 4}
    # Options that PyTorch's own samples do not give, or with more elements.
    yield "allclose", torch.allclose, [torch.tensor([1.0, math.nan]), torch.tensor([1.0, math.nan])], {"equal_nan": True}
    for name in ("celu", "elu"):
        yield "nn.functional." + name, getattr(f, name), [x(3, 4)], {"alpha": 0.75}
    yield "nn.functional.leaky_relu", f.leaky_relu, [x(3, 4)], {"negative_slope": 0.25}
    positive = x(3, 3) @ torch.eye(3).double() * 0.125 + 2 * torch.eye(3).double()
    positive = (positive + positive.mT) / 2
    yield "cholesky", lambda a, upper: torch.linalg.cholesky(a, upper=upper), [torch.eye(3).double() * 2], {"upper": True}
    for name in ("cholesky_ex", "inv_ex", "ldl_factor_ex", "lu_factor_ex"):
        yield "linalg." + name, getattr(torch.linalg, name), [positive], {"check_errors": True}
    yield "linalg.solve_ex", torch.linalg.solve_ex, [x(3, 3), x(2, 3)], {"left": False, "check_errors": True}
    yield "linalg.solve", torch.linalg.solve, [x(3, 3), x(2, 3)], {"left": False}
    for p in (None, "fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2):
        yield "linalg.cond", torch.linalg.cond, [x(3, 3), p]
    yield "linalg.lstsq", lambda *a, **k: torch.linalg.lstsq(*a, **k).solution, [x(4, 2), x(4, 3)], {"rcond": 0.01, "driver": "gelsd"}
    yield "linalg.qr", torch.linalg.qr, [x(2, 3, 3)], {"mode": "complete"}
    yield "linalg.qr", lambda a, mode: torch.linalg.qr(a.detach(), mode), [x(4, 2)], {"mode": "complete"}
    yield "linalg.qr", lambda a, mode: torch.linalg.qr(a.detach(), mode), [x(4, 2)], {"mode": "r"}
    yield "qr", lambda a, some: torch.linalg.qr(a.detach(), "reduced" if some else "complete"), [x(4, 3)], {"some": False}
    yield "svd", lambda a, **k: list(torch.svd(a.detach(), **k)), [x(3, 2)], {"compute_uv": False}
    yield "pinverse", torch.pinverse, [x(3, 2)], {"rcond": 0.01}
    lu, pivots = torch.linalg.lu_factor(x(3, 3))
    yield "lu_unpack", lambda a, p, **k: torch.lu_unpack(a, p, **k)[0], [lu, pivots], {"unpack_data": False}
    yield "lu_unpack", lambda a, p, **k: list(torch.lu_unpack(a, p, **k)), [lu, pivots], {"unpack_pivots": False}
    for flags in ({"upper": False}, {"transpose": True}, {"unitriangular": True}, {"upper": False, "transpose": True, "unitriangular": True}):
        yield "triangular_solve", torch.triangular_solve, [x(3, 2), x(3, 3) + 2 * torch.eye(3)], flags
    yield "nn.functional.conv3d", f.conv3d, [x(1, 4, 2, 3, 2), x(2, 2, 1, 2, 2), x(2)], {"groups": 2, "padding": "same"}
    for options in ({}, {"reduction": "sum"}, {"reduction": "none", "ignore_index": 1}, {"weight": x(3).abs()}):
        yield "nn.functional.cross_entropy", f.cross_entropy, [x(4, 3), i(0, 2, 1, 1)], {**options, "label_smoothing": 0.25}
        yield "nn.functional.linear_cross_entropy", f.linear_cross_entropy, [x(4, 2), x(3, 2), i(0, 2, 1, 1)], {**options, "label_smoothing": 0.25}
    yield "nn.functional.cross_entropy", f.cross_entropy, [x(4, 3), x(4, 3).softmax(-1)], {"label_smoothing": 0.25, "weight": x(3).abs()}
    for options in ({"blank": 3}, {"reduction": "mean"}, {"reduction": "sum"}, {"reduction": "none", "blank": 2}):
        yield "nn.functional.ctc_loss", f.ctc_loss, [x(5, 2, 4).log_softmax(-1), i(1, 1, 1, 3 if options.get("blank", 0) == 0 else 0).reshape(2, 2), i(5, 4), i(2, 2)], options
    yield "diag_embed", torch.diag_embed, [x(2, 3)], {"dim1": 0, "dim2": 2, "offset": -1}
    yield "diagonal_scatter", torch.diagonal_scatter, [x(2, 3, 3), x(2, 2)], {"offset": 1, "dim1": 1, "dim2": 2}
    for name, shape in (("dropout1d", (2, 3, 4)), ("dropout2d", (2, 3, 2, 2)), ("dropout3d", (2, 3, 2, 1, 2))):
        yield "nn.functional." + name, getattr(f, name), [x(*shape), 0.5], {"training": False}
    yield "nn.functional.rrelu", f.rrelu, [x(3, 4)], {"lower": 0.25, "upper": 0.5, "training": False}
    yield "nn.functional.scaled_dot_product_attention", f.scaled_dot_product_attention, [x(3, 2), x(4, 2), x(4, 2)], {"dropout_p": 0.0}
    quarters = {"_random_samples": i(1, 3, 2, 2).reshape(1, 2, 2).double() / 4}
    yield "nn.functional.fractional_max_pool2d", lambda t, k, output_ratio, return_indices, _random_samples: f.fractional_max_pool2d(t, k, None, output_ratio, return_indices, _random_samples.detach()), [x(1, 2, 4, 6), 2], {"output_ratio": (0.5, 0.5), "return_indices": True, **quarters}
    yield "nn.functional.fractional_max_pool3d", lambda t, k, output_ratio, return_indices, _random_samples: f.fractional_max_pool3d(t, k, None, output_ratio, return_indices, _random_samples.detach()), [x(1, 1, 4, 4, 4), (2, 1, 1)], {"output_ratio": (0.5, 0.5, 0.75), "return_indices": True, "_random_samples": i(1, 3, 2).reshape(1, 1, 3).double() / 4}
    yield "histogram", lambda t, *a, **k: torch.histogram(t.detach(), *a, **k), [x(9), 4], {"range": (-1.0, 1.5)}
    yield "histogram", lambda t, *a, weight, **k: torch.histogram(t.detach(), *a, weight=weight.detach(), **k), [x(9), 3], {"range": (-1.0, 1.0), "weight": x(9).abs(), "density": True}
    yield "histogramdd", lambda t, *a, **k: (lambda r: [r[0], *r[1]])(torch.histogramdd(t.detach(), *a, **k)), [x(6, 2), [2, 3]], {"range": (-1.0, 1.5, -2.0, 2.0)}
    for name in ("huber_loss", "l1_loss", "mse_loss"):
        for reduction in ("none", "mean", "sum"):
            yield "nn.functional." + name, lambda a, b, weight, function=getattr(f, name), **k: function(a, b, weight=weight.detach(), **k), [x(3, 4), x(3, 4)], {"weight": x(3, 4).abs(), "reduction": reduction}
    for mode, sizes in (("trilinear", (1, 2, 2, 3, 2)), ("area", (1, 1, 2, 3, 4)), ("nearest-exact", (1, 1, 3, 2, 2))):
        for options in ({"size": (3, 2, 4)}, {"scale_factor": (1.5, 2.0, 0.75)}, {"scale_factor": (1.5, 2.0, 0.75), "recompute_scale_factor": True}) + (({"size": (3, 2, 4), "align_corners": True},) if mode == "trilinear" else ()):
            yield "nn.functional.interpolate", f.interpolate, [x(*sizes)], {**options, "mode": mode}
    for mode in ("bilinear", "bicubic"):
        for options in ({"size": (3, 2)}, {"size": (7, 6)}, {"size": (3, 2), "align_corners": True}, {"scale_factor": (0.4, 1.5)}, {"scale_factor": 0.5, "recompute_scale_factor": True}):
            yield "nn.functional.interpolate", f.interpolate, [x(1, 1, 6, 5)], {**options, "mode": mode, "antialias": True}
    yield "isin", torch.isin, [i(1, 2, 3, 5), i(3, 1)], {"assume_unique": True}
    yield "isin", torch.isin, [x(4), x(2)], {"invert": True}
    yield "isin", torch.isin, [i(1, 2, 3, 3), 3], {"invert": True}
    yield "nn.functional.lp_pool1d", f.lp_pool1d, [x(1, 2, 6).abs(), 1.5, 3], {"ceil_mode": True}
    yield "nn.functional.lp_pool2d", f.lp_pool2d, [x(1, 2, 5, 4).abs(), 2.0, 2], {"stride": (1, 2)}
    yield "nn.functional.lp_pool3d", f.lp_pool3d, [x(1, 1, 3, 4, 3).abs(), 2.0, 2], {"stride": (2, 1, 2), "ceil_mode": True}
    yield "masked.median", torch.masked.median, [x(3, 4), 1], {"keepdim": True, "mask": torch.rand(3, 4) < 0.8}
    yield "masked.normalize", torch.masked.normalize, [x(3, 4), 2.0, 1], {"eps": 0.5, "mask": torch.rand(3, 4) < 0.7}
    own = lambda: [x(3, 2, 4), x(5, 2, 4), x(5, 2, 4), 4, 2, x(12, 4), x(12), None, None, False, 0.0, x(4, 4), x(4)]
    hidden = torch.tensor([[False, False, True, False, True], [False, True, False, False, False]])
    for options in ({"key_padding_mask": hidden}, {"need_weights": False}, {"average_attn_weights": False}, {"attn_mask": torch.ones(3, 5).triu(1).bool(), "is_causal": True, "need_weights": False}, {"attn_mask": x(3, 5), "key_padding_mask": hidden}):
        yield "nn.functional.multi_head_attention_forward", lambda *a, **k: [r for r in f.multi_head_attention_forward(*a, **k) if r is not None], own(), {"training": False, **options}
    for reduction in ("none", "mean", "sum"):
        yield "nn.functional.multilabel_soft_margin_loss", f.multilabel_soft_margin_loss, [x(3, 4), (torch.rand(3, 4) < 0.5).double()], {"reduction": reduction, "weight": x(4).abs()}
        yield "nn.functional.triplet_margin_loss", f.triplet_margin_loss, [x(3, 4), x(3, 4), x(3, 4)], {"reduction": reduction, "p": 3.0, "eps": 0.125, "swap": True}
    yield "nan_to_num", torch.nan_to_num, [torch.tensor([1.5, math.nan, math.inf, -math.inf], dtype=torch.float64)], {"nan": 2.0, "posinf": 3.0, "neginf": -4.0}
    yield "nonzero_static", lambda t, **k: torch.nonzero_static(t.detach(), **k), [n(i(0, 1, 2).reshape(3, 1))], {"size": 4, "fill_value": 7}
    yield "slice", torch.ops.aten.slice, [x(5, 4)], {"dim": 1, "start": 1, "end": -1, "step": 2}
    yield "split_copy", torch.split_copy, [x(2, 5), 2], {"dim": 1}
    yield "triu_indices", torch.triu_indices, [3, 4], {"offset": 1}
    yield "divide", torch.divide, [x(3), x(3).abs() + 1], {"rounding_mode": "trunc"}
    for compute_mode in ("use_mm_for_euclid_dist_if_necessary", "donot_use_mm_for_euclid_dist"):
        yield "cdist", torch.cdist, [x(3, 2), x(4, 2)], {"compute_mode": compute_mode}
    for reduce in ("add", "multiply"):
        yield "scatter", torch.scatter, [x(3, 4), 1, i(0, 2, 2, 1, 0, 3).reshape(3, 2), 2.5], {"reduce": reduce}
        yield "scatter", lambda t, d, k, s, reduce: torch.scatter(t.detach(), d, k, s.detach(), reduce=reduce), [x(3, 4), 1, i(0, 2, 2, 1, 0, 3).reshape(3, 2), x(3, 2)], {"reduce": reduce}
    yield "cumsum", lambda t, d, reverse: t.flip(d).cumsum(d).flip(d), [x(3, 4), 1], {"reverse": True}
    yield "cumprod", lambda t, d, reverse: t.flip(d).cumprod(d).flip(d), [x(3, 4), 0], {"reverse": True}
    yield "signal.windows.exponential", lambda m, **k: torch.signal.windows.exponential(m, **k), [5], {"center": 1.0, "sym": False, "tau": 2.0, "dtype": torch.float64}
    # By what is scattered into, PyTorch's gradient is the wrong way round: that of the elements that are replaced.
    yield "as_strided_scatter", lambda t, *a: torch.as_strided_scatter(t.detach(), *a), [x(12), x(2, 3), [2, 3], [1, 4], 1]
    # What is resized or set has no gradient there: PyTorch refuses it.
    yield "resize_", lambda t, s: t.detach().clone().resize_(s), [x(12), [2, 3]]
    yield "resize_as_", lambda t, o: t.detach().clone().resize_as_(o), [x(12), x(2, 2)]
    yield "set_", lambda t, o: t.detach().clone().set_(o.detach()), [x(3), x(2)]
    yield "item", lambda t: torch.tensor(t.item(), dtype=t.dtype), [x()]


def drawn():
    """Operators whose elements are of chance, or those of memory that nobody wrote: of their results only dtypes and shapes are recorded."""
    f, aten = torch.nn.functional, torch.ops.aten
    x = lambda *s: torch.randn(s, dtype=torch.float64)
    yield "rand", torch.rand, [[2, 3]]
    yield "rand", torch.rand, [[4]], {"dtype": torch.float64}
    yield "randn", torch.randn, [[2, 3]]
    yield "randn", torch.randn, [[4]], {"dtype": torch.bfloat16}
    yield "randint", torch.randint, [7, [2, 3]]
    yield "randint", torch.randint, [-2, 7, [5]], {"dtype": torch.float32}
    yield "randperm", torch.randperm, [6]
    yield "rand_like", torch.rand_like, [x(2, 3)]
    yield "rand_like", lambda t, seed: torch.rand_like(t), [x(2, 3), torch.tensor(5)]
    yield "randn_like", torch.randn_like, [x(2, 3)]
    yield "randn_like", lambda t, seed: torch.randn_like(t), [x(2, 3), torch.tensor(5)]
    yield "randint_like", torch.randint_like, [x(2, 3), 7]
    yield "randint_like", torch.randint_like, [torch.arange(5), -2, 7]
    yield "philox", lambda t, seed: t.clone(), [torch.arange(5), torch.tensor(5)]
    yield "bernoulli", torch.bernoulli, [x(2, 3).sigmoid()]
    yield "bernoulli", torch.bernoulli, [x(2, 3), 0.25]
    yield "normal", torch.normal, [x(2, 3), x(2, 3).exp()]
    yield "normal", torch.normal, [x(2, 3), 0.5]
    yield "normal", torch.normal, [0.5, x(4).exp()]
    yield "normal", torch.normal, [1.0, 2.0, [2, 3]]
    yield "uniform", aten.uniform, [x(2, 3), -1.0, 2.0]
    yield "exponential", aten.exponential, [x(2, 3), 2.0]
    yield "cauchy", aten.cauchy, [x(2, 3), 0.5, 2.0]
    yield "geometric", aten.geometric, [x(2, 3), 0.25]
    yield "log_normal", aten.log_normal, [x(2, 3), 0.5, 0.25]
    yield "random_", lambda t: t.clone().random_(), [torch.arange(5)]
    yield "random_", lambda t, *a: t.clone().random_(*a), [torch.arange(5), 7]
    yield "random_", lambda t, *a: t.clone().random_(*a), [torch.arange(5), -2, 7]
    yield "normal_", lambda t, *a: t.clone().normal_(*a), [x(2, 3), 1.0, 0.5]
    yield "multinomial", torch.multinomial, [x(2, 5).exp(), 3]
    yield "multinomial", torch.multinomial, [x(4).exp(), 6, True]
    yield "poisson", torch.poisson, [x(2, 3).exp()]
    yield "nn.functional.dropout1d", f.dropout1d, [x(2, 3, 4), 0.5]
    yield "nn.functional.dropout2d", f.dropout2d, [x(2, 3, 2, 2), 0.5]
    yield "nn.functional.dropout3d", f.dropout3d, [x(2, 3, 2, 2, 1), 0.5]
    yield "feature_dropout", torch.feature_dropout, [x(2, 3, 4), 0.5, True]
    yield "nn.functional.feature_alpha_dropout", f.feature_alpha_dropout, [x(2, 3, 4), 0.5, True]
    yield "svd_lowrank", torch.svd_lowrank, [x(5, 4), 2]
    yield "pca_lowrank", torch.pca_lowrank, [x(5, 4), 2]
    yield "empty", torch.empty, [[2, 3]]
    yield "empty", torch.empty, [[2, 3]], {"dtype": torch.int64}
    yield "empty_like", torch.empty_like, [x(2, 3)]
    yield "empty_permuted", torch.empty_permuted, [[2, 3], [1, 0]]
    yield "empty_strided", torch.empty_strided, [[2, 3], [1, 2]]
    yield "new_empty", lambda t, s: t.new_empty(s), [x(2), [2, 3]]
    yield "new_empty_strided", lambda t, *a: t.new_empty_strided(*a), [x(2), [2, 3], [1, 2]]


def spectral():
    """Fourier transforms: of complex numbers the real and imaginary parts, in a last axis of 2."""
    x = lambda *s: torch.randn(s, dtype=torch.float64)
    real = lambda v: torch.view_as_real(v.resolve_conj()) if v.is_complex() else v
    along = ({}, {"n": 5}, {"n": 2}, {"dim": 1}, {"dim": 0, "norm": "ortho"}, {"n": 7, "dim": -2, "norm": "forward"}, {"norm": "backward"})
    over = ({}, {"s": (5, 3)}, {"s": (3, 2), "dim": (0, 2), "norm": "ortho"}, {"dim": (0, -1)}, {"dim": 1}, {"norm": "forward"}, {"s": (-1, 3), "norm": "backward"})
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        for axes, options in (("", along), ("2", over), ("n", over)):
            function, parts = getattr(torch.fft, name + axes), () if name in ("rfft", "ihfft") else (2,)

            def on_parts(t, *a, function=function, parts=parts, **k):
                return real(function(torch.view_as_complex(t) if parts else t, *a, **k))

            for o in options:
                yield "fft." + name + axes, on_parts, [x(2, 3, 4, *parts)], o
            yield "fft." + name + axes, on_parts, [x(3, 5, *parts).float()]
    for name in ("fftshift", "ifftshift"):
        for o in ({}, {"dim": 1}, {"dim": (0, 2)}):
            yield "fft." + name, getattr(torch.fft, name), [x(3, 2, 5)], o
        yield "fft." + name, getattr(torch.fft, name), [torch.arange(5)]
    window = torch.hann_window(4, dtype=torch.float64) + 0.25
    for o in ({}, {"center": False}, {"hop_length": 2, "window": window}, {"win_length": 3, "window": window[:3]}, {"normalized": True, "pad_mode": "constant"}, {"onesided": False, "pad_mode": "replicate"}):
        for shape in ((12,), (2, 9)):
            yield "stft", lambda t, *a, **k: real(torch.stft(t, *a, **k, return_complex=True)), [x(*shape), 4], o
    for o in ({}, {"length": 7}, {"hop_length": 2, "window": window}, {"hop_length": 1, "win_length": 3, "window": window[:3]}, {"normalized": True}, {"onesided": False}, {"center": False, "window": window}):
        for batch in (), (2,):
            yield "istft", lambda t, *a, **k: torch.istft(torch.view_as_complex(t), *a, **k), [x(*batch, 4 if "onesided" in o else 3, 5, 2), 4], o


def edges():
    """Functions at NaN, infinities, signed zeros and kinks, and where operands or elements are equal: values and gradients."""
    f = torch.nn.functional
    t = lambda v: torch.tensor(v, dtype=torch.float64)
    nan, inf = math.nan, math.inf
    x = t([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 6.0, 20.0, -20.0, 800.0, -800.0, inf, -inf, nan])
    few = [0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, nan]
    a, b = t(few).repeat_interleave(len(few)), t(few).repeat(len(few))
    for op in sorted(op_db, key=lambda o: (o.name, o.variant_test_name)):
        if not op.supports_autograd or torch.float64 not in op.dtypes or op.name.startswith(LEFT_OUT) or op.variant_test_name:
            continue
        if isinstance(op, UnaryUfuncInfo) or (op.name.startswith("nn.functional.") and "loss" not in op.name):
            yield op.name, op.op, [x]
        elif isinstance(op, BinaryUfuncInfo):
            yield op.name, op.op, [a, b]
    for name in ("smooth_l1_loss", "huber_loss", "mse_loss", "l1_loss", "hinge_embedding_loss", "soft_margin_loss", "poisson_nll_loss"):
        yield "nn.functional." + name, getattr(f, name), [a, b], {"reduction": "none"}
    unit = t([0.0, 1.0, 0.5, 0.25])
    yield "nn.functional.binary_cross_entropy", f.binary_cross_entropy, [unit.repeat_interleave(4), unit.repeat(4)], {"reduction": "none"}
    yield "nn.functional.margin_ranking_loss", f.margin_ranking_loss, [t([1, 2, nan]), t([1, 1, 1]), t([1, 1, 1])], {"reduction": "none"}
    for low, high in ((-1.0, 1.0), (0.0, inf), (1.0, -1.0), (nan, 1.0), (None, 2.0), (-3.0, None), (0.5, 0.5)):
        yield "clamp", torch.clamp, [x, low, high]
    three = t([0.0, 1.0, 2.0, nan])
    yield "clamp", torch.clamp, [three.repeat_interleave(16), three.repeat_interleave(4).repeat(4), three.repeat(16)]
    yield "clamp_min", torch.clamp_min, [x, 1.0]
    yield "clamp_max", torch.clamp_max, [x, 1.0]
    for bound in ("clamp_min", "clamp_max"):
        yield bound, getattr(torch, bound), [a, b]
    for name in ("amax", "amin", "max", "min", "prod", "cumprod", "logsumexp", "std", "var", "mean", "median", "nanmedian", "nansum", "cummax", "cummin", "softmax", "norm"):
        for row in ([1, 1, 0], [nan, 1, nan], [-inf, -inf, -inf], [0, 0, 0], [0, 2, 0], [0, 2, 3], [5, 5, 5], [nan, nan, nan]):
            own = [0] if name in ("cumprod", "logsumexp", "cummax", "cummin", "softmax") else []
            yield name, getattr(torch, name), [t(row), *own]
    for order in (0.0, 1.0, 2.0, 3.0, inf, -inf):
        for row in ([1, -1, 0], [0, 0, 0], [2, -2, 1]):
            yield "linalg.vector_norm", torch.linalg.vector_norm, [t(row), order]


def write(out, name, text):
    out.write("case %s\n%send\n" % (name, "".join(line.rstrip() + "\n" for line in text.splitlines())))


torch.manual_seed(0)
seen = collections.defaultdict(set)  # the options of each operator that were recorded
with open(sys.argv[1], "w") as out:
    out.write("# What PyTorch %s gives; made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for op in sorted(op_db, key=lambda o: (o.name, o.variant_test_name)):
        if op.name.startswith(LEFT_OUT):
            continue
        dtypes = [d for d in (torch.float64, *NAMES) if d in op.dtypes]
        for dtype, count in ((torch.float64, SAMPLES), *((d, 1) for d in NAMES if d != torch.float64)):
            if dtype not in op.dtypes or (dtype != torch.float64 and torch.float64 in op.dtypes and dtype == torch.bool and op.name.startswith("nn.")):
                continue
            try:
                samples = list(op.sample_inputs("cpu", dtype))
            except Exception:
                continue
            order, written, done = samples[:: max(1, len(samples) // (2 * count))] + samples, 0, set()
            for ELEMENTS in FEW, MANY:
                tried = set()
                for sample in order:
                    if id(sample) in tried or written == (count if ELEMENTS == FEW else 1):
                        continue
                    tried.add(id(sample))
                    if record(out, op, sample, dtype):
                        done.add(id(sample))
                        written += 1
                if written:
                    break
            for ELEMENTS in (FEW, MANY) if dtype == dtypes[0] else ():  # of the others, those with options that none had, most of them first
                left = [s for s in samples if id(s) not in done]
                while left:
                    best = max(left, key=lambda s: len(options(op, s) - seen[op.name]))
                    left.remove(best)
                    if not options(op, best) - seen[op.name]:
                        break
                    if record(out, op, best, dtype):
                        done.add(id(best))
    ELEMENTS = MANY
    for name, function, arguments, *named in more():
        write(out, name, called(function, arguments, named[0] if named else {}, True))

ELEMENTS = FEW
torch.manual_seed(1)
with open(sys.argv[2], "w") as out:
    out.write("# Calls that PyTorch %s refuses, with its words; made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for op in sorted(op_db, key=lambda o: (o.name, o.variant_test_name)):
        if op.name.startswith(LEFT_OUT) or not op.error_inputs_func:
            continue
        for sample in (e.sample_input for e in op.error_inputs("cpu")):
            arguments, named = [sample.input, *sample.args], sample.kwargs
            try:
                if not leaves(arguments[:1]):
                    continue
                text = "".join("arg %s\n" % value(a) for a in arguments) + "".join("kw %s %s\n" % (k, value(v)) for k, v in named.items())
                if "kw out " in text:  # of another dtype or size, or overlapping itself
                    continue
            except Skip:
                continue
            try:
                op.op(*arguments, **named)
            except Exception as e:
                if "must be Tensor, not" in str(e):  # a number in the place of a Tensor is one
                    continue
                text += "says %s\n" % str(e).splitlines()[0][:120]
                write(out, op.name, text)

with open(sys.argv[3], "w") as out:
    out.write("# Dtypes and shapes that PyTorch %s gives where elements are of chance, or not written; the zeros stand for those. Made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for name, function, arguments, *named in drawn():
        zeros = lambda *a, **k: [torch.zeros(t.shape, dtype=t.dtype) for t in leaves(function(*a, **k))]
        write(out, name, called(zeros, arguments, named[0] if named else {}, False))

ELEMENTS = MANY
with open(sys.argv[4], "w") as out:
    out.write("# What PyTorch %s gives at NaN, infinities, zeros and equals; made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for name, function, arguments, *named in edges():
        try:
            text = called(function, arguments, named[0] if named else {}, True)
        except Exception:  # a function that needs more arguments
            continue
        write(out, name, text)

with open(sys.argv[5], "w") as out:
    out.write("# What PyTorch %s gives for Fourier transforms, complex numbers as pairs; made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for name, function, arguments, *named in spectral():
        write(out, name, called(function, arguments, named[0] if named else {}, True))
