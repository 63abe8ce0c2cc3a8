// Calls by name with an argument that is wrong: for each operator with recorded samples, each of its arguments in turn is another dtype, rank, shape, axis, size, device or kind
// of value. Whatever comes, it is a result or an Error of the library's that names the operator; never another exception, and never the end of the program.
#include <cfloat>
#include <cstdint>
#include <map>
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

/// What is wrong with how a call ended, or nothing.
std::string outcome(const Case& c) {
  const tt::NoGrad off;
  try {
    (void)results(c);
  } catch (const tt::InternalError& e) {
    return e.what();
  } catch (const tt::Exception& e) {
    const std::string said = e.what();
    if (!said.starts_with("tt::")) return "not ours: " + said;
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a wrong argument gives a result or an Error of ours") {
  Cases cases("tests/data/operators.txt");
  std::map<std::string, int> seen;
  int calls = 0;
  for (Case given; cases.next(given);) {
    if (seen[given.name]++ > 0) continue;
    for (Tensor& t : given.leaves) t.requires_grad_(false);
    const auto attempt = [&](const Case& c, const std::string& what) {
      ++calls;
      const std::string wrong = outcome(c);
      CHECK_MESSAGE(wrong.empty(), doctest::String((c.name + ", " + what + ": " + wrong).c_str()));
    };
    const std::size_t positional = given.arguments.size();
    for (std::size_t k = 0; k < positional + given.named.size(); ++k) {
      Case c = given;
      BoxedValue& place = k < positional ? c.arguments[k] : c.named[k - positional].second;
      const Values instead = others(place);
      for (std::size_t j = 0; j < instead.size(); ++j) {
        place = instead[j];
        attempt(c, "argument " + std::to_string(k) + ", form " + std::to_string(j));
      }
    }
    Case c = given;
    c.arguments.push_back(1);
    attempt(c, "one more");
    c = given;
    c.named.emplace_back("bogus", 1);
    attempt(c, "an unknown name");
    if (!given.arguments.empty()) {
      c = given;
      c.arguments.pop_back();
      attempt(c, "one less");
    }
  }
  REQUIRE(calls > 10000);
  MESSAGE(calls << " calls");
}
