// A program of the library's own build (cmake/tt_library_kernels.cmake): it runs the ops of networks and losses one by one, with gradients,
// and writes the kernels of their programs as C, to be compiled into tt::compiled (backends/cpu/library_kernels.hpp).
//   tt_compiled_emitter FOLDER FILES own avx2 avx512      FOLDER/own_0.c and so on: the same kernels in FILES files, under names of each
//                                                         instruction set; FOLDER/tables.cpp: the tables of each op
// A call that is not run here uses the interpreter, with the same bits: to add it costs a line in `rows` or `losses`, and 5 KB.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tt/backends/compiler.hpp"
#include "tt/backends/cpu/library_kernels.hpp"
#include "tt/plan/kernel_alone.hpp"
#include "tt/tt.hpp"

const bool tt::cpu::library_has_kernels = false;  // this program has none yet

namespace {

using tt::Tensor;
using Tensors = std::vector<Tensor>;
using Call = std::function<Tensor(const Tensors&)>;

void run_forward(const Tensors& given, const Call& call) {
  const tt::NoGrad off;
  call(given);
}
/// Also with gradients of all arguments, and of the first one: for an adjoint of the result's shape, and for repeated ones.
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
  } catch (const tt::Error&) {  // has another name, or needs further arguments
  }
}

/// Ops without a struct, on narrow dtypes: for other dtypes they have loops of their own.
void arithmetic(const Tensor& x) {
  for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    run_forward({x, x}, [&](const Tensors& t) { return tt::call(op, {t[0], t[1]}); });
    run_forward({x}, [&](const Tensors& t) { return tt::call(op, {t[0], 2}); });
  }
  for (const char* op : {"neg", "abs", "sqrt"}) run_forward({x}, [&](const Tensors& t) { return tt::call(op, {t[0]}); });
  run_forward({x}, [](const Tensors& t) { return tt::where(t[0] > 0.5, t[0], t[0]); });
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
    one([&](const Tensors& t) { return t[0].nansum(axis); });
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
  if (x.size(0) > 1) run({x, weight, bias}, [&](const Tensors& t) { return tt::batch_norm(t[0], {}, {}, t[1], t[2], true); });
  run({x, weight, bias}, [&](const Tensors& t) { return tt::batch_norm(t[0], bias, weight, t[1], t[2], false); });
}
/// Over all elements, and along each axis: the greatest, the least, their indices; any, all.
void extremes(const Tensor& x) {
  run_forward({x}, [](const Tensors& t) { return t[0].any(); });
  run_forward({x}, [](const Tensors& t) { return t[0].all(); });
  if (x.dtype() != tt::DType::boolean) {
    run_forward({x}, [](const Tensors& t) { return t[0].argmax(); });
    run_forward({x}, [](const Tensors& t) { return t[0].argmin(); });
  }
  for (const int axis : {1, 0}) {
    run_forward({x}, [&](const Tensors& t) { return t[0].any(axis); });
    run_forward({x}, [&](const Tensors& t) { return t[0].all(axis); });
    if (x.dtype() == tt::DType::boolean) continue;
    run_forward({x}, [&](const Tensors& t) { return t[0].argmax(axis); });
    run_forward({x}, [&](const Tensors& t) { return t[0].argmin(axis); });
    run({x}, [&](const Tensors& t) { return t[0].max(axis).values; });
    run({x}, [&](const Tensors& t) { return t[0].min(axis).values; });
  }
}
/// Formulas that the interpreter computes element by element.
void formulas(const Tensor& x) {
  run({x}, [](const Tensors& t) { return tt::angle(t[0]); });
  run({x}, [](const Tensors& t) { return tt::logit(t[0]); });
  run({x}, [](const Tensors& t) { return tt::logit(t[0], 1e-6); });
  run({x}, [](const Tensors& t) { return tt::glu(t[0], 1); });
}
/// Depthwise convolutions: shifted images times a scalar each. More channels than a window has elements: an offset that equals their
/// number would be that symbol in the text.
void images() {
  constexpr int channels = 67;
  for (const tt::IntList& shape : {tt::IntList{1, channels, 20, 20}, tt::IntList{1, channels, 20, 24}, tt::IntList{2, channels, 20, 20}, tt::IntList{2, channels, 20, 24}})
    for (const int stride : {1, 2})
      for (const int size : {3, 5, 7})
        for (const int padding : {0, size / 2})
          run({tt::rand(shape), tt::rand({channels, 1, size, size})}, [&](const Tensors& t) { return tt::conv2d(t[0], t[1], {.stride = stride, .padding = padding, .groups = channels}); });
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

/// For each op its template argument in C++ text: its struct, or its code.
std::map<std::string, std::string> arguments;
template <class F>
constexpr std::string_view struct_of() {  // "... [with F = tt::Softmax; ...]"
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("F = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}
template <class... F>
void name_structs(tt::TypeList<F...>) {
  (arguments.emplace(F::info.name, struct_of<F>()), ...);
}
void name_arguments() {
  name_structs(tt::DirectOps{});
  name_structs(tt::StructuredOps{});
  name_structs(tt::FurtherStructuredOps{});
  for (int k = 0; k < tt::op_count; ++k)
    if (const auto op = static_cast<tt::Op>(k); tt::has_operator(op)) arguments.emplace(name(op), "static_cast<tt::Op>(" + std::to_string(k) + ")");
}

/// A kernel, and the names of its ops; `found` maps the hash of its text to it.
struct Found {
  tt::KernelAlone kernel;
  std::set<std::string> ops;
};
std::map<tt::ContentHash, Found> found;
std::set<std::string> others;  ///< ops that ran too, but have no table: views, conversions

void collect(const tt::GraphFunction& f, const std::string& op) {
  if (f.is_one_program()) {
    const tt::Plan& plan = f.program().plan();
    for (int k = 0; k < plan.kernels.size(); ++k) {
      if (plan.kernels[k].code != k || !tt::has_text_of_its_own(plan, plan.kernels[k])) continue;
      tt::KernelAlone alone(plan, k);
      const tt::ContentHash hash = tt::ContentHash::of(tt::emit_c(alone.plan, tt::KernelAlone::name));
      found.try_emplace(hash, std::move(alone)).first->second.ops.insert(op);
    }
  }
  f.each_derived([&](const tt::GraphFunction& g, bool) { collect(g, op); });
}

/// Leaves unchanged files alone, so that they are not compiled again.
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
  constexpr std::int64_t columns = 64, rounded = 40;  // rows of 40 in a temporary have a stride that is longer
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
    if (d == tt::DType::bf16) arithmetic(x);  // C converts f16 through memory, which takes a fifth longer than the interpreter if nothing else is computed
  }
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::f16, tt::DType::i64, tt::DType::i32, tt::DType::u8, tt::DType::boolean})
    extremes(tt::rand({6, columns}).to(d));
  extremes(tt::rand({columns, columns}));  // equal sizes are one symbol
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64}) formulas(tt::rand({6, columns}, d));
  images();
}
/// Collects the kernels of all programs that have run. False: some programs have been evicted.
bool collect_all() {
  name_arguments();
  tt::detail::FunctionTable& table = tt::detail::function_table();
  const auto reading = table.read();
  table.each([](const tt::detail::KeptFunction& k) {
    if (k.function && arguments.contains(k.op->name())) collect(*k.function, k.op->name());
    else if (k.function) others.insert(k.op->name());
    return false;
  });
  return table.evicted() == 0 && table.refused() == 0;
}

std::string name_of(const std::string& set, const tt::ContentHash& hash) { return "tt_" + set + '_' + hash.hex().c_str(); }

/// Writes all kernels under names of an instruction set, into `files` files.
void write_set(const std::string& folder, const std::string& set, int files) {
  std::vector<tt::Vec<tt::NamedPlan>> plans(static_cast<std::size_t>(files));
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const auto& [hash, f] : found) {
    names.push_back(name_of(set, hash));
    plans[names.size() % plans.size()].push_back({&f.kernel.plan, names.back().c_str()});
  }
  for (int part = 0; part < files; ++part) {
    tt::Text text;
    text << "#pragma GCC visibility push(hidden)\n#define zero tt_" << set.c_str() << "_zero_" << part << '\n' << tt::emit_c(plans[static_cast<std::size_t>(part)]);
    write(folder + '/' + set + '_' + std::to_string(part) + ".c", text);
  }
}
/// Writes the specialisations of tt::cpu::use_library_kernels for each op: the linker leaves out the kernels of ops that a program does not use.
void write_tables(const std::string& folder, const std::vector<std::string>& sets) {
  tt::Text text;
  text << "#include \"tt/dispatch/eager.hpp\"\n\nextern \"C\" {\n#pragma GCC visibility push(hidden)\n";
  for (const std::string& set : sets)
    for (const auto& [hash, f] : found) text << "void " << name_of(set, hash).c_str() << "_0(void* const*, const std::int64_t*, const std::int64_t*);\n";
  text << "#pragma GCC visibility pop\n}\nnamespace tt::cpu {\nconst bool library_has_kernels = true;\n";
  std::map<std::string, std::vector<tt::ContentHash>> kernels;
  for (const auto& [hash, f] : found)
    for (const std::string& op : f.ops) kernels[arguments.at(op)].push_back(hash);
  for (const auto& [op, list] : kernels) {
    const auto count = static_cast<int>(list.size());
    text << "template <>\nvoid use_library_kernels<" << op.c_str() << ">() {\n";
    for (const std::string& set : sets) {
      text << "  static const LibraryKernel " << set.c_str() << "[] = {\n";
      for (const tt::ContentHash& h : list) {
        const tt::Text hex = h.hex();
        text << "    {0x";
        text.append(hex.begin(), 16);
        text << "u, 0x";
        text.append(hex.begin() + 16, 16);
        text << "u, reinterpret_cast<void*>(&" << name_of(set, h).c_str() << "_0)},\n";
      }
      text << "  };\n";
    }
    text << "  static constinit LibraryKernels all{";
    for (const std::string& set : sets) text << '.' << set.c_str() << " = {" << set.c_str() << ", " << count << "}, ";
    text << "};\n  all.use();\n}\n";
  }
  write(folder + "/tables.cpp", text << "}  // namespace tt::cpu\n");
}

}  // namespace

int main(int count, char** word) {
  if (count < 4) return 2;
  run_samples();
  if (!collect_all()) {
    std::fprintf(stderr, "more programs ran than are kept: run fewer samples at a time\n");
    return 1;
  }
  const std::vector<std::string> sets(word + 3, word + count);
  for (const std::string& set : sets) write_set(word[1], set, std::atoi(word[2]));
  write_tables(word[1], sets);
  std::printf("%d kernels; none of", static_cast<int>(found.size()));
  for (const std::string& op : others) std::printf(" %s", op.c_str());
  std::puts("");
}
