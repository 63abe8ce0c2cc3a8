# Writes tests/data/wrong_calls.txt: how PyTorch ends the wrong calls that test_bad_input makes. For who changes the set; tests read the file.
#   TT_WRONG_CALLS=calls.txt ./test_bad_input
#   python3 tests/data/record_wrong_calls.py calls.txt tests/data/wrong_calls.txt       (needs torch, numpy, expecttest)
# A line an operator, a letter a call: E, an error; a digit, a result of that dtype; ?, not known: an object of Python's stands where a Tensor of ours does, or PyTorch ended.
import math
import os
import re
import resource
import sys
import time
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
DTYPES = ["bool", "i32", "i64", "f32", "f64", "f16", "bf16", "u8", "i8", "i16"]  # in the order of tt::DType
TORCH = dict(zip(DTYPES, [torch.bool, torch.int32, torch.int64, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.int16]))
# Python's own: a number in the place of a Tensor is one here; any object is true or false there, and None may be a default.
NOT_KNOWN = re.compile(r"must be Tensor, not|object has no attribute|got \((int|float|bool)[,)]|must be tuple of Tensors|expected a value of type 'Tensor'|INTERNAL ASSERT|_dim\(\)")


def functions():
    of = {}
    for op in op_db:
        of.setdefault(op.name, op.op)
    source = open(os.path.join(os.path.dirname(__file__), "record_operators.py")).read()
    scope = {"torch": torch, "math": math}
    exec(source[source.index("def more()"):source.index("torch.manual_seed(0)")], scope)
    for name, function, *_ in scope["more"]():
        if name not in of or name.startswith(("nn.functional.embedding", "where", "as_strided")):
            of[name] = function
    return of


def tensor(words):
    if words[0] == "N":
        return None
    rank = int(words[2])
    shape, values = [int(n) for n in words[3:3 + rank]], words[4 + rank:]
    if TORCH[words[1]].is_floating_point:
        return torch.tensor([float(v) for v in values], dtype=torch.float64).reshape(shape).to(TORCH[words[1]])
    return torch.tensor([int(v) for v in values], dtype=torch.int64).reshape(shape).to(TORCH[words[1]])


def value(text, lines):
    words = text.split(" ")
    if words[0] == "M":
        return [tensor(next(lines).split(" ")) for _ in range(int(words[1]))]
    read = {"T": lambda: tensor(words), "N": lambda: None, "B": lambda: words[1] != "0", "I": lambda: int(words[1]), "F": lambda: float(words[1]), "S": lambda: text[2:],
            "D": lambda: TORCH[words[1]], "L": lambda: [int(w) for w in words[2:]], "R": lambda: [float(w) for w in words[2:]]}
    return read[words[0]]()


def calls(path):
    lines = iter(open(path).read().split("\n"))
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "case":
            name, arguments, named, whole = rest, [], {}, True
        elif word == "unlike":
            whole = False
        elif word == "arg":
            arguments.append(value(rest, lines))
        elif word == "kw":
            key, _, rest = rest.partition(" ")
            named[key] = value(rest, lines)
        elif word == "end":
            yield name, arguments, named, whole


def outcome(function, arguments, named):
    try:
        with torch.no_grad():
            result = function(*arguments, **named)
    except BaseException as e:
        return "?" if NOT_KNOWN.search(str(e)) else "E"
    while isinstance(result, (list, tuple)) and result:
        result = result[0]
    result = result if isinstance(result, torch.Tensor) else torch.tensor(result) if isinstance(result, (bool, int, float)) else None
    known = [k for k, d in enumerate(DTYPES) if result is not None and TORCH[d] == result.dtype]
    return str(known[0]) if known else "?"


def main(path, to):
    """Calls are made by processes of their own: some end PyTorch, some never come back."""
    of, given, done = functions(), list(calls(path)), to + ".part"
    resource.setrlimit(resource.RLIMIT_AS, (9 << 30, 9 << 30))
    open(done, "w").close()
    while (begin := os.path.getsize(done)) < len(given):
        child = os.fork()
        if child == 0:
            with open(done, "a") as out:
                for name, arguments, named, whole in given[begin:]:
                    out.write(outcome(of[name], arguments, named) if whole and name in of else "?")
                    out.flush()
            os._exit(0)
        size, since = begin, time.time()
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if (now := os.path.getsize(done)) != size:
                size, since = now, time.time()
            elif time.time() - since > 6:
                os.kill(child, 9)
                os.waitpid(child, 0)
                break
            time.sleep(0.01)
        if os.path.getsize(done) < len(given):
            open(done, "a").write("?")
    outcomes = {}
    for (name, *_), letter in zip(given, open(done).read()):
        outcomes[name] = outcomes.get(name, "") + letter
    with open(to, "w") as out:
        out.write("# How PyTorch %s ends the calls of test_bad_input; made by record_wrong_calls.py.\n" % torch.__version__.split("+")[0])
        for name, letters in outcomes.items():
            out.write("%s %s\n" % (name, letters))
    os.remove(done)


main(*sys.argv[1:])
