// docs/ops.md is what the operators are found to do: this program calls them on the recorded samples, makes the table, and compares. With TT_WRITE_OPS set it
// writes the table instead.
#include "operator_cases.hpp"
#include "tt/backends/cuda/emit_cuda.hpp"

#include <cstdlib>
#include <map>
#include <set>

using namespace operator_cases;

namespace {

struct Row {
  std::set<std::string> dtypes;
  int cases = 0, agree = 0;
  std::string gradient = "-", second = "-", batched = "-", captured = "-", cuda = "-", example;
};

/// yes, or no.
template <class F>
std::string found(const F& f) {
  try {
    return f() ? "yes" : "no";
  } catch (const tt::Exception&) {
    return "no";
  }
}
std::string second_gradient(const Case& c) {
  std::int64_t n = 0;
  for (const Tensor& t : c.leaves) n += t.numel();
  if (n > 16) return "-";
  return found([&] {
    const auto f = [&](const Tensors& leaves) {
      Case own = c;
      for (BoxedValue& v : own.arguments)
        for (std::size_t k = 0; k < leaves.size(); ++k)
          if (v.is_tensor() && v.tensor().is_same(c.leaves[k])) v = leaves[k];
      for (auto& [name, v] : own.named)
        for (std::size_t k = 0; k < leaves.size(); ++k)
          if (v.is_tensor() && v.tensor().is_same(c.leaves[k])) v = leaves[k];
      own.leaves = leaves;
      return weighted(own, results(own));
    };
    return tt::gradgradcheck(f, c.leaves, 1e-6, 1e-4, 1e-3);
  });
}
std::string batched(const Case& c, const Tensor& x) {
  return found([&] {
    const Tensor one = results_of(c, x)[0], both = tt::vmap(tt::frozen([c](const Tensor& t) { return results_of(c, t)[0]; }))(tt::stack({x, x}));
    return difference(both.select(0, 0), one).empty() && difference(both.select(0, 1), one).empty();
  });
}
std::string captured(const Case& c, const Tensor& x) {
  try {
    auto compiled = tt::compile(tt::frozen([c](const Tensor& t) { return results_of(c, t)[0]; }));
    (void)compiled(x);
    const tt::Text text = compiled.explain();
    return std::string(text.begin(), static_cast<std::size_t>(text.size())).find("graph breaks") == std::string::npos ? "yes" : "breaks";
  } catch (const tt::Exception&) {
    return "no";
  }
}

/// f of every Tensor among the arguments, in their order.
template <class F>
void each_tensor(Case& c, const F& f) {
  const auto of = [&](BoxedValue& v) {
    if (v.is_tensor() && v.tensor().defined()) v = f(v.tensor());
    if (v.is_tensors()) {
      Tensors list = v.tensors();
      for (Tensor& t : list) t = f(t);
      v = list;
    }
  };
  for (BoxedValue& v : c.arguments) of(v);
  for (auto& [name, v] : c.named) of(v);
}
/// Can its graph be written as CUDA? external: it calls kernels of their own, which are the device's, or run on the host and are counted.
std::string on_cuda(Case c) {
  Tensors given;
  each_tensor(c, [&](const Tensor& t) { return given.emplace_back(t.detach()); });
  try {
    const auto traced = tt::trace([&c](const Tensors& t) {
      Case own = c;
      std::size_t next = 0;
      each_tensor(own, [&](const Tensor&) { return t[next++]; });
      return results(own)[0];
    }, given);
    try {
      const tt::Plan plan = tt::compile_plan(traced.graph, {.transposed = tt::Transposed::as_it_lies});
      return tt::cuda::emit_cuda({{&plan, "op"}}).size() > 0 ? "yes" : "no";
    } catch (const tt::Exception& e) {
      return contains(e.what(), "kernel of its own") ? "external" : "no";
    }
  } catch (const tt::Exception&) {
    return "breaks";
  }
}
std::set<std::string> array_functions() {
  std::set<std::string> names;
  std::ifstream list("tests/data/array_functions.txt");
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}
/// Operators with a body are functions of Arrays too; expr/small_linalg.hpp has the last four.
bool takes_arrays(const std::string& name) {
  static const std::set<std::string> told_in_types = array_functions();
  if (told_in_types.contains(name)) return true;
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
  else if (v.is_list()) list(v.list().values(), [&](std::int64_t n) { text << n; });
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

std::string table() {
  std::map<std::string, Row> rows;
  Cases cases("tests/data/operators.txt");
  for (Case c; cases.next(c);) {
    Row& row = rows[tt::detail::registered_name(c.name)];
    ++row.cases;
    if (found([&] { return check_case(c).empty(); }) != "yes") continue;
    ++row.agree;
    if (c.arguments[0].is_tensor()) row.dtypes.insert(tt::name(c.arguments[0].tensor().dtype()));
    if (!c.gradients.empty()) {
      row.gradient = "yes";
      for (Tensor& t : c.leaves) t.zero_grad();
      if (row.second == "-") row.second = second_gradient(c);
    }
    if (row.example.empty() || (c.arguments.size() + c.named.size() > 1 && row.example.find(',') == std::string::npos)) row.example = written(c);
    if (c.arguments.empty() || !c.arguments[0].is_tensor() || c.arguments[0].tensor().dim() == 0 || row.captured != "-") continue;
    const tt::NoGrad off;
    const Tensor x = c.arguments[0].tensor().detach();
    row.captured = captured(c, x);
    row.batched = batched(c, x);
    row.cuda = on_cuda(c);
  }
  std::string text = "# Operators by name\n\n"
                     "Made by `tests/test_operator_table.cpp` from PyTorch's samples (`tests/data/operators.txt`): what was called and agreed, no more. `-`: nothing there to try.\n"
                     "`breaks`: a captured function ends its graph there, as it needs elements. CUDA: the graph of the call was written as CUDA text; `external`: it calls kernels of their own,\n"
                     "the device's, or the host's, which are counted. Array: it is a function of static Arrays too. ONNX: what ONNX calls it. An example of what the test calls ends the row.\n"
                     "Without samples: not in the table, but in `tt::ops()`.\n\n"
                     "| operator | samples that agree | dtypes | gradient | second | vmap | captured | CUDA | Array | ONNX | takes | for instance |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const std::map<std::string, std::string> onnx = onnx_names();
  for (const auto& [name, row] : rows) {
    std::string takes;
    for (const tt::OpSchema& s : tt::ops())
      if (name == s.name) takes += (takes.empty() ? "`(" : " or `(") + std::string(s.arguments) + ")`";
    if (takes.empty()) continue;
    for (std::size_t at = 0; (at = takes.find('|', at)) != std::string::npos; at += 2) takes.insert(at, 1, '\\');
    std::string dtypes;
    for (const std::string& d : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + d;
    text += "| " + name + " | " + std::to_string(row.agree) + " of " + std::to_string(row.cases) + " | " + dtypes + " | " + row.gradient + " | " + row.second + " | " + row.batched + " | " + row.captured +
            " | " + row.cuda + " | " + (takes_arrays(name) ? "yes" : "no") + " | " + (onnx.contains(name) ? onnx.at(name) : "") + " | " + takes + " | " + row.example + " |\n";
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
    std::ofstream("docs/ops.md") << now;
    return;
  }
  std::ifstream file("docs/ops.md");
  std::stringstream written;
  written << file.rdbuf();
  std::istringstream a(now), b(written.str());
  for (std::string x, y; std::getline(a, x);) {
    std::getline(b, y);
    const std::string what = "stale, run with TT_WRITE_OPS=1: " + x;
    CHECK_MESSAGE(x == y, doctest::String(what.c_str()));
  }
}
