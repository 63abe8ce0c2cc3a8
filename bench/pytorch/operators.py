#!/usr/bin/env python3
"""The calls of operators.txt by name, beside PyTorch 2, on one core or several: the time of tt over PyTorch's eager one, the worst first, and their geometric mean.

    python3 -m venv venv && venv/bin/pip install torch
    taskset -c 1 venv/bin/python bench/pytorch/operators.py build/bench/bench/pytorch_operators [words that lines have...]
    THREADS=2 taskset -c 0,1 venv/bin/python ...
    LAYOUTS=t,s,b,256x512,4096x4096 ...    each line that has Tensors of 1024x1024 again for each of these: transposed, every second column, with the last one broadcast, of other sizes

glibc's allocator is told to keep memory, or PyTorch would be given fresh pages at every call.
"""
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

KEEP = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=1073741824"
if os.environ.get("GLIBC_TUNABLES") != KEEP:
    os.environ["GLIBC_TUNABLES"] = KEEP
    os.execv(sys.executable, [sys.executable] + sys.argv)

import torch
import torch.nn.functional as F

THREADS = int(os.environ.get("THREADS", 1))
torch.set_num_threads(THREADS)
torch.manual_seed(1)


def tensor_of(kind, sizes):
    if len(kind) > 1 and kind[-1] == "t":
        return tensor_of(kind[:-1], sizes).t()
    if len(kind) > 1 and kind[-1] == "s":
        return tensor_of(kind[:-1], sizes[:-1] + [2 * sizes[-1]])[..., ::2]
    if kind[0] == "k":
        return torch.randint(0, int(kind[1:]), sizes)
    return {
        "x": lambda: torch.randn(sizes), "p": lambda: torch.rand(sizes) * 0.98 + 0.01, "u": lambda: torch.rand(sizes) * 1.98 - 0.99,
        "g": lambda: torch.rand(sizes) + 1.01, "b": lambda: torch.rand(sizes) < 0.5, "c": lambda: torch.randint(-128, 128, sizes).to(torch.int8), "j": lambda: torch.randint(1, 1000, sizes),
        "s": lambda: torch.sort(torch.randn(sizes))[0],
    }[kind]()


def value_of(text):
    if text[0] == "(":
        return [value_of(part) for part in text[1:-1].split(",")]
    if ":" in text:
        kind, sizes = text.split(":")
        return tensor_of(kind, [int(n) for n in sizes.split("x")])
    if text[0] == "[" or text in ("True", "False"):
        return eval(text)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def function_of(name, arguments):
    """torch.f, torch.nn.functional.f, torch.special.f or Tensor.f: the one that takes these."""
    if name.startswith("special_"):
        return getattr(torch.special, name[8:])
    if name.startswith("linalg_"):
        return getattr(torch.linalg, name[7:])
    if name.startswith("nn.functional."):
        return getattr(F, name[14:])
    places = [F, torch] if name in ("interpolate", "one_hot", "layer_norm", "group_norm", "smooth_l1_loss", "pad", "max_pool1d", "dropout", "softmax", "gelu") else [torch, F]
    for place in places:
        if callable(getattr(place, name, None)):
            return getattr(place, name)
    return getattr(torch.Tensor, name)


def microseconds(call):
    def run(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) / calls * 1e6
    call()
    calls = max(1, min(10000, int(5000 / run(2))))
    return statistics.median(run(calls) for _ in range(7))


def laid_out(line, layout):
    """The line with its Tensors of 1024 x 1024 in another layout or size; "" if there are none of these."""
    parts = re.split(r"(\b\w+:1024x1024\b)", line)
    if len(parts) == 1 or (layout in "tsb" and re.search(r"\w[ts]:1024x1024", line)):
        return ""
    if layout in ("t", "s"):
        parts[1::2] = [part.replace(":", layout + ":") for part in parts[1::2]]
        return "".join(parts)
    if layout == "b":
        parts[-2] = parts[-2].replace("1024x1024", "1024x1")
        return "" if len(parts) == 3 else "".join(parts)
    return line.replace("1024x1024", layout)


def main():
    program, words = sys.argv[1], sys.argv[2:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.txt")) as file:
        lines = [line.strip() for line in file if line.strip() and (not words or any(w in line for w in words))]
    if layouts := os.environ.get("LAYOUTS"):
        lines = [again for line in lines for layout in layouts.split(",") if (again := laid_out(line, layout))]
    rows = []
    for line in lines:  # by turns, so that both meet the same machine
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as one:
            one.write(line + "\n")
            one.flush()
            own = subprocess.run([program, one.name, str(THREADS)], capture_output=True, text=True).stdout.strip()
        name, *rest = line.split()
        positional = [value_of(t) for t in rest if "=" not in t]
        named = {t.split("=")[0]: value_of(t.split("=")[1]) for t in rest if "=" in t}
        try:
            f = function_of(name, positional)
            peer = microseconds(lambda: f(*positional, **named))
        except Exception as e:
            print(f"{line}: PyTorch: {str(e).splitlines()[0]}")
            continue
        if own.startswith("nan") or not own:
            print(f"{line}: tt: {own}")
            continue
        rows.append((float(own) / peer, line, float(own), peer))
    for ratio, line, own, peer in sorted(rows, reverse=True):
        print(f"{ratio:7.2f}  {line:60} {own:10.1f} {peer:10.1f}")
    print(f"geometric mean of {len(rows)}: {math.exp(sum(math.log(r[0]) for r in rows) / len(rows)):.2f}; above 1.5: {sum(r[0] > 1.5 for r in rows)}; threads: {THREADS}; PyTorch {torch.__version__}")


main()
