// docs/ops.md is what the operators are found to do: this program calls them on the recorded samples, makes the table, and compares. With TT_WRITE_OPS set it
// writes the table instead.
#include "operator_cases.hpp"

#include <cstdlib>
#include <map>
#include <set>

using namespace operator_cases;

namespace {

struct Row {
  std::set<std::string> dtypes;
  int cases = 0, agree = 0;
  std::string gradient = "-", second = "-", batched = "-", captured = "-";
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
    if (!begins_with_floats(c) || row.captured != "-") continue;
    const tt::NoGrad off;
    const Tensor x = c.leaves[0].detach();
    row.captured = captured(c, x);
    row.batched = batched(c, x);
  }
  std::string text = "# Operators by name\n\n"
                     "Made by `tests/test_operator_table.cpp` from PyTorch's samples (`tests/data/operators.txt`): what was called and agreed, no more. `-`: nothing there to try.\n"
                     "`breaks`: a captured function ends its graph there. Without samples: not in the table, but in `tt::ops()`.\n\n"
                     "| operator | samples that agree | dtypes | gradient | second | vmap | captured | takes |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, row] : rows) {
    std::string takes;
    for (const tt::OpSchema& s : tt::ops())
      if (name == s.name) takes += (takes.empty() ? "`(" : " or `(") + std::string(s.arguments) + ")`";
    if (takes.empty()) continue;
    for (std::size_t at = 0; (at = takes.find('|', at)) != std::string::npos; at += 2) takes.insert(at, 1, '\\');
    std::string dtypes;
    for (const std::string& d : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + d;
    text += "| " + name + " | " + std::to_string(row.agree) + " of " + std::to_string(row.cases) + " | " + dtypes + " | " + row.gradient + " | " + row.second + " | " + row.batched + " | " + row.captured +
            " | " + takes + " |\n";
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
