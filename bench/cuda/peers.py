# The same functions in PyTorch, eager and torch.compile, and as CuPy's fused kernels, where these are
# installed; medians of 15 after 3 to warm up, by events. Only benchmarks need Python.
import statistics

many, rows, cols = 1 << 26, 16384, 4096


def report(name, milliseconds, size, rate):
    print(f"{name:<34} {milliseconds:9.3f} ms {size / milliseconds * 1e-6:8.0f} GB/s {100 * size / milliseconds / rate:6.1f} % of a copy")


def with_torch():
    import torch

    def median(run):
        times = []
        for k in range(18):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            run()
            end.record()
            end.synchronize()
            if k >= 3:
                times.append(begin.elapsed_time(end))
        return statistics.median(times)

    a, b, c = (torch.randn(many, device="cuda") for _ in range(3))
    x, w, v = torch.randn(rows, cols, device="cuda"), torch.randn(cols, device="cuda"), torch.randn(cols, device="cuda")
    to = torch.empty_like(a)
    one, whole = 4 * many, 4 * rows * cols
    ms = median(lambda: to.copy_(a))
    rate = 2 * one / ms
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    report("copy", ms, 2 * one, rate)
    functions = [
        ("tanh(a * b + c)", lambda a, b, c: torch.tanh(a * b + c), (a, b, c), 4 * one),
        ("softmax of rows", lambda x: torch.softmax(x, -1), (x,), 2 * whole),
        ("layer norm of rows", lambda x, w, v: torch.nn.functional.layer_norm(x, (cols,), w, v), (x, w, v), 2 * whole),
        ("sum(a * b + c)", lambda a, b, c: torch.sum(a * b + c), (a, b, c), 3 * one),
        ("column sums", lambda x: torch.sum(x, 0), (x,), whole),
    ]
    def measured(name, f, size):  # a peer that cannot, says so in its row
        try:
            report(name, median(f()), size, rate)
        except Exception as reason:
            print(f"{name:<34} skipped: {type(reason).__name__}: {str(reason).splitlines()[0] if str(reason) else ''}")

    for name, f, arguments, size in functions:
        measured(name + ", eager", lambda: lambda: f(*arguments), size)

        def compiled():
            g = torch.compile(f)
            return lambda: g(*arguments)

        measured(name + ", torch.compile", compiled, size)

    def gate(p, q):
        return torch.sum(p * torch.sigmoid(p * q))

    p, q = a.clone().requires_grad_(), b.clone().requires_grad_()
    def gradients(f):
        return lambda: torch.autograd.grad(f(p, q), (p, q))

    measured("gate, value and gradient, eager", lambda: gradients(gate), 4 * one)
    measured("gate, value and gradient, torch.compile", lambda: gradients(torch.compile(gate)), 4 * one)
    for n in (256, 1024, 4096):
        p, q, r = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda"), torch.randn(n, device="cuda")
        ms = median(lambda: torch.relu(torch.addmm(r, p, q)))
        print(f"relu(A @ B + bias), {n:<5} cuBLAS      {ms:9.3f} ms {2e-9 * n ** 3 / ms:8.2f} TFLOP/s")


def with_cupy():
    import cupy

    a, b, c = (cupy.random.standard_normal(many, dtype=cupy.float32) for _ in range(3))
    fused = cupy.fuse(lambda a, b, c: cupy.tanh(a * b + c))
    times = []
    for k in range(18):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        fused(a, b, c)
        end.record()
        end.synchronize()
        if k >= 3:
            times.append(cupy.cuda.get_elapsed_time(begin, end))
    ms = statistics.median(times)
    print(f"tanh(a * b + c), cupy.fuse         {ms:9.3f} ms {16 * many / ms * 1e-6:8.0f} GB/s")


for peer in (with_torch, with_cupy):
    try:
        peer()
    except Exception as reason:
        print(f"skipped: {type(reason).__name__}: {reason}")
