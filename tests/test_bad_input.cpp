// Calls by name with an argument that is wrong: for each operator with recorded samples, each of its arguments in turn is another dtype, rank, shape, axis, size, device or kind
// of value. Each gives a result or an Error of the library's that names the operator; never another exception, and never the end of the program. And each ends as in PyTorch
// (tests/data/wrong_calls.txt): with an error, or with a result of the same dtype. tests/wrong_calls_left.txt says of which operators how many calls do not, and why.
//   TT_WRONG_CALLS=calls.txt ./test_bad_input     writes the calls, for tests/data/record_wrong_calls.py
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operator_cases.hpp"
#include "tt/dispatch/functions.hpp"
#include "tt/tt.hpp"

// Sizes beyond memory are among the arguments: with the sanitizers, too, such an allocation fails and is no fault.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using namespace operator_cases;
using Values = std::vector<BoxedValue>;

/// What stands in the place of a value, of the same kind or of another one.
Values others(const BoxedValue& given) {
  if (given.is_tensor() && given.tensor().defined()) {
    const Tensor t = given.tensor();
    Values v{t.to(tt::Device{tt::DeviceType::meta}), t.unsqueeze(0), t.reshape({-1}), tt::full(t.shape(), 100, t.dtype()), Tensor(), tt::none, 3, -1, 0.5, "bogus", Tensors{t, t}};
    for (const DType d : {DType::i64, DType::boolean, DType::f16, DType::u8, DType::f32}) v.push_back(t.to(d));
    for (const tt::IntList& shape : {tt::IntList{}, tt::IntList{0}, tt::IntList{0, 3}, tt::IntList{2, 0, 3, 3}, tt::IntList{2, 3}}) v.push_back(tt::zeros(shape, t.dtype()));
    if (t.is_floating_point())
      for (const double number : {double(NAN), double(INFINITY), -100.0}) v.push_back(tt::full(t.shape(), number, t.dtype()));
    if (t.dtype() == DType::i64)
      for (const std::int64_t number : {INT64_MAX, INT64_MIN, std::int64_t{-1}}) v.push_back(tt::full(t.shape(), number, t.dtype()));
    return v;
  }
  if (given.is_tensors()) {
    const Tensor first = given.tensors().empty() ? tt::zeros({2}) : given.tensors()[0];
    return {Tensors{}, first, Tensors{first, tt::zeros({0})}, Tensors{first, tt::zeros({7, 7, 7}, DType::i64)}, Tensors{first, Tensor()}, 1, "bogus"};
  }
  if (given.is_text()) return {"bogus", "", 1, tt::none, tt::zeros({2})};
  if (given.is_list()) {
    return {tt::IntList{}, tt::IntList{-1}, tt::IntList{0, 0}, tt::IntList{INT64_MIN, INT64_MIN}, tt::IntList{INT64_MAX, INT64_MAX}, tt::IntList{1, 2, 3, 4, 5, 6, 7}, tt::IntList(std::vector<std::int64_t>(40, 1)), 1.5, "bogus", tt::none};
  }
  return {100, -100, 0, -1, 17, std::int64_t{1} << 40, INT64_MIN, INT64_MAX, 1.5, double(NAN), double(INFINITY), true, "bogus", tt::none, tt::IntList{1, 1}, tt::zeros({2})};
}

/// Does a message have the name of the operator: as it was called, without its room, or as it is registered?
bool names(const std::string& message, const std::string& called) {
  std::string whole = called;
  for (char& c : whole)
    if (c == '.') c = '_';
  const auto has = [&](std::string name) {
    while (name.ends_with('_')) name.pop_back();
    return message.find(name) != std::string::npos;
  };
  return has(whole) || has(called.substr(called.rfind('.') + 1)) || has(tt::detail::registered_name(called)) || (called == "sgn" && has("sign"));
}
/// How a call ended: E is an Error, a digit a result of that dtype (tt::DType). `fault`: what a call must never do.
char outcome(const Case& c, std::string& fault) {
  const tt::NoGrad off;
  try {
    const Tensors r = results(c);
    return r.empty() || !r[0].defined() ? '?' : static_cast<char>('0' + static_cast<int>(r[0].dtype()));
  } catch (const tt::InternalError& e) {
    fault = e.what();
  } catch (const tt::Exception& e) {
    const std::string said = e.what();
    if (!said.starts_with("tt::")) fault = "not ours: " + said;
    else if (!names(said, c.name)) fault = "the operator has no name: " + said;
  } catch (const std::exception& e) {
    fault = std::string("another exception: ") + e.what();
  }
  return 'E';
}

/// Can PyTorch be called so? Its Tensors are on the host there, and Python takes any object for true or false.
bool has_like(const BoxedValue& given, const BoxedValue& instead) {
  if (instead.is_tensor() && instead.tensor().defined() && instead.tensor().device().type != tt::DeviceType::cpu) return false;
  return !given.is_boolean() || instead.is_boolean();
}

/// f(call, what is wrong with it, is it PyTorch's too?) for each call of the operator that `given` is a sample of.
void each_wrong_call(Case given, const auto& f) {
  for (Tensor& t : given.leaves) t.requires_grad_(false);
  const std::size_t positional = given.arguments.size();
  for (std::size_t k = 0; k < positional + given.named.size(); ++k) {
    Case c = given;
    BoxedValue& place = k < positional ? c.arguments[k] : c.named[k - positional].second;
    const BoxedValue own = place;
    for (const BoxedValue& instead : others(own)) {
      place = instead;
      f(c, "argument " + std::to_string(k) + " is " + text_of(place).substr(0, 60), has_like(own, instead));
    }
  }
  Case c = given;
  c.arguments.push_back(1);
  f(c, "one more", true);
  c = given;
  c.named.emplace_back("bogus", 1);
  f(c, "an unknown name", true);
  if (!given.arguments.empty()) {
    c = given;
    c.arguments.pop_back();
    f(c, "one less", true);
  }
}
/// f(sample) for each operator: the first one that is computed.
void each_operator(const auto& f) {
  Cases cases("tests/data/operators.txt");
  std::set<std::string> seen;
  for (Case given; cases.next(given);) {
    if (seen.contains(given.name)) continue;
    try {
      (void)results(given);
    } catch (const tt::Exception&) {
      continue;
    }
    seen.insert(given.name);
    f(given);
  }
}
/// A file of lines that begin with a name: the rest of each. Lines with # are comments.
std::map<std::string, std::string> lines_by_name(const char* path) {
  std::map<std::string, std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const auto end = line.find(' '); !line.empty() && line[0] != '#') lines[line.substr(0, end)] = line.substr(end + 1);
  return lines;
}

}  // namespace

TEST_CASE("a wrong argument gives what PyTorch gives, and never more than an Error") {
  if (const char* path = std::getenv("TT_WRONG_CALLS")) {
    std::ofstream out(path);
    each_operator([&](const Case& given) {
      each_wrong_call(given, [&](const Case& c, const std::string&, bool known) {
        out << "case " << c.name << '\n' << (known ? "" : "unlike\n");
        for (const BoxedValue& v : c.arguments) out << "arg " << text_of(v) << '\n';
        for (const auto& [name, v] : c.named) out << "kw " << name << ' ' << text_of(v) << '\n';
        out << "end\n";
      });
    });
    return;
  }
  const auto recorded = lines_by_name("tests/data/wrong_calls.txt"), left = lines_by_name("tests/wrong_calls_left.txt");
  int calls = 0, alike = 0;
  std::set<std::string> called;
  each_operator([&](const Case& given) {
    called.insert(given.name);
    const auto theirs = recorded.find(given.name);
    const std::string outcomes = theirs == recorded.end() ? "" : theirs->second;
    std::size_t k = 0;
    int differing = 0;
    std::string differences;
    each_wrong_call(given, [&](const Case& c, const std::string& what, bool) {
      std::string fault;
      const char mine = outcome(c, fault), wanted = k < outcomes.size() ? outcomes[k] : '?';
      ++k, ++calls;
      CHECK_MESSAGE(fault.empty(), doctest::String((c.name + ", " + what + ": " + fault).c_str()));
      if (wanted == '?' || mine == '?') return;
      ++(wanted == mine ? alike : differing);
      if (wanted != mine) differences += std::string("\n  ") + what + ": " + mine + ", PyTorch " + wanted;
    });
    CHECK_MESSAGE(outcomes.size() == k, doctest::String((given.name + " has other calls than were recorded: tests/data/record_wrong_calls.py").c_str()));
    const auto listed = left.find(given.name);
    const int meant = listed == left.end() ? 0 : std::atoi(listed->second.c_str());
    CHECK_MESSAGE(differing == meant, doctest::String((given.name + ": " + std::to_string(differing) + " differ, listed are " + std::to_string(meant) + differences).c_str()));
  });
  for (const auto& [name, line] : left) CHECK_MESSAGE(called.contains(name), doctest::String((name + " is listed, and was not called").c_str()));
  REQUIRE(alike > 20000);
  MESSAGE(calls << " calls, " << alike << " end as in PyTorch");
}
