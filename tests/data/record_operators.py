# Writes tests/data/operators.txt: what PyTorch gives for its own samples of operators, with gradients; and operator_errors.txt, calls that it refuses.
# For who changes the set; tests read the files.
#   python3 tests/data/record_operators.py tests/data/operators.txt tests/data/operator_errors.txt     (needs torch, numpy, expecttest)
import math
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import UnaryUfuncInfo, op_db

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.int32: "i32", torch.bool: "bool",
         torch.float16: "f16", torch.bfloat16: "bf16", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16"}
# Results of chance, of memory that nobody wrote, and what has another name or is not there.
LEFT_OUT = ("fft.", "jiterator", "sparse", "_", "torch.", "segment", "to_sparse", "native_", "ops.aten", "rand", "normal", "bernoulli", "empty", "new_empty",
            "uniform", "exponential", "geometric", "cauchy", "log_normal", "multinomial", "nn.functional.dropout", "nn.functional.alpha_dropout", "nn.functional.feature_alpha",
            "nn.functional.fractional", "nn.functional.rrelu", "where", "zero_", "resize", "nn.functional.scaled_dot_product_attention", "svd_lowrank", "pca_lowrank", "as_strided")
WEIGHT_FIRST = {"nn.functional.embedding": "embedding", "nn.functional.embedding_bag": "embedding_bag"}  # their samples are of functions with arguments in another order
SAMPLES, FEW, MANY = 4, 40, 200  # an operator whose samples all have more than FEW elements has one of MANY
ELEMENTS = FEW


# Forms that have no sample above.
MORE = [("tensor_split", torch.tensor_split, torch.arange(7.0), 3), ("tensor_split", torch.tensor_split, torch.arange(12).reshape(4, 3), [1, 3]),
        ("nn.functional.one_hot", torch.nn.functional.one_hot, torch.tensor([0, 2, 1]), 4)]


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
    arguments, named = [first, *sample.args], sample.kwargs
    if op.name in WEIGHT_FIRST:
        arguments[:2] = arguments[1::-1]
    floating = [t for t in leaves(arguments) + leaves(list(named.values())) if t.is_floating_point()]
    differentiated = dtype == torch.float64 and op.supports_autograd
    with torch.no_grad():  # few digits: the file is read by people too
        own = {id(t): (t.detach().double() * 64).round().div(64).to(t.dtype).reshape(t.shape).clone().requires_grad_(differentiated) for t in floating}

    def replaced(v):
        if isinstance(v, torch.Tensor):
            return own.get(id(v), v)
        if isinstance(v, (list, tuple)) and leaves(v):
            return type(v)(replaced(x) for x in v)
        return v

    arguments, named = [replaced(a) for a in arguments], {k: replaced(v) for k, v in named.items()}
    text = "".join("arg %s\n" % value(a) for a in arguments) + "".join("kw %s %s\n" % (k, value(v)) for k, v in named.items())
    result = (getattr(torch.nn.functional, WEIGHT_FIRST[op.name]) if op.name in WEIGHT_FIRST else op.op)(*arguments, **named)
    results = [result] if isinstance(result, torch.Tensor) else [torch.tensor(result)] if isinstance(result, bool) else leaves(result)
    if not results:
        raise Skip()
    text += "out %d\n" % len(results) + "".join(tensor(t) + "\n" for t in results)
    flowing = [t for t in results if t.is_floating_point() and t.requires_grad]
    if flowing:
        into = [torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).reshape(t.shape) for t in flowing]
        gradients = torch.autograd.grad(flowing, [own[id(t)] for t in floating], into, allow_unused=True)
        text += "grad %d\n" % len(gradients) + "".join(("N" if g is None else tensor(g)) + "\n" for g in gradients)
    return text


torch.manual_seed(0)
with open(sys.argv[1], "w") as out:
    out.write("# What PyTorch %s gives; made by record_operators.py.\n" % torch.__version__.split("+")[0])
    for op in sorted(op_db, key=lambda o: (o.name, o.variant_test_name)):
        if op.name.startswith(LEFT_OUT):
            continue
        for dtype, count in ((torch.float64, SAMPLES), *((d, 1) for d in NAMES if d != torch.float64)):
            if dtype not in op.dtypes or (dtype != torch.float64 and torch.float64 in op.dtypes and dtype == torch.bool and op.name.startswith("nn.")):
                continue
            try:
                samples = list(op.sample_inputs("cpu", dtype))
            except Exception:
                continue
            order, written = samples[:: max(1, len(samples) // (2 * count))] + samples, 0
            for ELEMENTS in FEW, MANY:
                seen = set()
                for sample in order:
                    if id(sample) in seen or written == (count if ELEMENTS == FEW else 1):
                        continue
                    seen.add(id(sample))
                    try:
                        text = case(op, sample, dtype)
                    except Exception:
                        continue
                    out.write("case %s\n%send\n" % (op.name, "".join(line.rstrip() + "\n" for line in text.splitlines())))
                    written += 1
                if written:
                    break
    for name, op, *arguments in MORE:
        out.write("case %s\n%sout %d\n%send\n" % (name, "".join("arg %s\n" % value(a) for a in arguments), len(leaves(op(*arguments))), "".join(tensor(t) + "\n" for t in leaves(op(*arguments)))))

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
                out.write("case %s\n%send\n" % (op.name, "".join(line.rstrip() + "\n" for line in text.splitlines())))
