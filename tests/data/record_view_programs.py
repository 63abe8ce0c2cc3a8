#!/usr/bin/env python3
"""Writes view_programs.txt: random programs of views and changes in place, and what PyTorch 2 gives: the values of all floating variables, and the gradients of the first two.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python tests/data/record_view_programs.py > tests/data/view_programs.txt

Lines of a program: "leaf REQUIRES_GRAD tensor", "mask tensor", "index tensor", "op NAME VARIABLE IN_PLACE ; arguments" (T variable, I integer, F real, L count integers); a tensor is its
rank, its sizes and its elements. Programs that PyTorch refuses are left out; so are ops whose derivative PyTorch takes from their result, as that is not what is compared.
"""
import random
import torch

f64 = torch.float64


def text(t):
    t = t.detach()
    return " ".join([str(t.dim()), *map(str, t.shape), *("%.9g" % v for v in t.reshape(-1).to(f64).tolist())])


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        torch.manual_seed(seed)
        self.lines, self.variables = [], []
        for shape, on in (((3, 4), True), ((3, 4), self.random.random() < 0.5), ((4,), False)):
            self.make("leaf", (torch.randn(shape, dtype=f64) * 100).round() / 100, on)
        self.call("clone", 0)
        self.call("mul", 1, 2.0)

    def make(self, kind, t, on=False):
        t = t.clone().requires_grad_(on)
        self.lines.append(f"{kind} {int(on)} {text(t)}" if kind == "leaf" else f"{kind} {text(t)}")
        self.variables.append(t)
        return len(self.variables) - 1

    def call(self, name, first, *arguments, torch_name=None):
        """An argument ("v", k) is a variable."""
        x = self.variables[first]
        given = [self.variables[a[1]] if isinstance(a, tuple) else a for a in arguments]
        in_place = name.endswith("_")
        result = torch.ops.aten.slice(x, *given) if name == "slice" else getattr(x, name)(*given)
        words = []
        for a in arguments:
            if isinstance(a, tuple): words.append(f"T {a[1]}")
            elif isinstance(a, list): words.append(" ".join(["L", str(len(a)), *map(str, a)]))
            elif isinstance(a, int): words.append(f"I {a}")
            else: words.append(f"F {a}")
        self.lines.append(" ".join(["op", name, str(first), str(int(in_place)), ";", *words]))
        if not in_place:
            self.variables.append(result[0] if isinstance(result, (tuple, list)) else result)

    def step(self):
        r, k = self.random, self.random.randrange(len(self.variables))
        x = self.variables[k]
        if x.dtype != f64: return
        d, kind = x.dim(), r.random()
        axis = r.randrange(d) if d else 0
        if kind < 0.4 and d:
            n = x.shape[axis]
            start = r.randrange(n)
            order = list(range(d))
            r.shuffle(order)
            views = [("select", axis, start), ("narrow", axis, start, r.randint(1, n - start)), ("transpose", axis, r.randrange(d)), ("permute", order), ("slice", axis, start, n, r.choice([1, 2])),
                     ("reshape", [-1]), ("squeeze",), ("flatten",), ("detach",), ("unfold", axis, r.randint(1, n), 1), ("movedim", axis, r.randrange(d))]
            if d < 4: views.append(("unsqueeze", r.randrange(d + 1)))
            if d < 3: views.append(("expand", [2, *x.shape]))
            if d > 1: views.append(("diagonal",))
            name, *arguments = r.choice(views)
            return self.call(name, k, *arguments)
        if kind < 0.75:
            base = x._base if x._base is not None else x
            if base.is_leaf and base.requires_grad: return
            like = [j for j, y in enumerate(self.variables) if y.dtype == f64 and y.shape == x.shape]
            changes = [("fill_", 0.7), ("zero_",), ("clamp_", -0.5, 0.6), ("neg_",), ("abs_",), ("sin_",), ("square_",), ("sigmoid_",), ("tanh_",), ("exp_",), ("relu_",), ("add_", 1.5), ("mul_", -0.5),
                       ("div_", 2.0), ("pow_", 2), ("add_", ("v", r.choice(like))), ("mul_", ("v", r.choice(like))), ("sub_", ("v", r.choice(like))), ("copy_", ("v", r.choice(like))),
                       ("addcmul_", ("v", k), ("v", k)), ("lerp_", ("v", r.choice(like)), 0.3), ("atan_",), ("floor_",)]
            if d: changes += [("cumsum_", axis), ("index_fill_", axis, "index", 0.2), ("index_add_", axis, "index", "part"), ("index_copy_", axis, "index", "part"), ("masked_fill_", "mask", 0.3)]
            if d > 1: changes.append(("tril_",))
            name, *arguments = r.choice(changes)
            for place, a in enumerate(arguments):
                if a == "index": arguments[place] = ("v", self.make("index", torch.tensor([r.randrange(x.shape[axis])])))
                elif a == "mask": arguments[place] = ("v", self.make("mask", torch.rand(x.shape) > 0.5))
                elif a == "part": arguments[place] = ("v", self.make("leaf", torch.ones([1 if j == axis else n for j, n in enumerate(x.shape)], dtype=f64)))
            return self.call(name, k, *arguments)
        others = [j for j, y in enumerate(self.variables) if y.dtype == f64 and y.shape == x.shape]
        name, *arguments = r.choice([("sin",), ("square",), ("clone",), ("contiguous",), ("mul", ("v", r.choice(others))), ("add", ("v", r.choice(others)))] + ([("sum", [0]), ("mean", [-1])] if d else []))
        self.call(name, k, *arguments)

    def finished(self):
        floats = [v for v in self.variables if v.dtype == f64]
        lines = [*self.lines, *("value " + text(v) for v in floats)]
        total = sum((torch.sin(v).sum() for v in floats if v.requires_grad), torch.zeros((), dtype=f64))
        if total.requires_grad: total.backward()
        return [*lines, *("grad " + ("none" if v.grad is None else text(v.grad)) for v in self.variables[:2]), "end"]


print("# made by record_view_programs.py with PyTorch", torch.__version__.split("+")[0])
count, seed = 0, 0
while count < 400:
    seed += 1
    program = Program(seed)
    try:
        for _ in range(program.random.randint(3, 9)): program.step()
        lines = program.finished()
    except (RuntimeError, IndexError):
        continue
    if any("nan" in l or "inf" in l for l in lines): continue
    print(f"program {seed}", *lines, sep="\n")
    count += 1
