#!/usr/bin/env python3
"""Rows of pytorch_rows beside PyTorch 2, run by turns on one core: medians, and the time of tt over the best of PyTorch's.

    python3 -m venv venv && venv/bin/pip install torch
    taskset -c 1 venv/bin/python bench/pytorch/compare.py build/bench/bench/pytorch_rows [--compile] [rows...]

PyTorch is eager, with channels last where there are images, and with --compile torch.compile too. glibc's allocator is told to keep
memory, or PyTorch would be given fresh pages at every call.
"""
import os
import statistics
import subprocess
import sys
import time

KEEP = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=1073741824"
if os.environ.get("GLIBC_TUNABLES") != KEEP:
    os.environ["GLIBC_TUNABLES"] = KEEP
    os.execv(sys.executable, [sys.executable] + sys.argv)

import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def microseconds(call):
    def run(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) / calls * 1e6
    call()
    calls = max(1, min(10000, int(5000 / run(2))))
    return statistics.median(run(calls) for _ in range(7))


def gradient(f):
    def run(d, x, *more):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((f(x, *more) * d).sum(), x)[0]
    return run


def loss_gradient(x, labels):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.cross_entropy(x, labels), x)[0]


def block(x, w, mean, var, scale, shift):
    return F.relu(F.batch_norm(F.conv2d(x, w, padding=1), mean, var, scale, shift, eps=1e-5))


def rows():
    n = torch.randn
    images, matrix, vector, weights = n(1, 64, 112, 112), n(4096, 1024), n(1024), n(4096, 4096)
    labels, few, one_channel, channel = torch.randint(0, 1024, (4096,)), n(1, 128, 28, 28), n(128, 1, 3, 3), torch.rand(64) + 0.5
    depthwise = lambda x, w: F.conv2d(x, w, padding=1, groups=128)
    softmax = lambda x: torch.softmax(x, 1)
    layer_norm = lambda x, w, b: F.layer_norm(x, (1024,), w, b)
    r = {
        "max_pool_3x3": (lambda x: F.max_pool2d(x, 3, 2), images),
        "max_pool_3x3_padded": (lambda x: F.max_pool2d(x, 3, 2, 1), images),
        "max_pool_2x2": (lambda x: F.max_pool2d(x, 2), images),
        "vector_by_matrix_4096": (torch.mm, n(1, 4096), weights),
        "depthwise_3x3": (depthwise, few, one_channel),
        "depthwise_3x3_gradient": (gradient(depthwise), n(1, 128, 28, 28), few, one_channel),
        "conv_batch_norm_relu": (block, n(4, 64, 56, 56), n(64, 64, 3, 3) * 0.05, channel, channel, channel, channel),
        "add_transposed_2048": (lambda a, b: a + b.t(), n(2048, 2048), n(2048, 2048)),
        "column_sums": (lambda x: x.sum(0), matrix),
        "row_means": (lambda x: x.mean(1), matrix),
        "row_variances": (lambda x: x.var(1), matrix),
        "softmax": (softmax, matrix),
        "softmax_gradient": (gradient(softmax), n(4096, 1024), matrix),
        "layer_norm": (layer_norm, matrix, vector, vector),
        "layer_norm_gradient": (gradient(layer_norm), n(4096, 1024), matrix, vector, vector),
        "cross_entropy": (F.cross_entropy, matrix, labels),
        "cross_entropy_gradient": (loss_gradient, matrix, labels),
        "gelu": (F.gelu, matrix),
    }
    for name, d in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        r[f"{name}_add"] = (torch.add, matrix.to(d), n(4096, 1024).to(d))
        r[f"{name}_gelu"] = (F.gelu, matrix.to(d))
        r[f"{name}_softmax"] = (softmax, matrix.to(d))
        r[f"{name}_layer_norm"] = (layer_norm, matrix.to(d), vector.to(d), vector.to(d))
        for batch in (1, 8):
            r[f"{name}_linear_4096_batch_{batch}"] = (F.linear, n(batch, 4096).to(d), weights.to(d))
        r[f"{name}_matmul_1024"] = (torch.mm, n(1024, 1024).to(d), n(1024, 1024).to(d))
    for batch in (1, 2, 4, 8, 16):
        r[f"linear_4096_batch_{batch}"] = (F.linear, n(batch, 4096), weights)
    for size in (1024, 2048, 3072):
        r[f"matmul_{size}"] = (torch.mm, n(size, size), n(size, size))
    return r


def variants(f, *arguments, compiled):
    found = {"eager": lambda: f(*arguments)}
    images = [a.dim() == 4 for a in arguments]
    if any(images):
        last = [a.to(memory_format=torch.channels_last) if image else a for a, image in zip(arguments, images)]
        found["channels last"] = lambda: f(*last)
    if compiled:
        g = torch.compile(f)
        found["torch.compile"] = lambda: g(*arguments)
    return found


def main():
    words = [w for w in sys.argv[1:] if w != "--compile"]
    program, chosen = words[0], words[1:]
    print(f"PyTorch {torch.__version__}, one thread; medians of three turns, us\n")
    print("| row | tt compiled / best of PyTorch | tt eager / PyTorch's eager | us: tt compiled, eager | us: PyTorch |\n|---|---|---|---|---|")
    for name, (f, *arguments) in sorted(rows().items()):
        if chosen and name not in chosen:
            continue
        with torch.set_grad_enabled("gradient" in name):
            found = variants(f, *arguments, compiled="--compile" in sys.argv)
            times = {}
            for _ in range(3):
                for line in subprocess.run([program, name], capture_output=True, text=True, check=True).stdout.split("\n"):
                    if line:
                        kind, value = line.split()
                        times.setdefault("tt " + kind, []).append(float(value))
                for kind, call in found.items():
                    times.setdefault(kind, []).append(microseconds(call))
        t = {kind: statistics.median(values) for kind, values in times.items()}
        best = min(v for kind, v in t.items() if not kind.startswith("tt "))
        print(f"| {name} | {t['tt compiled'] / best:.2f} | {t['tt eager'] / t['eager']:.2f} | {t['tt compiled']:.0f}, {t['tt eager']:.0f} | "
              + ", ".join(f"{kind} {v:.0f}" for kind, v in t.items() if not kind.startswith("tt ")) + " |", flush=True)


if __name__ == "__main__":
    main()
