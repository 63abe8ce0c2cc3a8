// docs/ops.md is what the operators are found to do: this program calls them on the recorded samples, makes the table, and compares. With TT_WRITE_OPS set it
// writes the table instead. Long, as the lists of those that may lack something are here too, beside the columns that they are of.
#include "operator_cases.hpp"
#include "tt/backends/cuda/emit_cuda.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/batch.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/control.hpp"
#if __has_include(<kissfft/kissfft.hh>)
#include "tt/dispatch/stft.hpp"
#endif

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

using namespace operator_cases;

namespace {

struct Row {
  std::set<std::string> dtypes;
  int cases = 0, agree = 0;
  bool takes_tensors = false, takes_floats = false;
  bool in_place = false, out = false;  ///< calls of the name with _ behind it, and with out=, were made
  std::string gradient, second, batched, captured, cuda, array, example;
};
const char* const not_differentiable = "no: not differentiable";
const char* const integers_only = "no: integers only";
const char* const depends_on_data = "no: size depends on data";
/// Those that may say so.
const std::set<std::string> of_data{"argwhere", "bincount", "masked_select", "nonzero", "reduce_by_key", "unique", "unique_consecutive"}, once_differentiable{"ctc_loss"};
/// Results that are whole numbers, truths, places, steps or counts, that are made of no argument, drawn, or PyTorch's without a derivative either.
const std::set<std::string> without_gradient{
    "all", "allclose", "any", "arange", "argmax", "argmin", "argsort", "argwhere", "bernoulli", "bitcast", "bool", "bucketize", "byte", "cauchy", "char", "count_nonzero",
    "detach", "empty", "empty_like", "empty_permuted", "empty_strided", "eq", "equal", "exponential", "eye", "full", "full_like", "ge", "geometric", "geqrf", "greater",
    "greater_equal", "gt", "histc", "int", "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "item", "le", "linalg_ldl_factor",
    "linalg_ldl_factor_ex", "linalg_matrix_rank", "linspace", "log_normal", "logical_and", "logical_not", "logical_or", "logical_xor", "logspace", "long", "lt", "masked_argmax",
    "masked_argmin", "multinomial", "ne", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "nonzero", "nonzero_static", "normal_", "ones", "ones_like",
    "poisson", "rand", "randint", "randint_like", "randn", "randperm", "reduce_by_key", "resize_", "resize_as_", "scalar_tensor", "searchsorted", "set_", "short",
    "signal_windows_bartlett", "signal_windows_blackman", "signal_windows_cosine", "signal_windows_exponential", "signal_windows_gaussian", "signal_windows_general_cosine",
    "signal_windows_general_hamming", "signal_windows_hamming", "signal_windows_hann", "signal_windows_kaiser", "signal_windows_nuttall", "signbit", "special_airy_ai",
    "special_chebyshev_polynomial_t", "special_chebyshev_polynomial_u", "special_chebyshev_polynomial_v", "special_chebyshev_polynomial_w", "special_hermite_polynomial_h",
    "special_hermite_polynomial_he", "special_laguerre_polynomial_l", "special_legendre_polynomial_p", "special_shifted_chebyshev_polynomial_t",
    "special_shifted_chebyshev_polynomial_u", "special_shifted_chebyshev_polynomial_v", "special_shifted_chebyshev_polynomial_w", "special_spherical_bessel_j0", "tril_indices",
    "triu_indices", "uniform", "unique", "zero", "zeros", "zeros_like"};
/// Those of integers, or of bits.
const std::set<std::string> of_integers{
    "__lshift__", "__rshift__", "bincount", "bit_and", "bit_or", "bit_xor", "bitwise_left_shift", "bitwise_not", "bitwise_right_shift", "gcd", "integer_pow", "lcm", "one_hot",
    "pack_int4", "philox", "random_", "shift_left", "shift_right", "shift_right_logical", "unpack_int4", "unpack_uint4", "unravel_index"};
/// Where elements lie, and what is drawn one element after the other, is no matter of graphs: a captured function ends its graph before them, runs them, and goes on; `explain` counts it.
const std::set<std::string> between_graphs{"as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter", "empty_strided", "new_empty_strided", "resize_", "resize_as_", "set_",
                                           "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"};
/// What nobody wrote may differ from call to call.
const std::set<std::string> unwritten{"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"};

/// Fourier transforms, which kissfft's header brings: the functions of C++ under their names.
#if __has_include(<kissfft/kissfft.hh>)
template <auto>
const char* there(const char* name) { return name; }
const std::set<std::string> fourier{there<&tt::fft::fft>("fft_fft"), there<&tt::fft::ifft>("fft_ifft"), there<&tt::fft::rfft>("fft_rfft"), there<&tt::fft::irfft>("fft_irfft"),
                                    there<&tt::fft::hfft>("fft_hfft"), there<&tt::fft::ihfft>("fft_ihfft"), there<&tt::fft::fft2>("fft_fft2"), there<&tt::fft::ifft2>("fft_ifft2"),
                                    there<&tt::fft::rfft2>("fft_rfft2"), there<&tt::fft::irfft2>("fft_irfft2"), there<&tt::fft::hfft2>("fft_hfft2"), there<&tt::fft::ihfft2>("fft_ihfft2"),
                                    there<&tt::fft::fftn>("fft_fftn"), there<&tt::fft::ifftn>("fft_ifftn"), there<&tt::fft::rfftn>("fft_rfftn"), there<&tt::fft::irfftn>("fft_irfftn"),
                                    there<&tt::fft::hfftn>("fft_hfftn"), there<&tt::fft::ihfftn>("fft_ihfftn"), there<&tt::fft::fftshift>("fft_fftshift"), there<&tt::fft::ifftshift>("fft_ifftshift"),
                                    there<&tt::stft<>>("stft"), there<&tt::istft<>>("istft")};
#else
const std::set<std::string> fourier;
#endif
bool is_fourier(const std::string& name) { return name.starts_with("fft_") || name == "stft" || name == "istft"; }

int alike = 0;  ///< calls with two examples that are the same, as another one is not taken

template <class F>
bool holds(const F& f) {
  try {
    return f();
  } catch (const tt::Exception&) {
    return false;
  }
}

Tensors tensors(const Case& c) {
  Tensors all = tensors_of(c);
  for (Tensor& x : all) x = x.detach();
  return all;
}
/// The first result of the same call with these Tensors; those behind them, if there are fewer, are as recorded.
Tensor result_with(const Case& c, const Tensors& given) {
  Case own = c;
  std::size_t next = 0;
  each_tensor(own, [&](const Tensor& t) { return next < given.size() ? given[next++] : t.detach(); });
  return results(own)[0];
}
/// The results with these in the place of the leaves, weighted and summed.
Tensor weighted_with(const Case& c, const Tensors& leaves) {
  Case own = c;
  each_tensor(own, [&](const Tensor& t) {
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (t.is_same(c.leaves[k])) return leaves[k];
    return t;
  });
  return weighted(own, comparable(own, results(own)));
}
Tensor a_little_above_one(const Tensor& t) {
  const Tensor a = t.detach().to(DType::f64).abs();
  return (a + 1) / (a + 2) + 0.6;
}
/// By differences, where PyTorch's sample lies, where elements are a little above 1, or of the symmetric part of matrices.
bool has_second_gradient(const Case& c) {
  Tensors near;
  for (const Tensor& t : c.leaves) near.push_back(a_little_above_one(t).requires_grad_(t.requires_grad()));
  const auto plain = [&](const Tensors& leaves) { return weighted_with(c, leaves); };
  const auto symmetric = [&](Tensors leaves) {
    for (Tensor& t : leaves)
      if (t.dim() >= 2 && t.size(-1) == t.size(-2)) t = (t + t.mT()) / 2;
    return weighted_with(c, leaves);
  };
  const bool cast = tt::size_of(c.results[0].dtype()) < 8;  // its derivative is the same everywhere, and rounded
  const double step = cast ? 0.25 : 1e-6, relative = cast ? 1e-2 : 1e-3;
  return holds([&] { return tt::gradgradcheck(plain, c.leaves, step, 1e-4, relative); }) || holds([&] { return tt::gradgradcheck(plain, near, step, 1e-4, relative); }) ||
         holds([&] { return tt::gradgradcheck(symmetric, c.leaves, step, 1e-4, relative); });
}
/// A gradient that PyTorch does not record: by some of the arguments, where they are a little above 1.
bool has_own_gradient(const Case& c) {
  for (std::size_t k = 0; k < c.leaves.size(); ++k) {
    const auto f = [&](const Tensors& one) {
      Tensor sum;
      Case own = c;
      each_tensor(own, [&](const Tensor& t) { return t.is_same(c.leaves[k]) ? one[0] : t.is_floating_point() ? a_little_above_one(t) : t; });
      for (const Tensor& r : comparable(own, results(own)))
        if (r.is_floating_point()) sum = sum.defined() ? sum + r.sum() : r.sum();
      return sum;
    };
    const Tensors one{a_little_above_one(c.leaves[k]).requires_grad_()};
    if (holds([&] { return f(one).requires_grad() && tt::gradcheck(f, one, 1e-6, 1e-4, 1e-3); })) return true;
  }
  return false;
}
/// What sets no seed: within what is captured that would end the graph.
Case unseeded(Case c) {
  c.drawn = false;
  return c;
}
/// Of two examples: the first Tensor, and another one that the operator takes too: floats a little smaller, what is whole from the last element to the first.
bool is_batched(const Case& c, const Tensors& given) {
  return holds([&] {
    const Tensor one = result_with(c, given);
    Tensor other = one, changed = given.empty() ? Tensor() : given[0];
    if (!given.empty()) {
      const Tensor x = changed.is_floating_point() ? (changed * 0.875 + 0.0625).to(changed.dtype()) : changed.reshape({-1}).flip({0}).reshape(changed.shape());
      const bool taken = holds([&] {
        other = result_with(c, {x});
        return other.shape() == one.shape();
      });
      if (taken) changed = x;
      else other = one, ++alike;
    }
    const Tensor x = given.empty() ? tt::zeros({2}) : tt::stack({given[0], changed});
    const Tensor both = tt::vmap(tt::frozen([free = unseeded(c), n = given.size()](const Tensor& t) { return n ? result_with(free, {t}) : result_with(free, {}); }), {.randomness = c.drawn ? "different" : "error"})(x);
    return difference(both.select(0, 0), one, !c.drawn).empty() && difference(both.select(0, 1), other, !c.drawn).empty();
  });
}
/// Is its batch a loop over the examples: in the graph, or outside of one where the call looks at elements?
bool loops_over_examples(const Case& c, const Tensors& given) {
  if (given.empty()) return false;
  try {
    const tt::Graph one = tt::trace([free = unseeded(c)](const Tensors& t) { return result_with(free, t); }, given).graph;
    const auto loops = [](const tt::Graph& g) {
      int n = 0;
      for (int i = 0; i < g.size(); ++i) n += tt::is_control(g[i]) && tt::control_of(g[i]).kind == tt::Control::scan;
      return n;
    };
    return loops(tt::vmap_of(one, {0}, tt::Extent(2))) > loops(one);
  } catch (const tt::InternalError&) {
    throw;
  } catch (const tt::Exception&) {
    return true;
  }
}
/// Is it one graph, or what lies between two? The result is the eager one's; what is drawn from one seed has its bits.
std::string captured_as(const Case& c, const Tensors& given) {
  try {
    auto compiled = tt::compile(tt::frozen([free = unseeded(c), n = given.size()](const Tensor& t) { return n ? result_with(free, {t}) : result_with(free, {}); }));
    if (c.drawn) tt::manual_seed(seed_of_draws);
    const Tensor once = compiled(given.empty() ? tt::zeros({2}) : given[0]), want = result_with(c, given);
    if (!difference(once, want, !c.drawn).empty() || (c.drawn && !unwritten.contains(c.name) && !same_bits(once, want))) return "no";
    const tt::Text text = compiled.explain();
    return std::string(text.begin(), static_cast<std::size_t>(text.size())).find("graph breaks") == std::string::npos ? "yes" : "external";
  } catch (const tt::Exception&) {
    return "no";
  }
}
/// Can its graph be written as CUDA text? external: it calls kernels of their own, which are the device's, or run on the host and are counted.
std::string on_cuda(const Case& c, const Tensors& given) {
  try {
    tt::Graph graph = tt::trace([free = unseeded(c)](const Tensors& t) { return result_with(free, t); }, given).graph;
    for (int i = graph.size() - 1; i >= 0; --i)  // of Tensors on a device labels are not looked at
      if (i < graph.size() && tt::is_external(graph[i]) && std::string(graph[i].def->info.name) == "_check_labels") graph = tt::replace(graph, i, graph[i].operand[0]);
    try {
      const tt::Plan plan = tt::compile_plan(graph, {.transposed = tt::Transposed::as_it_lies});
      return tt::cuda::emit_cuda({{&plan, "op"}}).size() > 0 ? "yes" : "no";
    } catch (const tt::Exception& e) {
      return contains(e.what(), "kernel of its own") ? "external" : "no";
    }
  } catch (const tt::Exception&) {
    return depends_on_data;
  }
}

/// Where the call can be recorded: is its graph legal, and does its text read back to it?
bool has_text(const Case& c, const Tensors& given) {
  tt::Graph graph;
  try {
    graph = tt::trace([free = unseeded(c)](const Tensors& t) { return result_with(free, t); }, given).graph;
  } catch (const tt::InternalError&) {
    return false;
  } catch (const tt::Exception&) {
    return true;
  }
  return holds([&] { return (tt::check)(graph) && tt::parse(tt::to_string(graph)) == graph; });
}

/// A copy of a Tensor whose elements are those of an Array of its dtype and rank.
template <class T, std::size_t... Axis>
Tensor through_array(const Tensor& t, std::index_sequence<Axis...>) { return tt::as_tensor(tt::to_array<tt::Array<T, (static_cast<void>(Axis), tt::dyn)...>>(t)); }
Tensor through_array(const Tensor& t) {
  Tensor r;
  tt::with_dtype(t.dtype(), [&]<class T>(T) {
    switch (t.dim()) {
      case 0: r = through_array<T>(t, std::make_index_sequence<0>{}); break;
      case 1: r = through_array<T>(t, std::make_index_sequence<1>{}); break;
      case 2: r = through_array<T>(t, std::make_index_sequence<2>{}); break;
      case 3: r = through_array<T>(t, std::make_index_sequence<3>{}); break;
      case 4: r = through_array<T>(t, std::make_index_sequence<4>{}); break;
      case 5: r = through_array<T>(t, std::make_index_sequence<5>{}); break;
      default: FAIL("rank " << t.dim());
    }
  });
  return r;
}
/// Arrays go through as_tensor, and what comes back through to_array: a call by name.
bool takes_arrays_by_name(const Case& c, Tensors given) {
  return holds([&] {
    for (Tensor& t : given) t = through_array(t);
    return difference(through_array(result_with(c, given)), c.results[0], !c.drawn).empty();
  });
}
std::set<std::string> array_functions() {
  std::set<std::string> names;
  std::ifstream list("tests/data/array_functions.txt");
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}
/// What a view of an Array gives is a copy.
std::string without_copy(const std::string& name) { return name.ends_with("_copy") ? name.substr(0, name.size() - 5) : name; }
/// Operators with a body are functions of Arrays too; expr/small_linalg.hpp has the last four.
bool has_array_function(const std::string& name) {
  static const std::set<std::string> told_in_types = array_functions();
  if (told_in_types.contains(name) || told_in_types.contains(without_copy(name))) return true;
  const tt::Operator* const op = tt::Dispatcher::get().lookup(name.c_str());
  if (op && (op->body || op->primitive != tt::Op::input || (op->record_named && !op->external))) return true;
  return name == "linalg_inv" || name == "linalg_solve" || name == "linalg_det" || name == "linalg_cholesky";
}
std::map<std::string, std::string> onnx_names() {
  std::map<std::string, std::string> names;
  std::ifstream list("tests/data/onnx_names.txt");
  for (std::string name, other, line; std::getline(list, line);)
    if (std::istringstream in(line); line[0] != '#' && in >> name >> other) names[name] = other;
  return names;
}
/// Which forms PyTorch has of each name.
std::map<std::string, std::set<std::string>> pytorch_forms() {
  std::map<std::string, std::set<std::string>> forms;
  std::ifstream list("tests/data/pytorch_forms.txt");
  for (std::string line; std::getline(list, line);)
    if (std::istringstream in(line); line[0] != '#')
      for (std::string name, form; in >> (name.empty() ? name : form);)
        if (!form.empty()) forms[name].insert(form);
  return forms;
}
/// "function exp", "method exp_": tools/check_names.sh finds what is listed declared, and nothing else.
std::set<std::string> declared_names() {
  std::set<std::string> names;
  std::ifstream list("tests/pytorch_names.txt");
  for (std::string line; std::getline(list, line);) names.insert(line);
  return names;
}
/// PyTorch's name of what has another one here.
std::string pytorch_name(const std::string& name) {
  if (name == "bit_and" || name == "bit_or" || name == "bit_xor") return "bitwise" + name.substr(3);
  return name;
}
bool pytorch_has(const std::string& form, const std::string& called) {
  static const auto forms = pytorch_forms();
  const std::string name = pytorch_name(called);
  const auto at = forms.find(name.ends_with('_') && !name.ends_with("__") ? name.substr(0, name.size() - 1) : name);
  return at != forms.end() && at->second.contains(form);
}
struct Forms {
  std::string function, method, in_place, out;  ///< yes, no, or empty where PyTorch has none
};
Forms forms_of(const std::string& called, const Row& row) {
  static const auto declared = declared_names();
  static const std::set<std::string> keywords{"bool", "char", "double", "float", "int", "long", "short"}, operators{"__lshift__", "__rshift__"}, properties{"H", "T"};
  const std::string name = pytorch_name(called);
  const bool writes = name.ends_with('_') && !name.ends_with("__");
  const auto has = [&](const char* form) { return pytorch_has(form, called); };
  const auto is_declared = [&](const std::string& kind) { return declared.contains(kind + name) ? "yes" : keywords.contains(name) ? "no: a keyword" : operators.contains(name) ? "no: an operator" : properties.contains(name) ? "no: a property" : fourier.contains(name) ? "no: a function alone" : "no"; };
  Forms f;
  if (writes) {
    if (has("in_place")) f.method = is_declared("method ");
    return f;
  }
  if (has("function")) {
    f.function = fourier.contains(name) ? "yes" : is_declared("function ");
    for (const char* const room : {"linalg_", "masked_", "signal_windows_", "special_"})
      if (f.function == "no" && name.starts_with(room) && declared.contains(std::string(room, std::strlen(room) - 1) + ' ' + name.substr(std::strlen(room)))) f.function = "yes";
  }
  if (has("method")) f.method = is_declared("method ");
  if (has("in_place")) f.in_place = !row.in_place ? "no" : declared.contains("method " + name + '_') ? "yes" : "by name";
  if (has("out")) f.out = row.out ? "yes" : "no";
  return f;
}
/// The first argument is written, and holds what PyTorch gives.
bool is_in_place(const Case& c) {
  if (c.results.size() != 1 || c.arguments.empty() || !c.arguments[0].is_tensor()) return false;
  return holds([&] {
    Case own = c;
    const Tensor target = c.arguments[0].tensor().detach().clone();
    own.arguments[0] = target;
    return tt::call_results((c.name + '_').c_str(), own.arguments, named_values(own))[0].is_same(target) && difference(target, c.results[0].to(target.dtype()), !c.drawn).empty();
  });
}
/// Is a Tensor named out written, or each of several?
bool takes_out(const Case& c) {
  return holds([&] {
    Case own = c;
    Tensors targets;
    const Tensors plain = results(c);
    for (std::size_t k = 0; k < c.results.size(); ++k) targets.push_back(tt::zeros_like(plain[k].detach()));
    own.named.emplace_back("out", targets.size() == 1 ? BoxedValue(targets[0]) : BoxedValue(targets));
    const Tensors r = results(own), shown = comparable(c, targets);
    for (std::size_t k = 0; k < targets.size(); ++k)
      if (!r[k].is_same(targets[k]) || !difference(shown[k], c.results[k], !c.drawn).empty()) return false;
    return true;
  });
}
/// As it is written, with dtypes and shapes in the place of Tensors.
std::string written(const BoxedValue& v) {
  std::ostringstream text;
  const auto tensor = [&](const Tensor& t) { text << tt::name(t.dtype()) << shape(t); };
  const auto list = [&](const auto& all, const auto& each) {
    text << '{';
    bool first = true;
    for (const auto& x : all) text << (first ? "" : ", "), each(x), first = false;
    text << '}';
  };
  if (v.is_tensor()) tensor(v.tensor());
  else if (v.is_tensors()) list(v.tensors(), tensor);
  else if (v.is_boolean()) text << (v.integer() != 0 ? "true" : "false");
  else if (v.is_integer()) text << v.integer();
  else if (v.is_number()) text << v.real();
  else if (v.is_list()) list(v.list().hints(), [&](std::int64_t n) { text << n; });
  else if (v.is_reals()) list(v.reals(), [&](double n) { text << n; });
  else if (v.is_dtype()) text << tt::name(static_cast<DType>(v.integer()));
  else if (v.is_text()) text << '"' << v.text() << '"';
  else text << "none";
  return text.str();
}
std::string written(const Case& c) {
  std::string text;
  for (const BoxedValue& v : c.arguments) text += (text.empty() ? "" : ", ") + written(v);
  for (const auto& [name, v] : c.named) text += (text.empty() ? "" : ", ") + name + '=' + written(v);
  return '`' + text + '`';
}

void add_rows(std::map<std::string, Row>& rows, const char* path, bool drawn) {
  Cases cases(path);
  for (Case c; cases.next(c);) {
    c.drawn = drawn;
    const std::string name = tt::detail::registered_name(c.name);
    Row& row = rows[name];
    ++row.cases;
    if (!holds([&] { return check_case(c).empty(); })) continue;
    if (drawn && !unwritten.contains(name)) CHECK(same_bits(results(c)[0].detach(), results(c)[0].detach()));
    ++row.agree;
    for (Tensor& t : c.leaves) t.zero_grad();
    if (!c.arguments.empty() && c.arguments[0].is_tensor()) row.dtypes.insert(tt::name(c.arguments[0].tensor().dtype()));
    if (row.example.empty() || (c.arguments.size() + c.named.size() > 1 && row.example.find(',') == std::string::npos)) row.example = written(c);
    const Tensors given = tensors(c);
    row.takes_tensors |= !given.empty();
    row.takes_floats |= !c.leaves.empty();
    std::int64_t elements = 0;
    for (const Tensor& t : c.leaves) elements += t.numel();
    const bool small = elements > 0 && elements <= 100;
    if (!c.gradients.empty()) row.gradient = "yes";
    else if (row.gradient != "yes" && small) row.gradient = has_own_gradient(c) ? "yes" : not_differentiable;
    if (!c.gradients.empty() && small && row.second != "yes") row.second = has_second_gradient(c) ? "yes" : not_differentiable;
    const tt::NoGrad off;
    row.in_place = row.in_place || (pytorch_has("in_place", name) && is_in_place(c));
    row.out = row.out || (pytorch_has("out", name) && takes_out(c));
    if (row.captured != "yes") row.captured = captured_as(c, given);
    if (row.captured == "external" && !between_graphs.contains(name)) row.captured = depends_on_data;
    if (row.batched != "no") row.batched = !is_batched(c, given) ? "no" : row.batched == "external" || loops_over_examples(c, given) ? "external" : "yes";
    CHECK_MESSAGE(has_text(c, given), doctest::String((name + written(c)).c_str()));
    if (row.cuda != "external")
      if (const std::string cuda = between_graphs.contains(name) ? "external" : on_cuda(c, given); row.cuda.empty() || row.cuda == depends_on_data || cuda == "external") row.cuda = cuda;
    if ((row.array.empty() || row.array == "no") && !c.results.empty()) row.array = has_array_function(name) ? "yes" : takes_arrays_by_name(c, given) ? "external" : "no";
  }
}

/// Every name of docs/ops_plan.txt has a row, or "name: reason" stands there.
void check_plan(const std::map<std::string, Row>& rows) {
  std::ifstream plan("docs/ops_plan.txt");
  std::set<std::string> reasons;
  std::vector<std::string> planned;
  for (std::string line, name; std::getline(plan, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    if (const std::size_t colon = line.find(": "); colon != std::string::npos) reasons.insert(line.substr(0, colon));
    else
      while (in >> name) planned.push_back(name);
  }
  CHECK(planned.size() > 550);
  std::set<std::string> called;
  for (const tt::OpSchema& s : tt::ops())
    if (rows.contains(s.name)) called.insert(s.name);
  for (const std::string& given : planned) {
    const std::string name = tt::detail::registered_name(given);
    if (fourier.empty() && is_fourier(name)) continue;
    const bool has_row = called.contains(name) || (name.ends_with('_') && called.contains(name.substr(0, name.size() - 1)));
    CHECK_MESSAGE(has_row != reasons.contains(given), doctest::String((given + (has_row ? ": has a row, and a reason" : ": is planned, and has no row")).c_str()));
    reasons.erase(given);
  }
  for (const std::string& name : reasons) FAIL_CHECK(name << ": has a reason, and is not planned");
}

std::string table() {
  std::map<std::string, Row> rows;
  add_rows(rows, "tests/data/operators.txt", false);
  add_rows(rows, "tests/data/drawn_operators.txt", true);
  if (!fourier.empty()) add_rows(rows, "tests/data/fft_operators.txt", false);
  check_plan(rows);
  std::string text = "# Operators by name\n\n"
                     "Made by `tests/test_operator_table.cpp` from calls of PyTorch's (`tests/data/operators.txt`, `drawn_operators.txt` and `fft_operators.txt`): what was called and agreed, no more. A cell says yes, external, or no with its reason.\n"
                     "Function, method, in place, out=: empty where PyTorch has no such form (`tests/data/pytorch_forms.txt`). Function, method: `yes`: in C++ under the same name, as `tools/check_names.sh` finds (`linalg_inv` is `tt::linalg::inv`; so are `tt::special`, `tt::masked`,\n"
                     "for `signal_windows` `tt::windows`, and `tt::fft`, which `tt/dispatch/fft.hpp` and `stft.hpp` have, of complex numbers as pairs); `no`: by name only, with `tt::call`; `no: a keyword`: the name is one of C++, and the function of that dtype, or `x.to`, does the same; `no: an operator`: `x << y` and `x >> y`; `no: a property`: `x.t()`, `x.mT()` and `x.mH()` are there, as a name of one capital letter is one of a type;\n"
                     "`no: a function alone`: the header of Fourier transforms adds no methods. In place: the name with `_` behind it was called, and wrote its first argument; `by name`: and there is no such method. out=: was written, a list of Tensors where there are several results.\n"
                     "Gradient, second: by differences, or as PyTorch's. Captured: as one graph; `external`: between two, as it is written, which is counted. CUDA: the graphs of all calls were written as CUDA text; `external`: some call kernels of their own, the device's,\n"
                     "or the host's, which are counted. Array: `yes`: a function of static Arrays, which takes part in expressions and fused functions (`linalg_inv`, `solve`, `det` and `cholesky`, up to 8 x 8, run where they are called, and not inside of those); `external`: by name, as every operator, with\n"
                     "`tt::to_array<tt::Array<float, 3, 4>>(tt::call(\"cumsum\", {tt::as_tensor(a), 0}))`, which looks at the elements where they are and checks dtype and shape of the result. ONNX: what ONNX\n"
                     "calls it. An example of what the test calls ends the row.\n"
                     "Random operators have PyTorch's dtypes and shapes; from one seed two calls and a compiled one give the same bits, differences are taken with that seed, and vmap draws for each example. vmap: `external`: a loop over the examples, in the graph, or outside of one where a call looks at elements. Elements of `empty` and the like are not compared.\n"
                     "What `tt::ops()` lists is here, but for names that begin with one underscore: `__rdiv__`, `__rmatmul__`, `__rmod__` and `__rpow__` mean those. Second names, such as `absolute`, mean the first one's operator and have no row.\n\n"
                     "| operator | samples that agree | dtypes | function | method | in place | out= | gradient | second | vmap | captured | CUDA | Array | ONNX | takes | for instance |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const std::map<std::string, std::string> onnx = onnx_names();
  MESSAGE(alike << " calls were batched with two equal examples");
  CHECK(alike < 60);
  for (const tt::OpSchema& s : tt::ops())
    if (s.name[0] != '_' || s.name[1] == '_') CHECK_MESSAGE(rows.contains(s.name), doctest::String((std::string("no sample of ") + s.name).c_str()));
  for (const auto& [name, row] : rows) {
    for (const std::string& cell : {row.captured, row.cuda}) CHECK_MESSAGE((cell != depends_on_data || of_data.contains(name)), doctest::String(name.c_str()));
    CHECK_MESSAGE((row.gradient != "yes" || row.second != not_differentiable || once_differentiable.contains(name)), doctest::String(name.c_str()));
    CHECK_MESSAGE((row.batched != "no" && row.captured != "no" && row.cuda != "no" && row.array != "no"), doctest::String(name.c_str()));
    std::string takes;
    for (const tt::OpSchema& s : tt::ops())
      if (name == s.name) takes += (takes.empty() ? "`(" : " or `(") + std::string(s.arguments) + ")`";
    if (takes.empty()) continue;
    const std::set<std::string>& may_lack = row.takes_tensors && !row.takes_floats ? of_integers : without_gradient;
    CHECK_MESSAGE((row.gradient == "yes") != may_lack.contains(name), doctest::String((name + (row.gradient == "yes" ? ": has a gradient, and is listed" : ": no gradient was found")).c_str()));
    for (std::size_t at = 0; (at = takes.find('|', at)) != std::string::npos; at += 2) takes.insert(at, 1, '\\');
    const std::string gradient = !row.gradient.empty() ? row.gradient : row.takes_tensors && !row.takes_floats ? integers_only : not_differentiable;
    const Forms f = forms_of(name, row);
    std::string dtypes;
    for (const std::string& d : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + d;
    text += "| " + name + " | " + std::to_string(row.agree) + " of " + std::to_string(row.cases) + " | " + dtypes + " | " + f.function + " | " + f.method + " | " + f.in_place + " | " + f.out + " | " + gradient + " | " + (row.second.empty() ? gradient : row.second) + " | " + row.batched + " | " + row.captured +
            " | " + row.cuda + " | " + row.array + " | " + (onnx.contains(name) ? onnx.at(name) : "") + " | " + takes + " | " + row.example + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/ops.md is what operators do") {
  try {
    (void)tt::linalg::inv(tt::eye(2));
  } catch (const tt::Unavailable&) {
    MESSAGE("LAPACK is not installed: the table was not made [SKIPPED linalg]");
    return;
  }
  const std::string now = table();
  if (std::getenv("TT_WRITE_OPS")) {
    REQUIRE_MESSAGE(!fourier.empty(), "docs/ops.md has rows of Fourier transforms: install libkissfft-dev");
    std::ofstream("docs/ops.md") << now;
    return;
  }
  if (fourier.empty()) MESSAGE("libkissfft-dev is not installed: rows of Fourier transforms were not made [SKIPPED fft]");
  std::ifstream file("docs/ops.md");
  std::istringstream made(now);
  /// The next line, but of rows that could not be made.
  const auto next = [](std::istream& in) {
    std::string line;
    while (std::getline(in, line))
      if (!fourier.empty() || !line.starts_with("| ") || !is_fourier(line.substr(2, line.find(' ', 2) - 2))) return line + '\n';
    return std::string();
  };
  for (std::string x = " ", y = " "; !x.empty() || !y.empty();) {
    x = next(made), y = next(file);
    const std::string what = "stale, run with TT_WRITE_OPS=1: " + (x.empty() ? "no such line: " + y : x);
    CHECK_MESSAGE(x == y, doctest::String(what.c_str()));
  }
}
