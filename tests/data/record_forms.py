# Writes tests/data/pytorch_forms.txt: which forms PyTorch has of each name: function, method, in place (a method with _ behind it), and out=. For who changes the set; tests read the file.
#   python3 tests/data/record_forms.py tests/data/pytorch_forms.txt     (needs torch)
import sys

import torch

functions = {}  # name: what is called
for prefix, module in (("", torch.nn.functional), ("", torch), ("linalg_", torch.linalg), ("special_", torch.special), ("fft_", torch.fft), ("signal_windows_", torch.signal.windows), ("masked_", torch.masked)):
    for name in dir(module):
        if callable(getattr(module, name)) and name[0].islower() and not name.endswith("_") and (prefix or module is torch.nn.functional or hasattr(torch.ops.aten, name)):
            functions[prefix + name] = getattr(module, name)
methods = {name for name in dir(torch.Tensor) if callable(getattr(torch.Tensor, name)) and (not name.startswith("_") or name in ("__lshift__", "__rshift__"))} | {"H", "T", "mH", "mT", "real"}


def has_out(name):
    """In a schema that is written by hand: the others are for compilers, and no function of torch takes them."""
    packet = getattr(torch.ops.aten, name, None)
    overloads = [getattr(packet, o) for o in packet.overloads()] if packet else []
    return any(a.is_out for o in overloads if torch.Tag.generated not in o.tags for a in o._schema.arguments)


with open(sys.argv[1], "w") as out:
    out.write("# The forms that PyTorch %s has of each name; made by record_forms.py.\n" % torch.__version__.split("+")[0])
    for name in sorted(set(functions) | {m for m in methods if not m.endswith("_") or m.endswith("__")} | {m[:-1] for m in methods if m.endswith("_") and not m.endswith("__")}):
        forms = [("function", name in functions), ("method", name in methods), ("in_place", name + "_" in methods), ("out", name in functions and has_out(name))]
        out.write(" ".join([name, *(form for form, there in forms if there)]) + "\n")
