// Elementwise functions beside NumPy's tables of correctly rounded results, which come with NumPy and are not part of this repository:
// the largest error of each, counted as NumPy's own test does, in numbers between a result and the one in the table.
//   numpy_accuracy FOLDER     of umath-validation-set-*.csv: numpy/_core/tests/data of an installed NumPy
// Every table is evaluated as a Tensor, by an eager op, and as an Array, by an expression, which must give the same bits.
// There is no cbrt here. Exits with 1 where an error is larger than the tolerance in the table, with 2 where a table is missing.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <tt/tt.hpp>

#include "tt/ops/list.hpp"

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
struct Table {
  std::vector<T> inputs, results;
  int tolerance = 0;
};

/// The rows of one dtype: "np.float32,0xbddd7f50,0x3fd6eec2,3" is dtype, bits of the input, of the result, and a tolerance.
template <class T>
Table<T> read_table(const std::string& path) {
  Table<T> table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::stringstream row(line);
    std::string dtype, input, result, tolerance;
    std::getline(row, dtype, ',') && std::getline(row, input, ',') && std::getline(row, result, ',') && std::getline(row, tolerance);
    if (dtype != (sizeof(T) == 4 ? "np.float32" : "np.float64")) continue;
    const auto number = [](const std::string& bits) { return std::bit_cast<T>(static_cast<BitsOf<T>>(std::strtoull(bits.c_str(), nullptr, 16))); };
    table.inputs.push_back(number(input));
    table.results.push_back(number(result));
    table.tolerance = std::max(table.tolerance, std::atoi(tolerance.c_str()));
  }
  return table;
}

/// Numbers between two; infinite where one is NaN, and, unlike in NumPy, where one is -0 and one is 0.
template <class T>
double distance(T got, T want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : std::numeric_limits<double>::infinity();
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : std::numeric_limits<double>::infinity();
  const auto place = [](T x) {
    const auto size = static_cast<std::int64_t>(std::bit_cast<BitsOf<T>>(std::fabs(x)));
    return std::signbit(x) ? -size : size;
  };
  const std::int64_t a = place(got), b = place(want);
  return static_cast<double>(static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b)));
}
template <class T>
bool same(T a, T b) {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b) || (std::isnan(a) && std::isnan(b));
}

int status = 0;

template <class F, class T>
void check_dtype(const char* name, const std::string& path) {
  constexpr tt::Elementwise<F> op{};
  const Table<T> table = read_table<T>(path);
  const auto n = static_cast<std::int64_t>(table.inputs.size());
  if (n == 0) {
    std::printf("%-8s no rows of %s in %s\n", name, tt::name(tt::dtype_of<T>), path.c_str());
    status = 2;
    return;
  }
  tt::Tensor x = tt::empty({n}, tt::dtype_of<T>);
  tt::Array<T, tt::dyn> a(n);
  std::copy(table.inputs.begin(), table.inputs.end(), x.data_ptr<T>());
  std::copy(table.inputs.begin(), table.inputs.end(), a.begin());
  const tt::Tensor eager = op(x);
  const auto fused = tt::eval(op(a));
  double worst = -1;
  int rounded = 0, different = 0;
  T at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T got = eager.data_ptr<T>()[i], want = table.results[static_cast<std::size_t>(i)];
    const double error = distance(got, want);
    rounded += error == 0;
    different += !same(got, fused(i));
    if (error > worst) worst = error, at = a(i);
  }
  const bool exceeds = worst > table.tolerance;
  std::printf("%-8s %-4s %7lld %9d %7.0f %7d   %-26a %.9g", name, tt::name(tt::dtype_of<T>), static_cast<long long>(n), rounded, worst, table.tolerance,
              static_cast<double>(at), static_cast<double>(at));
  if (different > 0) std::printf("   %d differ between Tensor and Array", different);
  std::printf(exceeds ? "   exceeds\n" : "\n");
  if (exceeds || different > 0) status = std::max(status, 1);
}
template <class F>
void check(const std::string& folder, const char* name) {
  const std::string path = folder + "/umath-validation-set-" + name + ".csv";
  check_dtype<F, float>(name, path);
  check_dtype<F, double>(name, path);
}

}  // namespace

int main(int count, char** word) {
  if (count != 2) {
    std::fprintf(stderr, "usage: numpy_accuracy FOLDER   (numpy/_core/tests/data of an installed NumPy)\n");
    return 2;
  }
  std::printf("%-8s %-4s %7s %9s %7s %7s   %s\n", "", "", "inputs", "exact", "error", "allowed", "worst input");
  const std::string folder = word[1];
  check<tt::Acos>(folder, "arccos");
  check<tt::Acosh>(folder, "arccosh");
  check<tt::Asin>(folder, "arcsin");
  check<tt::Asinh>(folder, "arcsinh");
  check<tt::Atan>(folder, "arctan");
  check<tt::Atanh>(folder, "arctanh");
  check<tt::Cos>(folder, "cos");
  check<tt::Cosh>(folder, "cosh");
  check<tt::Exp>(folder, "exp");
  check<tt::Exp2>(folder, "exp2");
  check<tt::Expm1>(folder, "expm1");
  check<tt::Log>(folder, "log");
  check<tt::Log10>(folder, "log10");
  check<tt::Log1p>(folder, "log1p");
  check<tt::Log2>(folder, "log2");
  check<tt::Sin>(folder, "sin");
  check<tt::Sinh>(folder, "sinh");
  check<tt::Tan>(folder, "tan");
  check<tt::Tanh>(folder, "tanh");
  return status;
}
