// Operators by name on large operands, for a comparison with PyTorch 2: bench/pytorch/operators.py runs this program and PyTorch.
//   pytorch_operators bench/pytorch/operators.txt 1    for each line of the file: microseconds of one call, on so many threads
// An argument is a Tensor (kind:sizes), several of them "(a,b)", a list [1,2], a number, a word, or name=value. Kinds: x normal, p in (0, 1), u in (-1, 1), g above 1,
// b bool, c 8-bit integers, j integers, kN integers below N, s sorted; with t behind it (xt) it is transposed, with s every second column.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <tt/dispatch/algorithms.hpp>
#include <tt/dispatch/all_ops.hpp>
#include <tt/dispatch/boxed.hpp>
#include <tt/tt.hpp>

namespace {

using tt::Tensor;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}
Tensor tensor_of(const std::string& kind, tt::IntList sizes) {
  if (kind.size() > 1 && kind.back() == 't') return tensor_of(kind.substr(0, kind.size() - 1), sizes).t();
  if (kind.size() > 1 && kind.back() == 's') {
    const int last = sizes.size() - 1;
    sizes[last] = sizes[last] * 2;
    return tensor_of(kind.substr(0, kind.size() - 1), sizes).slice(last, 0, sizes[last], 2);
  }
  if (kind == "x") return tt::randn(sizes);
  if (kind == "p") return tt::rand(sizes) * 0.98 + 0.01;
  if (kind == "u") return tt::rand(sizes) * 1.98 - 0.99;
  if (kind == "g") return tt::rand(sizes) + 1.01;
  if (kind == "b") return tt::rand(sizes) < 0.5;
  if (kind == "c") return tt::randint(-128, 128, sizes).to(tt::DType::i8);
  if (kind == "j") return tt::randint(1, 1000, sizes);
  if (kind == "s") return tt::sort(tt::randn(sizes)).values;
  return tt::randint(0, std::atoi(kind.c_str() + 1), sizes);
}
tt::BoxedValue value_of(const std::string& text) {
  if (text[0] == '(') {
    std::vector<Tensor> all;
    for (const std::string& part : split(text.substr(1, text.size() - 2), ',')) all.push_back(value_of(part).tensor());
    return all;
  }
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    tt::IntList sizes;
    for (const std::string& n : split(text.substr(colon + 1), 'x')) sizes.push_back(std::atoll(n.c_str()));
    return tensor_of(text.substr(0, colon), sizes);
  }
  if (text[0] == '[') {
    tt::IntList list;
    for (const std::string& n : split(text.substr(1, text.size() - 2), ',')) list.push_back(std::atoll(n.c_str()));
    return list;
  }
  char* end = nullptr;
  if (const long long whole = std::strtoll(text.c_str(), &end, 10); *end == 0) return static_cast<std::int64_t>(whole);
  if (const double real = std::strtod(text.c_str(), &end); *end == 0) return real;
  return std::string_view(text);
}

/// The median of runs that take some milliseconds each.
template <class F>
double microseconds(const F& call) {
  using clock = std::chrono::steady_clock;
  const auto time = [&](int calls) {
    const auto begin = clock::now();
    for (int k = 0; k < calls; ++k) call();
    return std::chrono::duration<double, std::micro>(clock::now() - begin).count() / calls;
  };
  call();
  const int calls = std::clamp(static_cast<int>(5000 / time(2)), 1, 10000);
  std::vector<double> runs;
  for (int k = 0; k < 7; ++k) runs.push_back(time(calls));
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

}  // namespace

int main(int count, char** argument) {
  if (count != 3) return std::printf("usage: pytorch_operators operators.txt threads\n"), 1;
  tt::register_all_ops();
  tt::set_num_threads(std::atoi(argument[2]));
  tt::manual_seed(1);
  std::ifstream in(argument[1]);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = split(line, ' ');
    std::vector<tt::BoxedValue> positional;
    std::vector<std::string> names;
    std::vector<tt::NamedValue> named;
    names.reserve(words.size());
    try {
      for (std::size_t k = 1; k < words.size(); ++k) {
        const std::size_t equals = words[k].find('=');
        if (equals == std::string::npos) {
          positional.push_back(value_of(words[k]));
          continue;
        }
        const std::string value = words[k].substr(equals + 1);
        names.push_back(words[k].substr(0, equals));
        named.push_back({names.back().c_str(), value == "True" ? tt::BoxedValue(true) : value_of(value)});
      }
      const double time = microseconds([&] { (void)tt::call_results(words[0].c_str(), std::span<const tt::BoxedValue>(positional), std::span<const tt::NamedValue>(named)); });
      std::printf("%.2f\n", time);
    } catch (const tt::Error& e) {
      std::printf("nan %s\n", split(e.what(), '\n')[0].c_str());
    }
    std::fflush(stdout);
  }
}
