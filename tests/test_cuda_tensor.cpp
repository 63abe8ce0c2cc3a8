// Tensors on device cuda, on a fake driver (cuda/fake_driver.cpp): ops, views, the tape, compiled
// functions, and what happens when something is missing or fails. Values are those of the CPU, bit for bit.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "control_cases.hpp"
#include "cuda/fake.hpp"
#include "tensors.hpp"
#include "tt/backends/algorithms.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Tensor;
const bool chosen = (fake::choose_driver(), true);
constexpr tt::Device gpu{tt::DeviceType::cuda, 0};

bool same(const Tensor& on_device, const Tensor& on_cpu) {
  CHECK(on_device.device() == gpu);
  return same_bits(on_device.detach().cpu(), on_cpu);
}
Tensor values(const tt::IntList& shape, std::int64_t seed = 1) { return tt::randn(shape, seed); }

constexpr auto gate = [](const Tensor& x, const Tensor& w) { return tt::sum(tt::sigmoid(x * w) * x, -1); };
constexpr auto step = [](Tensor& w, const Tensor& x, const Tensor& y) {
  const auto loss_of = [](const auto& v, const auto& a, const auto& b) { return tt::mean(tt::square(tt::matmul(a, v) - b)); };
  const auto [loss, g] = tt::value_and_grad(loss_of)(w, x, y);
  w -= g * 0.1f;
  return loss;
};

}  // namespace

TEST_CASE("the device is there, and says what it is") {
  CHECK(tt::cuda::is_available());
  CHECK(tt::cuda::unavailable_reason().empty());
  if (fake::is_real()) return;
  CHECK(tt::cuda::device_count() == 1);
  CHECK(std::string(tt::cuda::device_name()) == "fake device on the CPU");
  CHECK(tt::cuda::device_capability() == 90);
}

TEST_CASE("elements go to a device and come back") {
  const Tensor x = values({3, 5}), t = x.t();
  CHECK(same(x.cuda(), x));
  CHECK(same(t.cuda(), t));
  CHECK(same(tt::tensor({1, 2, 3}, {.dtype = tt::DType::i64, .device = gpu}), tt::tensor({1, 2, 3})));
  CHECK(x.cuda().cuda().is_same(x) == false);
  const Tensor there = x.to(gpu, true);
  CHECK(there.to(gpu).is_same(there));
  CHECK(there.to(tt::DType::f64).device() == gpu);
  CHECK(tt::tensor({2.5}).cuda().item() == 2.5);
  CHECK(std::string(tt::to_string(tt::tensor({1, 2}).cuda())) == "tensor([1, 2], device='cuda:0')");
  CHECK(same(tt::zeros({2, 3}, {.device = gpu}), tt::zeros({2, 3})));
  CHECK(same(tt::full({7}, 3, {.dtype = tt::DType::i32, .device = gpu}), tt::full({7}, 3, {.dtype = tt::DType::i32})));
  CHECK(same(tt::eye(3, {.device = gpu}), tt::eye(3)));
  CHECK(same(tt::arange(0, 5, 0.5, {.device = gpu}), tt::arange(0, 5, 0.5, {})));
  CHECK(same(tt::randn({100}, 5, {.device = gpu}), tt::randn({100}, 5)));
  CHECK(same(tt::zeros_like(there), tt::zeros({3, 5})));
}

TEST_CASE("what a compiled function makes is made on the device of its arguments") {
  const auto f = [](const Tensor& x) {
    const Tensor here = tt::arange(0, 5, 1, {.device = x.device()}) * tt::zeros_like(x) + tt::rand({5}, 3, {.device = x.device()});
    return x * here + tt::eye(5, {.device = x.device()})[1] - tt::tensor({1.0, -2.0, 4.0, 0.5, 3.0}, {.device = x.device()});
  };
  const Tensor x = values({3, 5});
  const auto compiled = tt::compile(f, {.fullgraph = true});
  CHECK(same(compiled(x.cuda()), f(x)));
  CHECK(same(f(x.cuda()), f(x)));
  const auto breaks = tt::compile([](const Tensor& y) {
    const double s = (y * tt::ones_like(y)).sum().item();
    return (y + tt::arange(0, 5, 1, {.device = y.device()})) * s + tt::full_like(y, 2);
  });
  CHECK(same(breaks(x.cuda()), breaks(x)));
}

TEST_CASE("eager ops run as kernels of the device") {
  const Tensor x = values({6, 40}), y = values({40}, 2), w = values({40, 7}, 3);
  const Tensor gx = x.cuda(), gy = y.cuda(), gw = w.cuda();
  const std::int64_t before = tt::cuda::launches();
  CHECK(same(gx + gy, x + y));
  CHECK(tt::cuda::launches() == before + 1);
  CHECK(same(gx * 2.0f - 1, x * 2.0f - 1));
  CHECK(same(tt::silu(gx), tt::silu(x)));
  CHECK(same(tt::softmax(gx, 1), tt::softmax(x, 1)));
  CHECK(same(tt::matmul(gx, gw), tt::matmul(x, w)));
  CHECK(same(gx.sum(), x.sum()));
  CHECK(same(gx.argmax(1), x.argmax(1)));
  CHECK(same(tt::where(gx > 0, gx, gy), tt::where(x > 0, x, y)));
  CHECK(same(gx.t().contiguous(), x.t().contiguous()));
  CHECK(same(gx.slice(1, 3, 30, 2) * 3, x.slice(1, 3, 30, 2) * 3));
  CHECK(same(gx + tt::tensor(2.0), x + tt::tensor(2.0)));  // a single element may come from anywhere
}

TEST_CASE("numbers, and single elements on the host, are parameters of the kernel: nothing is copied") {
  const Tensor x = values({6, 40}), g = x.cuda(), scale = values({}, 3), flag = tt::tensor(true);
  const auto copies = [] { return fake::is_real() ? 0 : fake::count("copies to device"); };
  const long before = copies();
  std::vector<std::pair<Tensor, Tensor>> results;
  const auto add = [&](const Tensor& on_device, const Tensor& on_cpu) { results.push_back({on_device, on_cpu}); };
  const tt::MemoryStats memory = tt::cuda::memory_stats();
  add(g * 2.5f, x * 2.5f);
  CHECK(tt::cuda::memory_stats().hits + tt::cuda::memory_stats().misses == memory.hits + memory.misses + 1);  // the result
  add(3 - g, 3 - x);
  add(g * scale, x * scale);
  add(tt::where(flag, g, -1.0f), tt::where(flag, x, -1.0f));
  add(g.to(tt::DType::f64) * 1.5, x.to(tt::DType::f64) * 1.5);
  add(tt::pow(g, 2), tt::pow(x, 2));
  CHECK(copies() == before);
  for (const auto& [on_device, on_cpu] : results) CHECK(same(on_device, on_cpu));
  Tensor y = x.cuda(), z = x.clone();
  const long copied = copies();
  y += 2;
  z += 2;
  y.mul_(scale);
  z.mul_(scale);
  CHECK(copies() == copied);
  CHECK(same(y, z));
}

TEST_CASE("a number is a value in all kernels of one text, or in none") {
  const auto f = tt::compile([](const Tensor& x, const Tensor& z, const Tensor& s) {
    const Tensor h = tt::relu(tt::matmul(x, x) * tt::sum(z));  // the factor lies in the arena,
    return tt::relu(tt::matmul(h, x) * s);                     // and here in host memory
  });
  const Tensor x = values({32, 32}), z = values({50}, 2), s = tt::tensor(0.5f);
  CHECK(same(f(x.to(gpu), z.to(gpu), s), f(x, z, s)));
}

TEST_CASE("changes in place, also of views") {
  Tensor x = values({4, 6}), g = x.cuda();
  x += 1;
  g += 1;
  CHECK(same(g, x));
  x.slice(1, 1, 5, 2).mul_(3);
  g.slice(1, 1, 5, 2).mul_(3);
  CHECK(same(g, x));
  x.t().copy_(tt::ones({6, 4}));
  g.t().copy_(tt::ones({6, 4}));  // from the host, through a transposed view
  CHECK(same(g, x));
  x.select(0, 2).fill_(7);
  g.select(0, 2).fill_(7);
  CHECK(same(g, x));
  CHECK(g.version() == x.version());
}

TEST_CASE("the tape runs on the device and reaches across") {
  Tensor x = values({5, 8}), w = values({8}, 2);
  Tensor gx = x.cuda(), gw = w.cuda();
  for (Tensor* t : {&x, &w, &gx, &gw}) t->requires_grad_();
  tt::mean(tt::softmax(x * w, 1) * x).backward();
  tt::mean(tt::softmax(gx * gw, 1) * gx).backward();
  CHECK(same(gx.grad(), x.grad()));
  CHECK(same(gw.grad(), w.grad()));

  Tensor here = values({3}).requires_grad_(), alone = values({3}).requires_grad_();
  tt::sum(tt::exp(here.cuda())).cpu().backward();
  tt::sum(tt::exp(alone)).backward();
  CHECK(here.grad().device() == tt::Device{});
  CHECK(same_bits(here.grad(), alone.grad()));
}

TEST_CASE("compiled functions run on the device too") {
  auto f = tt::compile(gate);
  const Tensor x = values({9, 33}), w = values({33}, 2);
  const Tensor on_cpu = f(x, w);
  CHECK(same(f(x.cuda(), w.cuda()), on_cpu));
  CHECK(f.captures() == 2);

  auto train = tt::compile(step);
  Tensor v = values({33, 2}, 3), gv = v.cuda();
  const Tensor y = values({9, 2}, 4), gx = x.cuda(), gy = y.cuda();
  for (int k = 0; k < 3; ++k) {
    const Tensor loss = train(v, x, y), on_device = train(gv, gx, gy);
    CHECK(same(on_device, loss));
  }
  CHECK(same(gv, v));
}

TEST_CASE("branches, loops and scans run on the device, with gradients") {
  const auto left_out = [](const std::string& what) {  // on the fake, which takes a fifth of a second for each kernel: test_devices.cpp has them
    if (fake::is_real()) return false;
    for (const char* one : {"cond of a number, first", "cond of a number, second", "loops and a branch in a loop", "scan of two", "scan of branches", "scan of several dtypes",
                            "what does not lie dense", "grad of scan"})
      if (what == one) return true;
#ifdef TT_ALL_FORMS
    return false;
#else
    static int number = 0;
    return number++ % 3 != 0;
#endif
  };
  for (const control_cases::Case& c : control_cases::all())
    if (!left_out(c.what)) control_cases::check(c, gpu, false);
}

TEST_CASE("a gradient that nothing has to be read for lies where its argument does, in its dtype") {
  const auto empty = [](const Tensor& x) { return x.slice(0, 2, 2) * 3; };
  const auto compiled = tt::compile(empty);
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64}) {
    const Tensor expected = tt::zeros({4, 3}, {.dtype = d});
    const auto gradient = [&](const auto& f) {
      Tensor x = values({4, 3}).to(d).cuda().requires_grad_();
      const Tensor y = f(x);
      CHECK(y.device() == gpu);
      y.sum().backward();
      return x.grad();
    };
    CHECK(same(gradient(empty), expected));
    CHECK(same(gradient(compiled), expected));
    CHECK(same(gradient([](const Tensor& x) { return x.slice(0, 2, 2); }), expected));
  }
}

TEST_CASE("what is updated in place beside a device must lie on it") {
  auto count = tt::compile([](Tensor& n, const Tensor& x) {
    n += tt::sum(x);
    return x * n;
  });
  const Tensor x = values({9}), gx = x.cuda();
  Tensor n = tt::tensor(2.0f), gn = n.cuda();
  CHECK(same(count(gn, gx), count(n, x)));
  CHECK(same(gn, n));
  Tensor on_cpu = tt::tensor(2.0f);
  CHECK(message<tt::Error>([&] { count(on_cpu, gx); }).find("Tensors on different devices: cuda:0 and cpu.") != std::string::npos);
  CHECK(on_cpu.item() == 2);
}

TEST_CASE("streams, events, pinned memory") {
  tt::cuda::Stream side;
  tt::cuda::Event begin, end;
  const Tensor x = values({1000});
  Tensor y;
  {
    const tt::cuda::StreamGuard guard(side);
    begin.record();
    y = tt::exp(x.to(gpu, true));
    end.record();
  }
  end.synchronize();
  CHECK(begin.elapsed_time(end) >= 0);
  side.synchronize();
  CHECK(same(y, tt::exp(x)));
  const tt::cuda::PinnedMemory pinned(4000);
  Tensor staged = tt::from_blob(static_cast<float*>(pinned.data()), {1000});
  staged.copy_(y);
  tt::cuda::synchronize();
  CHECK(same_bits(staged, tt::exp(x)));
}

TEST_CASE("sort and its kin run on the device where the library was built by nvcc too") {
  const Tensor x = tt::tensor({3.0f, -1.0f, 3.0f, 0.5f, -1.0f, 8.0f, 0.5f, 3.0f, 2.0f, -7.0f, 3.0f, 0.5f}).reshape({3, 4});
  const Tensor g = x.cuda();
  if (!tt::backend::algorithms(tt::DeviceType::cuda)) {
    CHECK(message<tt::Unavailable>([&] { tt::sort(g); }).starts_with("tt::sort: nothing was built for device cuda. Build tt::compiled "));
    return;
  }
  if (!fake::is_real()) return;  // Thrust calls the driver by itself
  tt::cuda::Stream side;
  const tt::cuda::StreamGuard guard(side);
  for (int dim : {0, 1}) {
    const auto [values, indices] = tt::sort(g, dim);
    CHECK(same(values, tt::sort(x, dim).values));
    CHECK(same(indices, tt::sort(x, dim).indices));
    CHECK(same(tt::cumsum(g, dim), tt::cumsum(x, dim)));
    CHECK(same(tt::topk(g, 2, dim).values, tt::topk(x, 2, dim).values));
  }
  const auto [different, places, counts] = tt::unique(g, true, true, true);
  CHECK(same(different, tt::unique(x).values));
  CHECK(same(counts, tt::unique(x, true, true, true).counts));
  CHECK(same(tt::reduce_by_key((g.flatten() > 1), g.flatten()).values, tt::reduce_by_key((x.flatten() > 1), x.flatten()).values));
}

TEST_CASE("memory is kept for the next Tensor, and given back when it runs short") {
  if (fake::is_real()) return;
  tt::cuda::empty_cache();
  const tt::MemoryStats before = tt::cuda::memory_stats();
  const void* first = nullptr;
  {
    const Tensor x = tt::empty({1000}, {.device = gpu});
    first = x.data();
    CHECK(tt::cuda::memory_stats().allocated == before.allocated + 4096);
  }
  CHECK(tt::cuda::memory_stats().allocated == before.allocated);
  CHECK(tt::empty({1000}, {.device = gpu}).data() == first);
  CHECK(tt::cuda::memory_stats().hits == before.hits + 1);

  const fake::Setting small("FAKE_CUDA_MEMORY", "4000000");
  { const Tensor kept = tt::empty({500'000}, {.device = gpu}); }
  CHECK_NOTHROW(tt::empty({700'000}, {.device = gpu}));  // does not fit beside what is kept
  const std::string m = message<tt::Error>([] { tt::empty({2'000'000}, {.device = gpu}); });
  CHECK(m.starts_with("tt::cuda: out of memory on device 0: 8000000 bytes asked for, "));
  CHECK(m.find(" of 4000000 free on the device.") != std::string::npos);
  CHECK_NOTHROW(tt::empty({100}, {.device = gpu}));
}

TEST_CASE("wrong uses are refused in words") {
  const Tensor x = values({2, 3}), g = x.cuda();
  CHECK(message<tt::Error>([&] { x + g; }).starts_with("tt::add: Tensors on different devices: cpu and cuda:0."));
  CHECK(message<tt::Error>([&] { g.elements<float>(); }).starts_with("tt::Tensor::elements: the elements are on device cuda. Use cpu() first?"));
  CHECK(message<tt::Error>([&] { tt::to_array<tt::Array<float, 2, 3>>(g); }).starts_with("tt::to_array: the elements are on device cuda. Use cpu() first?\n  at "));
  if (!fake::is_real()) CHECK(message<tt::Error>([&] { x.cuda(1); }) == "tt::cuda: there is no device 1: the driver knows 1.");
  CHECK(message<tt::Error>([&] { tt::zeros({2}, {.device = {tt::DeviceType::meta, 0}}).cuda(); }).starts_with("tt::to: a Tensor on device meta has no elements to copy."));
}

TEST_CASE("what is missing is named") {
  if (fake::is_real()) return;
  using tt::cuda::Driver;
  using tt::cuda::Nvrtc;
  const char* nowhere[] = {"/no/such/libcuda.so.1"};
  const std::string m = message<tt::Unavailable>([&] { Driver::open(nowhere, 1); });
  CHECK(m.starts_with("tt::cuda: there is no NVIDIA driver: /no/such/libcuda.so.1: "));
  CHECK(m.ends_with(". Install one, or use the CPU?"));
  const char* another[] = {"libm.so.6"};
  CHECK(message<tt::Unavailable>([&] { Driver::open(another, 1); }) ==
        "tt::cuda: the NVIDIA driver is too old: it has no cuInit. Install version 525 or later?");
  CHECK(message<tt::Unavailable>([&] { Nvrtc::open(nowhere, 1); }).starts_with("tt::cuda: kernels are compiled by NVRTC, and it cannot be opened: "));
  CHECK(message<tt::Unavailable>([&] { Nvrtc::open(another, 1); }) == "tt::cuda: this NVRTC is too old: it has no nvrtcVersion. Install version 12 or later?");
  const fake::Setting refused("FAKE_CUDA_INIT", "100");
  const char* fake[] = {TT_FAKE_CUDA};
  CHECK(message<tt::Unavailable>([&] { Driver::open(fake, 1); }) ==
        "tt::cuda: the NVIDIA driver does not start: no CUDA-capable device is detected.");
}

TEST_CASE("a device newer than NVRTC gets PTX, one that is too old an error") {
  if (fake::is_real()) return;
  const tt::cuda::Nvrtc& nvrtc = tt::cuda::Nvrtc::get();  // the fake knows sm_75, sm_80 and sm_90
  for (const int minor : {0, 1}) CHECK(std::string(nvrtc.compile("text", "kernels", 9, minor).begin()) == "text");
  CHECK(message<tt::Unavailable>([&] { nvrtc.compile("text", "kernels", 7, 0); }) ==
        "tt::cuda: nvrtc 0.1 makes no code for a device of architecture sm_70, only from sm_75 on. Name the file of an older one in TT_NVRTC?");
}

TEST_CASE("child: kernels of one program" * doctest::skip()) {
  const Tensor x = values({3, 5});
  CHECK(same(tt::compile([](const Tensor& t) { return tt::softmax(tt::gelu(t), -1); })(x.cuda()), tt::softmax(tt::gelu(x), -1)));
  const tt::cuda::CompileStats s = tt::cuda::compile_stats();
  std::printf("compiled %d, from disk %d, rejected %d\n", static_cast<int>(s.compiled), static_cast<int>(s.from_disk), static_cast<int>(s.rejected));
}

TEST_CASE("compiled kernels are found on disk, by text, architecture and version of NVRTC; what was changed there is not taken") {
  namespace fs = std::filesystem;
  const tt::backend::TemporaryFolder temporary;
  const std::string folder(temporary.path().begin(), static_cast<std::size_t>(temporary.path().size()));
  const fake::Setting cache("TT_CACHE_DIR", folder.c_str());
  const auto another_process = [] {
    char line[200] = {}, found[200] = "nothing";
    std::FILE* const out = popen((fs::read_symlink("/proc/self/exe").string() + " --no-skip -tc='child:*' 2>&1").c_str(), "r");
    while (std::fgets(line, sizeof line, out))
      if (std::strncmp(line, "compiled ", 9) == 0) std::strcpy(found, line);
    CHECK(pclose(out) == 0);
    return std::string(found);
  };
  CHECK(another_process() == "compiled 1, from disk 0, rejected 0\n");
  CHECK(another_process() == "compiled 0, from disk 1, rejected 0\n");
  if (!fake::is_real()) {
    {
      const fake::Setting later("FAKE_NVRTC_VERSION", "2");
      CHECK(another_process() == "compiled 1, from disk 0, rejected 0\n");
    }
    const fake::Setting other("FAKE_CUDA_CAPABILITY", "91");
    CHECK(another_process() == "compiled 1, from disk 0, rejected 0\n");
    CHECK(another_process() == "compiled 0, from disk 1, rejected 0\n");
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.file_size() > 200) {
      std::FILE* const file = std::fopen(entry.path().c_str(), "r+");
      std::fputc('?', file);
      std::fclose(file);
    }
  CHECK(another_process() == "compiled 1, from disk 0, rejected 1\n");
}

TEST_CASE("kernels that do not compile: the text is kept, and the message says where") {
  if (fake::is_real()) return;
  const fake::Setting fails("FAKE_NVRTC_FAILS", "1");
  const Tensor g = values({2, 3}).cuda();
  const std::string m = message<tt::Error>([&] { tt::hardswish(tt::mish(g)); });
  CHECK(m.starts_with("tt::cuda: NVRTC does not compile the kernels of '"));
  CHECK(m.find("chosen by FAKE_NVRTC_FAILS") != std::string::npos);
  const std::size_t at = m.find("Their text is in ");
  REQUIRE(at != std::string::npos);
  const std::string path = m.substr(at + 17, m.size() - at - 18);
  std::FILE* file = std::fopen(path.c_str(), "r");
  REQUIRE(file);
  std::fclose(file);
  std::remove(path.c_str());
}

TEST_CASE("a device that was lost stays lost, and says so") {  // the last case: nothing runs after it
  if (fake::is_real()) return;
  const Tensor g = values({2, 3}).cuda();
  {
    const fake::Setting fails("FAKE_CUDA_LAUNCH_FAILS", "1");
    const std::string m = message<tt::Error>([&] { g * 2; });
    CHECK(m.starts_with("tt::cuda: cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure. The device is lost to this process;"));
  }
  CHECK(message<tt::Error>([&] { g + 1; }) == "tt::cuda: device 0 was lost after an error on it. Start the process again.");
  CHECK(message<tt::Error>([&] { tt::cuda::synchronize(); }) == "tt::cuda: device 0 was lost after an error on it. Start the process again.");
}
