// A program of the library's own build (cmake/tt_library_kernels.cmake): it runs what networks and losses are made of op by op, with gradients, and writes
// the kernels of those programs as C, for tt::compiled to bring with it (backends/cpu/library_kernels.hpp).
//   tt_compiled_emitter FOLDER FILES own avx2 avx512      FOLDER/own_0.c and so on: the same kernels in so many files, under names of each instruction set
// A call that is not here runs through the interpreter, with the same bits: a line in `rows` or `losses` is all that it takes, and 5 KB.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tt/backends/compiler.hpp"
#include "tt/backends/cpu/library_kernels.hpp"
#include "tt/plan/kernel_alone.hpp"
#include "tt/tt.hpp"

// This program has none yet.
extern "C" {
extern const tt_library_kernel tt_library_kernels_own[] = {{0, 0, nullptr}};
extern const tt_library_kernel tt_library_kernels_avx2[] = {{0, 0, nullptr}};
extern const tt_library_kernel tt_library_kernels_avx512[] = {{0, 0, nullptr}};
extern const int tt_library_kernel_count_own = 0;
extern const int tt_library_kernel_count_avx2 = 0;
extern const int tt_library_kernel_count_avx512 = 0;
}

namespace {

using tt::Tensor;
using Tensors = std::vector<Tensor>;
using Call = std::function<Tensor(const Tensors&)>;

void run_forward(const Tensors& given, const Call& call) {
  const tt::NoGrad off;
  call(given);
}
/// And with gradients of all arguments, and of the first: for an adjoint of its own shape, and for one that is repeated.
void run(const Tensors& given, const Call& call) {
  run_forward(given, call);
  for (std::size_t leaves : {given.size(), std::size_t{1}}) {
    Tensors x;
    for (std::size_t k = 0; k < given.size(); ++k) {
      x.push_back(given[k].detach());
      if (k < leaves && tt::is_floating(x[k].dtype())) x[k].requires_grad_();
    }
    const auto backward = [&](auto&& of) {
      const Tensor y = call(x);
      if (y.requires_grad()) of(y);
    };
    backward([](const Tensor& y) { y.backward(tt::rand_like(y)); });
    backward([](const Tensor& y) { y.sum().backward(); });
    backward([](const Tensor& y) { y.mean().backward(); });
  }
}

template <class F>
void elementwise(const Tensor& x) {
  if (F::info.domain == tt::Domain::integer) return;
  const Tensors given(static_cast<std::size_t>(F::info.arity), x);
  const auto call = [](const Tensors& t) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return tt::call(F::info.name, {t[I]...}); }(std::make_index_sequence<F::info.arity>{});
  };
  try {
    if (tt::is_narrow(x.dtype())) run_forward(given, call);
    else run(given, call);
  } catch (const tt::Error&) {  // another name, or further arguments
  }
}

void rows(const Tensor& x, std::initializer_list<double> epsilons) {
  const std::int64_t columns = x.size(1);
  const Tensor weight = tt::rand({columns}, x.dtype()), bias = tt::rand({columns}, x.dtype());
  const auto one = [&](const Call& call) { run({x}, call); };
  for (const int axis : {1, 0}) {
    one([&](const Tensors& t) { return tt::softmax(t[0], axis); });
    one([&](const Tensors& t) { return tt::log_softmax(t[0], axis); });
    one([&](const Tensors& t) { return tt::logsumexp(t[0], axis); });
    one([&](const Tensors& t) { return t[0].sum(axis); });
    one([&](const Tensors& t) { return t[0].mean(axis); });
    one([&](const Tensors& t) { return t[0].var(axis); });
    one([&](const Tensors& t) { return t[0].std(axis); });
    one([&](const Tensors& t) { return t[0].amax(axis); });
    one([&](const Tensors& t) { return tt::norm(t[0], 2, axis); });
    one([&](const Tensors& t) { return tt::normalize(t[0], 2, axis); });
    run({x, x}, [&](const Tensors& t) { return tt::cosine_similarity(t[0], t[1], axis); });
  }
  for (const double eps : epsilons) {
    one([&](const Tensors& t) { return tt::layer_norm(t[0], {columns}, {}, {}, eps); });
    run({x, weight}, [&](const Tensors& t) { return tt::layer_norm(t[0], {columns}, t[1], {}, eps); });
    run({x, weight, bias}, [&](const Tensors& t) { return tt::layer_norm(t[0], {columns}, t[1], t[2], eps); });
    one([&](const Tensors& t) { return tt::rms_norm(t[0], {columns}, {}, eps); });
    run({x, weight}, [&](const Tensors& t) { return tt::rms_norm(t[0], {columns}, t[1], eps); });
  }
  run({x, weight, bias}, [&](const Tensors& t) { return tt::batch_norm(t[0], {}, {}, t[1], t[2], true); });
  run({x, weight, bias}, [&](const Tensors& t) { return tt::batch_norm(t[0], bias, weight, t[1], t[2], false); });
}
/// One channel a group: shifted images times a number each.
void images() {
  for (const tt::IntList& shape : {tt::IntList{1, 3, 20, 20}, tt::IntList{1, 3, 20, 24}, tt::IntList{2, 3, 20, 20}, tt::IntList{2, 3, 20, 24}})
    for (const int stride : {1, 2})
      for (const int padding : {0, 1})
        run({tt::rand(shape), tt::rand({3, 1, 3, 3})}, [&](const Tensors& t) { return tt::conv2d(t[0], t[1], {.stride = stride, .padding = padding, .groups = 3}); });
}
void losses(const Tensor& x) {
  const Tensor labels = tt::zeros({x.size(0)}, tt::DType::i64);
  for (const char* reduction : {"mean", "sum", "none"}) {
    run({x}, [&](const Tensors& t) { return tt::call("cross_entropy", {t[0], labels}, {{"reduction", reduction}}); });
    run({x}, [&](const Tensors& t) { return tt::call("nll_loss", {t[0], labels}, {{"reduction", reduction}}); });
    for (const char* loss : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss"})
      run({x, x}, [&](const Tensors& t) { return tt::call(loss, {t[0], t[1]}, {{"reduction", reduction}}); });
  }
}

/// Kernels by their text.
struct Found {
  tt::ContentHash hash;
  tt::KernelAlone kernel;
};
std::vector<Found> found;

void collect(const tt::GraphFunction& f) {
  if (f.is_one_program()) {
    const tt::Plan& plan = f.program().plan();
    for (int k = 0; k < plan.kernels.size(); ++k) {
      if (plan.kernels[k].code != k || !tt::has_text_of_its_own(plan, plan.kernels[k])) continue;
      tt::KernelAlone alone(plan, k);
      const tt::ContentHash hash = tt::ContentHash::of(tt::emit_c(alone.plan, tt::KernelAlone::name));
      if (std::none_of(found.begin(), found.end(), [&](const Found& o) { return o.hash == hash; })) found.push_back({hash, std::move(alone)});
    }
  }
  f.each_derived([](const tt::GraphFunction& g, bool) { collect(g); });
}

/// Only what has changed is compiled again.
void write(const std::string& path, const tt::Text& text) {
  const auto size = static_cast<std::size_t>(text.size());
  tt::Vec<char> before;
  if (tt::DiskCache::read_file(path.c_str(), before) && static_cast<std::size_t>(before.size()) == size && std::memcmp(before.begin(), text.begin(), size) == 0) return;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file && std::fwrite(text.begin(), 1, size, file) == size;
  if (!file || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    std::exit(1);
  }
}

void run_samples() {
  const auto all_elementwise = [](const Tensor& x) {
    [&]<class... F>(tt::TypeList<F...>) { (elementwise<F>(x), ...); }(tt::DirectOps{});
  };
  constexpr std::int64_t columns = 64, rounded = 40;  // a temporary's rows of the latter lie further apart than they are long
  for (const std::int64_t n : {6, 1}) {
    const Tensor x = tt::rand({n, columns});
    rows(x, {1e-5, 1e-6, 1e-12});
    losses(x);
    if (n > 1) all_elementwise(x);
  }
  for (const tt::DType d : {tt::DType::f32, tt::DType::bf16, tt::DType::f16}) rows(tt::rand({6, rounded}, d), {1e-5});
  rows(tt::rand({6, columns}, tt::DType::f64), {1e-5});
  for (const tt::DType d : {tt::DType::bf16, tt::DType::f16}) {
    const Tensor x = tt::rand({6, columns}, d);
    rows(x, {1e-5, 1e-6});
    all_elementwise(x);
  }
  images();
}
/// Of all programs that have run. False: some are not there any more.
bool collect_all() {
  tt::detail::FunctionTable& table = tt::detail::function_table();
  const auto reading = table.read();
  table.each([](const tt::detail::KeptFunction& k) {
    if (k.function) collect(*k.function);
    return false;
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.hash < b.hash; });
  return table.evicted() == 0 && table.refused() == 0;
}

tt::Text list_of(const std::string& set, const std::vector<std::string>& name) {
  tt::Text t;
  t << "struct tt_library_kernel { unsigned long long high, low; void *function; };\n";
  for (const std::string& n : name) t << "extern void " << n.c_str() << "_0(void *const *, const i64 *, const i64 *);\n";
  t << "const struct tt_library_kernel tt_library_kernels_" << set.c_str() << "[] = {\n";
  for (std::size_t k = 0; k < found.size(); ++k) {
    const tt::Text hex = found[k].hash.hex();
    t << "{0x";
    t.append(hex.begin(), 16);
    t << "ull, 0x";
    t.append(hex.begin() + 16, 16);
    t << "ull, (void *)" << name[k].c_str() << "_0},\n";
  }
  return t << "};\nconst int tt_library_kernel_count_" << set.c_str() << " = " << static_cast<int>(found.size()) << ";\n";
}
/// All kernels under names of an instruction set, in so many files.
void write_set(const std::string& folder, const std::string& set, std::size_t files) {
  std::vector<std::string> name;
  for (const Found& f : found) name.push_back("tt_" + set + '_' + f.hash.hex().c_str());
  for (std::size_t part = 0; part < files; ++part) {
    tt::Vec<tt::NamedPlan> plans;
    for (std::size_t k = part; k < found.size(); k += files) plans.push_back({&found[k].kernel.plan, name[k].c_str()});
    const std::string number = std::to_string(part);
    tt::Text text;
    text << "#pragma GCC visibility push(hidden)\n#define zero tt_" << set.c_str() << "_zero_" << number.c_str() << '\n' << tt::emit_c(plans);
    if (part == 0) text << list_of(set, name);
    write(folder + '/' + set + '_' + number + ".c", text);
  }
}

}  // namespace

int main(int count, char** word) {
  if (count < 4) return 2;
  run_samples();
  if (!collect_all()) {
    std::fprintf(stderr, "more programs ran than are kept: run fewer samples at a time\n");
    return 1;
  }
  for (int s = 3; s < count; ++s) write_set(word[1], word[s], static_cast<std::size_t>(std::atoi(word[2])));
  std::printf("%d kernels\n", static_cast<int>(found.size()));
}
