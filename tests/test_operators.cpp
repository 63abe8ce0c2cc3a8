// Operators by name against what PyTorch gives for its own samples: values, dtypes, shapes and gradients, eager; and inside a compiled function the bits of
// the eager call. tests/operators_left.txt lists the operators of which some case differs or is missing, each with its reason; one that is not listed must agree in
// all cases, and one that agrees must not be listed. The same of cases at the edges (tests/data/edge_operators.txt, tests/edge_operators_left.txt). Calls that PyTorch refuses (tests/data/operator_errors.txt) are errors here; operators of which some
// such call means something are in tests/operator_errors_left.txt.
#include "operator_cases.hpp"

#include <array>
#include <map>
#include <set>

using namespace operator_cases;

namespace {

/// Names at the beginnings of lines, but of remarks.
std::set<std::string> names_in(const char* path) {
  std::set<std::string> names;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  return names;
}
/// Every case of a file agrees, but for some of the operators that a list names.
void check_cases(const char* path, const char* path_of_left, int at_least) {
  std::set<std::string> left = names_in(path_of_left), without;
  Cases cases(path);
  std::map<std::string, std::array<int, 2>> passed;
  std::map<std::string, std::string> first;
  int all = 0;
  for (Case c; cases.next(c); ++all) {
    std::string why;
    try {
      why = check_case(c);
    } catch (const tt::Unavailable& e) {
      if (contains(e.what(), "LAPACK cannot be opened")) {
        without.insert(c.name);
        continue;
      }
      why = e.what();
    } catch (const tt::Exception& e) {
      why = e.what();
    }
    auto& [good, count] = passed[c.name];
    ++count;
    good += why.empty();
    if (!why.empty() && !first.contains(c.name)) first[c.name] = why;
  }
  REQUIRE(all >= at_least);
  int whole = 0;
  if (!without.empty()) MESSAGE("LAPACK is not installed: " << without.size() << " operators were left out [SKIPPED linalg]");
  for (const auto& [name, count] : passed) {
    if (without.contains(name)) continue;
    const bool agrees = count[0] == count[1];
    whole += agrees;
    const std::string what = name + (agrees ? ": agrees, and is listed" : ": " + first[name]);
    CHECK_MESSAGE(agrees != left.contains(name), doctest::String(what.c_str()));
  }
  MESSAGE(whole << " of " << passed.size() << " operators agree in all of " << all << " cases");
}

}  // namespace

TEST_CASE("operators by name give what PyTorch gives") { check_cases("tests/data/operators.txt", "tests/operators_left.txt", 2500); }
TEST_CASE("so they do at NaN, infinities, zeros and where operands are equal, with gradients") { check_cases("tests/data/edge_operators.txt", "tests/edge_operators_left.txt", 250); }

TEST_CASE("what PyTorch refuses is refused") {
  std::map<std::string, std::string> left;
  std::ifstream list("tests/operator_errors_left.txt");
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#') left[line.substr(0, line.find(' '))] = line;
  Cases cases("tests/data/operator_errors.txt");
  std::map<std::string, bool> refused;
  int all = 0;
  for (Case c; cases.next(c); ++all) {
    bool threw = false;
    try {
      (void)results(c);
    } catch (const tt::Exception& e) {
      threw = !contains(e.what(), "no operator is called");
    }
    const auto [at, is_new] = refused.emplace(c.name, threw);
    at->second = at->second && threw;
    CHECK_MESSAGE((threw || left.contains(c.name)), doctest::String((c.name + ": nothing was said; PyTorch says: " + c.error).c_str()));
  }
  REQUIRE(all > 250);
  for (const auto& [name, line] : left) CHECK_MESSAGE(!refused[name], doctest::String((name + ": refuses all, and is listed").c_str()));
}

TEST_CASE("a compiled function gives the bits of the eager call") {
  Cases cases("tests/data/operators.txt");
  std::set<std::string> seen;
  int compared = 0;
  for (Case c; cases.next(c);) {
    if (!begins_with_floats(c)) continue;
    if (!seen.insert(c.name).second) continue;
    Tensors eager;
    try {
      const tt::NoGrad no_grad;
      eager = results(c);
    } catch (const tt::Exception&) {
      continue;  // the other test tells
    }
    const tt::NoGrad no_grad;
    auto compiled = tt::compile(tt::frozen([c](const Tensor& x) { return results_of(c, x)[0]; }));
    INFO(c.name);
    for (int call = 0; call < 2; ++call) CHECK(same_bits(compiled(c.leaves[0].detach()), eager[0]));
    ++compared;
  }
  MESSAGE(compared << " operators were compared");
}
