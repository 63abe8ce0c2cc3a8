#!/usr/bin/env python3
"""Tensors to and from PyTorch and NumPy through DLPack, and .safetensors files with the library of that name: ends with how many comparisons held.

    python3 -m venv venv && venv/bin/pip install torch numpy safetensors
    g++ -std=c++20 -O1 -shared -fPIC -I include bench/pytorch/exchange.cpp -o exchange.so
    venv/bin/python bench/pytorch/exchange.py ./exchange.so
"""
import ctypes
import os
import sys
import tempfile

import numpy as np
import safetensors
import safetensors.torch
import torch

lib = ctypes.CDLL(os.path.abspath(sys.argv[1]))
for name in "tt_arange", "tt_arange_versioned":
    getattr(lib, name).restype = ctypes.c_void_p
lib.tt_sum.restype = ctypes.c_double
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]

NAMES = {False: (b"dltensor", b"used_dltensor"), True: (b"dltensor_versioned", b"used_dltensor_versioned")}
kept_names = []  # PyCapsule keeps the pointer


class Producer:
    """A Tensor of tt as the array API hands it over."""

    def __init__(self, dtype, versioned):
        self.pointer = (lib.tt_arange_versioned if versioned else lib.tt_arange)(dtype)
        self.versioned = versioned

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return capsule_new(self.pointer, NAMES[self.versioned][0], None)


def handed_over(x, versioned):
    """The pointer of a capsule of x, which is used up."""
    capsule = x.__dlpack__(max_version=(1, 0)) if versioned else x.__dlpack__()
    pointer = capsule_pointer(capsule, NAMES[versioned][0])
    capsule_rename(capsule, NAMES[versioned][1])
    return ctypes.c_void_p(pointer)


held, failed = 0, []


def check(holds, what):
    global held
    if holds:
        held += 1
    else:
        failed.append(what)


# In the order of tt::DType.
DTYPES = [torch.bool, torch.int32, torch.int64, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.int16]
for number, dtype in enumerate(DTYPES):
    expected = torch.arange(6).to(dtype).reshape(2, 3).t()
    for versioned in False, True:
        x = torch.from_dlpack(Producer(number, versioned))
        check(x.dtype == dtype and x.stride() == expected.stride() and torch.equal(x, expected), f"torch.from_dlpack of {dtype}, versioned {versioned}")
        if dtype != torch.bfloat16:
            y = np.from_dlpack(Producer(number, versioned))
            check(y.dtype == expected.numpy().dtype and np.array_equal(y, expected.numpy()), f"numpy.from_dlpack of {dtype}, versioned {versioned}")
    if dtype == torch.bool:
        continue
    for versioned in False, True:
        add = lib.tt_add_one_versioned if versioned else lib.tt_add_one
        t = torch.arange(24).to(dtype).reshape(2, 3, 4)[:, 1:, ::2].transpose(0, 2)
        want = t + 1
        check(add(handed_over(t, versioned)) == 0 and torch.equal(t, want), f"in place in PyTorch's {dtype}, versioned {versioned}")
        if dtype != torch.bfloat16:
            a = np.arange(24).astype(t.contiguous().numpy().dtype).reshape(4, 6)[1:, ::3].T
            want = a + 1
            check(add(handed_over(a, versioned)) == 0 and np.array_equal(a, want), f"in place in NumPy's {dtype}, versioned {versioned}")

backwards = np.arange(6.0)[::-1]
check(lib.tt_add_one_versioned(handed_over(backwards, True)) == -1, "backwards is not in place")
check(lib.tt_sum(handed_over(np.arange(12.0).reshape(3, 4)[::-1, ::2], True)) == 30, "the sum of what lies backwards")
fixed = np.arange(4.0)
fixed.flags.writeable = False
check(lib.tt_add_one_versioned(handed_over(fixed, True)) == -1 and fixed[0] == 0, "read-only is not in place")
check(lib.tt_sum(handed_over(fixed, True)) == 6, "the sum of what is read-only")

with tempfile.TemporaryDirectory() as folder:
    one, two = os.path.join(folder, "one.safetensors"), os.path.join(folder, "two.safetensors")
    tensors = {f"layer.{k}.weight": torch.arange(6).to(d).reshape(2, 3) for k, d in enumerate(DTYPES)}
    tensors |= {"empty": torch.zeros(0, 3), "number": torch.tensor(2.5), 'a "name" é\n': torch.ones(5, dtype=torch.uint8)}
    safetensors.torch.save_file(tensors, one, metadata={"format": "pt"})
    lib.tt_copy_file(one.encode(), two.encode())
    read = safetensors.torch.load_file(two)
    check(read.keys() == tensors.keys() and all(read[k].dtype == t.dtype and torch.equal(read[k], t) for k, t in tensors.items()), "safetensors there and back")
    with safetensors.safe_open(two, "pt") as f:
        check(f.metadata() == {"format": "pt"}, "metadata")

for what in failed:
    print("FAILED:", what)
print(f"{held} held, {len(failed)} failed; PyTorch {torch.__version__}, NumPy {np.__version__}, safetensors {safetensors.__version__}")
sys.exit(bool(failed))
