// Arrays as values: construction, indexing, copies and moves, printing, .npy files.
// The printed texts are NumPy 2's, taken from its print().
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tt/core/array.hpp"
#include "tt/core/print.hpp"
#include "tt/expr/expression.hpp"
#include "tt/io/npy.hpp"

namespace {

using tt::Array;
using tt::dyn;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr float inff = std::numeric_limits<float>::infinity();
constexpr float not_a_float = std::numeric_limits<float>::quiet_NaN();

template <class T, std::int64_t... E>
std::string printed(const Array<T, E...>& a) {
  std::ostringstream stream;
  stream << a;
  const std::string text = tt::to_string(a);
  CHECK(text == stream.str());
  return text;
}
template <class A>
A counted() {
  A a;
  int n = 0;
  for (auto& x : a) x = static_cast<typename A::value_type>(n++);
  return a;
}

/// A file of the working directory that goes away.
struct TemporaryFile {
  std::string name;
  explicit TemporaryFile(const char* of) : name(std::string("test_array_") + of + ".npy") {}
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(name.c_str()); }
  const char* path() const { return name.c_str(); }
  void write(const std::string& bytes) const {
    std::FILE* f = std::fopen(path(), "wb");
    REQUIRE(f != nullptr);
    CHECK(std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size());
    std::fclose(f);
  }
  std::string read() const {
    std::FILE* f = std::fopen(path(), "rb");
    REQUIRE(f != nullptr);
    std::string bytes;
    for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) bytes.push_back(static_cast<char>(c));
    std::fclose(f);
    return bytes;
  }
};

std::string npy_file(const std::string& dict, std::size_t data_bytes, char major = 1) {
  std::string header = dict;
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += '\0';
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  if (major == 2) bytes += std::string(2, '\0');
  return bytes + header + std::string(data_bytes, '\0');
}

template <class A>
void check_refused(const TemporaryFile& file, const std::string& bytes, const char* why) {
  file.write(bytes);
  const std::string message = "tt::load_npy: " + file.name + ": " + why;
  CHECK_THROWS_WITH_AS(tt::load_npy<A>(file.path()), message.c_str(), tt::Error);
}

}  // namespace

// ---- construction

TEST_CASE("an Array is zero unless told otherwise") {
  const Array<float, 3> a;
  const Array<double, 40, 40> b;
  const Array<bool, 2, 2> c;
  const Array<std::int64_t, dyn, 3> d(2);
  const Array<float> scalar;
  for (float x : a) CHECK(x == 0);
  for (double x : b) CHECK(x == 0);
  for (bool x : c) CHECK(x == false);
  for (std::int64_t x : d) CHECK(x == 0);
  CHECK(scalar() == 0);
}

TEST_CASE("Arrays of one value, and identity matrices") {
  const auto twos = Array<float, 2, 3>::full(2);
  CHECK(std::count(twos.begin(), twos.end(), 2.0f) == 6);
  const auto wide = Array<double, 2, 3>::eye();
  const auto grown = Array<std::int32_t, dyn, 2>::eye(3);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      CHECK(wide(i, j) == (i == j));
      CHECK(grown(j, i) == (i == j));
    }
  CHECK(Array<float, dyn>::full(7, 4)(3) == 7);
  CHECK(Array<float>::full(7).item() == 7);
}

TEST_CASE("nested braces give the elements in row-major order") {
  const Array<int, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  for (int i = 0; i < 6; ++i) CHECK(a.data()[i] == i + 1);
  const Array<float, dyn, 2> b{{1, 2}, {3, 4}, {5, 6}};
  CHECK(b.extent(0) == 3);
  CHECK(b(2, 1) == 6);
  const Array<double, 1, 2, 2> c{{{1, 2}, {3, 4}}};
  CHECK(c(0, 1, 0) == 3);
  const Array<std::int64_t, dyn, dyn> d{{1, 2, 3}};
  CHECK(d.shape() == tt::Shape{1, 3});
  const Array<bool, 3> e{true, false, true};
  CHECK(e(2));
  const Array<float> f = 2.5f;
  CHECK(f.item() == 2.5f);
  const float number = f;
  CHECK(number == 2.5f);
}

TEST_CASE("braces of a wrong length say which axis") {
  CHECK_THROWS_WITH_AS((Array<float, 3>{1, 2}),
                       "tt::Array: wrong number of values in braces: 2 given, 3 needed along axis 0.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, 2, 3>{{1, 2, 3}}),
                       "tt::Array: wrong number of values in braces: 1 given, 2 needed along axis 0.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, 2, 3>{{1, 2, 3}, {4, 5, 6, 7}}),
                       "tt::Array: wrong number of values in braces: 4 given, 3 needed along axis 1.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, dyn, dyn>{{1, 2}, {3}}),
                       "tt::Array: rows in braces differ in length: 2 and 1 along axis 1.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, dyn, 2>{{1, 2, 3}, {4, 5, 6}}),
                       "tt::Array: wrong number of values in braces: 3 given, 2 needed along axis 1.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, dyn, dyn, dyn>{{{1}, {2}}, {{3}, {4, 5}}}),
                       "tt::Array: rows in braces differ in length: 1 and 2 along axis 2.",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, dyn, dyn, dyn>{{{1}, {2}}, {{3, 4}, {5, 6}}}),
                       "tt::Array: rows in braces differ in length: 1 and 2 along axis 2.",
                       tt::Error);
}

TEST_CASE("dynamic extents are given in order") {
  const Array<float, dyn, 4, dyn> a(2, 3);
  CHECK(a.shape() == tt::Shape{2, 4, 3});
  CHECK(a.size() == 24);
  const Array<float, dyn> unset;
  CHECK(unset.size() == 0);
  CHECK_THROWS_WITH_AS((Array<float, dyn, dyn>(3, -1)), "tt::Array: negative extent: -1.", tt::Error);
}

TEST_CASE("from copies a span of the right size") {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  const auto a = Array<float, 2, 3>::from(v);
  CHECK(a(1, 0) == 4);
  const auto b = Array<float, dyn, 2>::from(v, 3);
  CHECK(b(2, 1) == 6);
  CHECK_THROWS_WITH_AS((Array<float, 5>::from(v)),
                       "tt::Array::from: numbers of elements differ: 6 given, 5 in (5,).", tt::Error);
  CHECK_THROWS_WITH_AS((Array<float, dyn, 2>::from(v, 4)),
                       "tt::Array::from: numbers of elements differ: 6 given, 8 in (4, 2).",
                       tt::Error);
  Array<float, 2, 3> c;
  c.assign(v);
  CHECK(c(1, 2) == 6);
}

TEST_CASE("extents of zero and rank zero") {
  const Array<float, 0> a;
  const Array<float, 3, 0, 2> b;
  const Array<float, dyn> c(0);
  const Array<double> d = 1.5;
  CHECK(a.size() == 0);
  CHECK(b.size() == 0);
  CHECK(c.size() == 0);
  CHECK(d.size() == 1);
  CHECK(a.begin() == a.end());
  CHECK(b.shape() == tt::Shape{3, 0, 2});
  CHECK(Array<float, 0>::from(std::span<const float>{}).size() == 0);
}

TEST_CASE("a small Array is as large as its elements, and all are aligned") {
  static_assert(TT_DEBUG || sizeof(Array<float, 3>) == 12);
  static_assert(TT_DEBUG || sizeof(Array<double>) == 8);
  static_assert(TT_DEBUG || sizeof(Array<float, 16, 16>) == 1024);
  static_assert(TT_DEBUG || sizeof(Array<float, 257>) < 64);
  static_assert(std::is_nothrow_move_constructible_v<Array<float, dyn>>);
  const Array<float, 16> a;
  const Array<float, 1000> b;
  const Array<float, dyn> c(1);
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(c.data()) % 64 == 0);
}

// ---- indexing

TEST_CASE("negative indices count from the end") {
  Array<int, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  CHECK(a(-1, -1) == 6);
  CHECK(a(0, -3) == 1);
  CHECK(a(-2, 2) == 3);
  a(-1, 0) = 40;
  CHECK(a(1, 0) == 40);
  const Array<int, dyn> b{1, 2, 3};
  CHECK(b(-3) == 1);
  CHECK(b(std::uint8_t{2}) == 3);
}

TEST_CASE("an index out of range names index, axis and shape") {
  const Array<float, 2, 3> a;
  CHECK_THROWS_WITH_AS(a(2, 0), "tt::Array: index is out of range: 2 for axis 0 of (2, 3).",
                       tt::Error);
  CHECK_THROWS_WITH_AS(a(0, 3), "tt::Array: index is out of range: 3 for axis 1 of (2, 3).",
                       tt::Error);
  CHECK_THROWS_WITH_AS(a(-3, 0), "tt::Array: index is out of range: -3 for axis 0 of (2, 3).",
                       tt::Error);
  const Array<float, dyn> b(4);
  CHECK_THROWS_WITH_AS(b(4), "tt::Array: index is out of range: 4 for axis 0 of (4,).", tt::Error);
  const Array<float, dyn> empty;
  CHECK_THROWS_WITH_AS(empty(0), "tt::Array: index is out of range: 0 for axis 0 of (0,).",
                       tt::Error);
  CHECK_THROWS_WITH_AS(a.item(), "tt::item: an Array of one element is needed, not (2, 3).",
                       tt::Error);
  CHECK(Array<float, 1, 1>{{7}}.item() == 7);
}

// ---- copies and moves

TEST_CASE_TEMPLATE("a copy has elements of its own", A, Array<float, 5>, Array<float, 5, 100>,
                   Array<std::int32_t, 5, 60>, Array<bool, 5>) {
  A a = counted<A>();
  A b = a;
  b.data()[1] = typename A::value_type(0);
  CHECK(a.data()[1] == typename A::value_type(1));
  A c;
  c = a;
  a.data()[2] = typename A::value_type(0);
  CHECK(c.data()[2] == typename A::value_type(2));
  A& self = c;
  c = self;
  CHECK(c.data()[2] == typename A::value_type(2));
}

TEST_CASE_TEMPLATE("a moved Array keeps its elements, and the source can be assigned again", A,
                   Array<float, 5>, Array<float, 5, 100>) {
  A a = counted<A>();
  A b = std::move(a);
  CHECK(b.data()[4] == 4);
  a = b;
  CHECK(a.data()[4] == 4);
  A c;
  c = std::move(a);
  CHECK(c.data()[3] == 3);
  a = c + 1;
  CHECK(a.data()[3] == 4);
  A d = std::move(a);
  a = d * 2;
  CHECK(a.data()[3] == 8);
}

TEST_CASE("what was moved away is asked for in words, not by a crash") {
  using A = Array<float, 1000>;
  A a, b = std::move(a);
  const char* const moved = "tt::Array: the elements were moved away: of an Array of shape (1000,). Assign to it first?";
  const char* const operand = "tt: an operand of this expression was moved from: an Array of f32 (1000,). "
                              "Assign to it, or evaluate the expression earlier with tt::eval.";
  CHECK_THROWS_WITH_AS((void)a(3), moved, tt::Error);
  CHECK_THROWS_WITH_AS((void)std::as_const(a).begin(), moved, tt::Error);
  CHECK_THROWS_WITH_AS(a += b, operand, tt::Error);
  CHECK_THROWS_WITH_AS((void)tt::eval(a + b), operand, tt::Error);
  A c = a;  // a copy is as empty
  CHECK_THROWS_WITH_AS((void)c(0), moved, tt::Error);
  a = b;
  CHECK(a(3) == 0);
}

TEST_CASE("a dynamic Array takes extents along, copied or moved") {
  Array<float, dyn, 2> a{{1, 2}, {3, 4}, {5, 6}}, b(1);
  b = a;
  CHECK(b.shape() == tt::Shape{3, 2});
  CHECK(b(2, 1) == 6);
  Array<float, dyn, 2> c = std::move(a);
  CHECK(c.shape() == tt::Shape{3, 2});
  CHECK(a.size() <= 6);
  a = c;
  CHECK(a(2, 0) == 5);
}

TEST_CASE("the source of a move has memory for all of its elements") {
  Array<float, dyn> small(1), large(1000), ones(1000);
  ones = ones + 1;
  small = std::move(large);
  CHECK(small.size() == 1000);
  large = ones * 2;
  CHECK(large.size() == 1000);
  CHECK(large(999) == 2);
  Array<float, dyn> taken(std::move(large));
  large = ones * 3;
  CHECK(large(0) == 3);
  CHECK(taken(0) == 2);
  std::swap(taken, large);
  CHECK(taken(500) == 3);
  CHECK(large(500) == 2);
}

// ---- printing, as NumPy

TEST_CASE("integers and bool are right-aligned") {
  CHECK(printed(Array<std::int32_t, 2, 3>{{1, -20, 300}, {4, 5, 6}}) == "[[  1 -20 300]\n [  4   5   6]]");
  CHECK(printed(Array<std::int64_t, 3>{std::numeric_limits<std::int64_t>::min(), 0,
                                       std::numeric_limits<std::int64_t>::max()}) ==
        "[-9223372036854775808                    0  9223372036854775807]");
  CHECK(printed(Array<bool, 2, 2>{{true, false}, {false, true}}) == "[[ True False]\n [False  True]]");
}

TEST_CASE("floating numbers are aligned at the point") {
  CHECK(printed(Array<float, 2, 2>{{1, 2.5f}, {3, 4.25f}}) == "[[1.   2.5 ]\n [3.   4.25]]");
  CHECK(printed(Array<double, 2>{-1, -10.5}) == "[ -1.  -10.5]");
  CHECK(printed(Array<double, 2>{0.1, 100}) == "[  0.1 100. ]");
  CHECK(printed(Array<float, 3>{0.0f, -0.0f, 0.0f}) == "[ 0. -0.  0.]");
  CHECK(printed(Array<double, 2>{0.123456789, 1.999999999}) == "[0.12345679 2.        ]");
  CHECK(printed(Array<float, 3>{100.1f, 3.14159274f, 1.0f / 3}) == "[100.1          3.1415927    0.33333334]");
}

TEST_CASE("nan and inf are right-aligned") {
  CHECK(printed(Array<float, 4>{1.5f, not_a_float, -inff, inff}) == "[ 1.5  nan -inf  inf]");
  CHECK(printed(Array<double, 2>{not_a_number, inf}) == "[nan inf]");
  CHECK(printed(Array<float, 3>{not_a_float, 1, 2}) == "[nan  1.  2.]");
  CHECK(printed(Array<double, 2>{-inf, 1.25}) == "[-inf 1.25]");
}

TEST_CASE("large, small and far apart numbers have exponents") {
  CHECK(printed(Array<float, 3>{1e8f, 1, 2.5f}) == "[1.0e+08 1.0e+00 2.5e+00]");
  CHECK(printed(Array<double, 2>{99999999, 1}) == "[9.9999999e+07 1.0000000e+00]");
  CHECK(printed(Array<float, 3>{1e-5f, 1, 2.5f}) == "[1.0e-05 1.0e+00 2.5e+00]");
  CHECK(printed(Array<double, 2>{0.01, 100}) == "[1.e-02 1.e+02]");
  CHECK(printed(Array<double, 4>{1.0 / 3, 2.0 / 3, 100.1, -12345.678901234}) ==
        "[ 3.33333333e-01  6.66666667e-01  1.00100000e+02 -1.23456789e+04]");
  CHECK(printed(Array<float, 5>{0.1f, 100.1f, 3.14159274f, 16777216, 1.0f / 3}) ==
        "[1.0000000e-01 1.0010000e+02 3.1415927e+00 1.6777216e+07 3.3333334e-01]");
  CHECK(printed(Array<double, 4>{1.5, -2.25, 1000.125, 0.001}) ==
        "[ 1.500000e+00 -2.250000e+00  1.000125e+03  1.000000e-03]");
  CHECK(printed(Array<double, 2>{123456.789012345, 1}) == "[1.23456789e+05 1.00000000e+00]");
  CHECK(printed(Array<double, 2>{-0.0, 1e-10}) == "[-0.e+00  1.e-10]");
}

TEST_CASE("exponents of three digits widen all, special values are right-aligned") {
  CHECK(printed(Array<float, 4>{3.4028235e38f, 1.1754944e-38f, 1e-45f, 0}) ==
        "[3.4028235e+38 1.1754944e-38 1.4012985e-45 0.0000000e+00]");
  CHECK(printed(Array<double, 3>{1.7976931348623157e308, 5e-324, -1.0}) ==
        "[ 1.79769313e+308  4.94065646e-324 -1.00000000e+000]");
  CHECK(printed(Array<double, 3>{1e100, 1e-5, 1}) == "[1.e+100 1.e-005 1.e+000]");
  CHECK(printed(Array<double, 4>{1e10, -2.5e-10, not_a_number, inf}) == "[ 1.0e+10 -2.5e-10      nan      inf]");
}

TEST_CASE("a scalar is printed as a number") {
  CHECK(printed(Array<std::int32_t>(7)) == "7");
  CHECK(printed(Array<bool>(true)) == "True");
  CHECK(printed(Array<float>(0.1f)) == "0.1");
  CHECK(printed(Array<float>(3.0f)) == "3.0");
  CHECK(printed(Array<float>(1.0f / 3)) == "0.33333334");
  CHECK(printed(Array<double>(1.0 / 3)) == "0.3333333333333333");
  CHECK(printed(Array<double>(123456789.0)) == "123456789.0");
  CHECK(printed(Array<double>(1e20)) == "1e+20");
  CHECK(printed(Array<double>(1e-5)) == "1e-05");
  CHECK(printed(Array<double>(-0.0)) == "-0.0");
  CHECK(printed(Array<double>(not_a_number)) == "nan");
}

TEST_CASE("axes are set apart by empty lines") {
  CHECK(printed(counted<Array<std::int32_t, 2, 3, 4>>()) ==
        "[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n"
        " [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]");
  CHECK(printed(counted<Array<std::int64_t, 2, 1, 2, 2>>()) ==
        "[[[[0 1]\n   [2 3]]]\n\n\n [[[4 5]\n   [6 7]]]]");
}

TEST_CASE("an Array becomes one of other extents where they are the same numbers") {
  const Array<float, 2, 3> fixed{{1, 2, 3}, {4, 5, 6}};
  Array<float, dyn, dyn> open = fixed;
  CHECK(printed(open) == printed(fixed));
  const Array<float, dyn, 3> half = open;
  Array<float, 2, 3> back(half);
  CHECK(printed(back) == printed(fixed));
  open(1, 2) = 7;
  back = open;
  CHECK(back(1, 2) == 7);
  open = Array<float, 1, 2>{{8, 9}};
  CHECK(open.shape() == tt::Shape{1, 2});
  CHECK_THROWS_WITH_AS((Array<float, 4, 3>(half)), "tt::Array: shapes differ: (2, 3) is assigned to (4, 3).", tt::Error);
  CHECK_THROWS_WITH_AS(back = open, "tt::Array: shapes differ: (1, 2) is assigned to (2, 3).", tt::Error);
  CHECK(back(1, 2) == 7);
  const Array<float, 0, 3> none = Array<float, dyn, 3>();
  CHECK(none.size() == 0);
}

TEST_CASE("an Array without elements is []") {
  CHECK(printed(Array<float, 0>()) == "[]");
  CHECK(printed(Array<float, 0, 3>()) == "[]");
  CHECK(printed(Array<float, 2, 0>()) == "[]");
  CHECK(printed(Array<float, dyn, 3>()) == "[]");
}

TEST_CASE("lines are broken at 75 columns, behind the last character that is no space") {
  CHECK(printed(Array<double, 8>{1082.75, 1234.5, 1082.75, 1234567.5, 1082.75, 1082.5, 99.0, 1082.25}) ==
        "[1.0827500e+03 1.2345000e+03 1.0827500e+03 1.2345675e+06 1.0827500e+03\n 1.0825000e+03 9.9000000e+01 1.0822500e+03]");
  CHECK(printed(Array<double, 9>{1000.25, 2000, 3000, 4000, 5000, 6000, 7000.5, 8000, 9000.25}) ==
        "[1000.25 2000.   3000.   4000.   5000.   6000.   7000.5  8000.   9000.25]");
  CHECK(printed(Array<double, 10>{1000.25, 2000, 3000, 4000, 5000, 6000, 7000.5, 8000, 9000, 1000.25}) ==
        "[1000.25 2000.   3000.   4000.   5000.   6000.   7000.5  8000.   9000.\n 1000.25]");
  Array<std::int64_t, 40> a = counted<Array<std::int64_t, 40>>();
  for (std::int64_t& x : a) x *= 1000;
  CHECK(printed(a) ==
        "[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n"
        " 12000 13000 14000 15000 16000 17000 18000 19000 20000 21000 22000 23000\n"
        " 24000 25000 26000 27000 28000 29000 30000 31000 32000 33000 34000 35000\n"
        " 36000 37000 38000 39000]");
  Array<float, 30> b = counted<Array<float, 30>>();
  for (float& x : b) x /= 4;
  CHECK(printed(b) ==
        "[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25\n"
        " 3.5  3.75 4.   4.25 4.5  4.75 5.   5.25 5.5  5.75 6.   6.25 6.5  6.75\n"
        " 7.   7.25]");
}

TEST_CASE("more than 1000 elements are summarized by three at each edge") {
  CHECK(printed(counted<Array<std::int32_t, 1001>>()) == "[   0    1    2 ...  998  999 1000]");
  CHECK(printed(counted<Array<std::int32_t, 200, 10>>()) ==
        "[[   0    1    2 ...    7    8    9]\n [  10   11   12 ...   17   18   19]\n"
        " [  20   21   22 ...   27   28   29]\n ...\n [1970 1971 1972 ... 1977 1978 1979]\n"
        " [1980 1981 1982 ... 1987 1988 1989]\n [1990 1991 1992 ... 1997 1998 1999]]");
  CHECK(printed(counted<Array<std::int64_t, 3, 2, 200>>()) ==
        "[[[   0    1    2 ...  197  198  199]\n  [ 200  201  202 ...  397  398  399]]\n\n"
        " [[ 400  401  402 ...  597  598  599]\n  [ 600  601  602 ...  797  798  799]]\n\n"
        " [[ 800  801  802 ...  997  998  999]\n  [1000 1001 1002 ... 1197 1198 1199]]]");
  CHECK(printed(counted<Array<std::int32_t, 8, 1, 200>>()) ==
        "[[[   0    1    2 ...  197  198  199]]\n\n [[ 200  201  202 ...  397  398  399]]\n\n"
        " [[ 400  401  402 ...  597  598  599]]\n\n ...\n\n [[1000 1001 1002 ... 1197 1198 1199]]\n\n"
        " [[1200 1201 1202 ... 1397 1398 1399]]\n\n [[1400 1401 1402 ... 1597 1598 1599]]]");
}

// ---- .npy files

TEST_CASE_TEMPLATE("an Array comes back from its file", A, Array<bool, 3, 4>,
                   Array<std::int32_t, 3, 4>, Array<std::int64_t, 2, 3, 5>, Array<float, 17>,
                   Array<double, 3, 4>, Array<float, 300, 3>, Array<double>, Array<float, 0, 3>,
                   Array<std::int32_t, 1, 1, 1, 1, 2, 1>) {
  const TemporaryFile file("round_trip");
  const A a = counted<A>();
  tt::save_npy(file.path(), a);
  const A b = tt::load_npy<A>(file.path());
  CHECK(a.shape() == b.shape());
  CHECK(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(*a.data())) == 0);
}

TEST_CASE("special values survive a file, and extents may be dynamic") {
  const TemporaryFile file("special");
  const Array<float, 2, 3> a{{not_a_float, inff, -0.0f}, {1e-45f, -inff, 3.4028235e38f}};
  tt::save_npy(file.path(), a);
  const auto b = tt::load_npy<Array<float, dyn, dyn>>(file.path());
  CHECK(b.shape() == tt::Shape{2, 3});
  CHECK(std::memcmp(a.data(), b.data(), 24) == 0);
  const auto c = tt::load_npy<Array<float, dyn, 3>>(file.path());
  CHECK(std::memcmp(a.data(), c.data(), 24) == 0);
  tt::save_npy(file.path(), Array<double, dyn>(5));
  CHECK(tt::load_npy<Array<double, 5>>(file.path()).size() == 5);
}

TEST_CASE("a file has NumPy's bytes") {
  const TemporaryFile file("bytes");
  tt::save_npy(file.path(), Array<std::int32_t, 2, 1>{{1}, {258}});
  std::string want("\x93NUMPY\x01\x00\x76\x00", 10);
  want += "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }";
  want += std::string(128 - want.size() - 1, ' ') + '\n';
  want += std::string("\x01\x00\x00\x00\x02\x01\x00\x00", 8);
  CHECK(file.read() == want);
}

TEST_CASE("files in other spellings are read") {
  const TemporaryFile file("spelling");
  const auto loads = [&](const std::string& bytes) {
    file.write(bytes);
    return tt::load_npy<Array<float, 3>>(file.path()).size() == 3;
  };
  CHECK(loads(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12, 2)));
  CHECK(loads(npy_file("{'shape': (3,), 'fortran_order': False, 'descr': '<f4'}", 12)));
  CHECK(loads(npy_file("{'descr':'<f4','fortran_order':False,'shape':(3,)}", 12)));
}

TEST_CASE("a file in Fortran order is read into an Array in C order") {
  const TemporaryFile file("fortran");
  file.write(npy_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", 0) + std::string("\0\3\1\4\2\5", 6));
  const auto a = tt::load_npy<Array<std::int8_t, 2, 3>>(file.path());
  for (int k = 0; k < 6; ++k) CHECK(a.data()[k] == k);
  CHECK(tt::load_npy<Array<std::int8_t, dyn, 3>>(file.path())(1, 0) == 3);
}

TEST_CASE("a malformed file is refused and the message says why") {
  using A = Array<float, 2, 3>;
  const TemporaryFile file("malformed");
  const std::string good = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  file.write(good);
  CHECK(tt::load_npy<A>(file.path()).size() == 6);

  check_refused<A>(file, "", "the file ends in its header.");
  check_refused<A>(file, good.substr(0, 9), "the file ends in its header.");
  check_refused<A>(file, good.substr(0, 40), "the file ends in its header.");
  check_refused<A>(file, good.substr(0, good.size() - 1),
                   "the file ends before its last element: f32 (2, 3) takes 24 bytes, the file holds 23.");
  check_refused<A>(file, good.substr(0, good.size() - 24),
                   "the file ends before its last element: f32 (2, 3) takes 24 bytes, the file holds 0.");
  check_refused<A>(file, "PNG" + good, "this is no .npy file (wrong magic).");
  std::string version = good;
  version[6] = 9;
  check_refused<A>(file, version, "this version of the .npy format is not known.");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 3), }", 24), "the header does not say fortran_order.");
  check_refused<A>(file, npy_file("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", 24),
                   "its elements are big-endian. Save a.astype(a.dtype.newbyteorder('<'))?");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'shape': (2, 3), }", 24), "the header does not say fortran_order.");
  for (const char* descr : {"'<u4'", "'<c8'", "'<f16'", "'<f41'", "'<f4", "<f4", "'<U4'", "[('a', '<f4')]"})
    check_refused<A>(file, npy_file(std::string("{'descr': ") + descr +
                                        ", 'fortran_order': False, 'shape': (2, 3), }", 96),
                     "its dtype is not one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, little-endian. Convert it with numpy.astype?");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'fortran_order': False, }", 24),
                   "the header gives no shape.");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': 6, }", 24),
                   "the header gives no shape.");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                                  "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6), }", 24),
                   "it has too many axes.");
  check_refused<A>(file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                                  "(99999999999999999999999, 3), }", 24),
                   "an extent is larger than memory.");
  for (const char* shape : {"(-2,)", "(2.5,)", "(2 3)", "(2, 3", "(2, x)", "(,)"})
    check_refused<Array<float, dyn>>(file, npy_file(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }", 24),
                                     "the shape in its header is no list of sizes.");
  check_refused<Array<bool, 2>>(file, npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 0) + std::string("\1\2"),
                                "element 1 is no bool: 2.");
  CHECK_THROWS_WITH_AS(tt::load_npy<A>("/"), "tt::load_npy: /: cannot be read.", tt::Error);
  check_refused<Array<float, dyn, dyn, dyn>>(
      file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(1000000, 1000000, 1000000), }", 24),
      "not enough memory: f32 (1000000, 1000000, 1000000) takes more than 2^58 bytes. Use a smaller "
      "shape?");
  check_refused<Array<float, dyn, dyn>>(
      file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 100000000), }", 24),
      "not enough memory: f32 (1000000, 100000000) takes 400000000000000 bytes. Use a smaller "
      "shape?");
  check_refused<Array<float, dyn>>(
      file, npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", 24),
      "the file ends before its last element: f32 (1000000000000,) takes 4000000000000 bytes, the "
      "file holds 24.");
}

TEST_CASE("a header is read as the dict that it is") {
  using A = Array<float, 2, 3>;
  const TemporaryFile file("dict");
  for (const char* header : {"{'shape': (7,), 'fortran_order': True, 'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'note': \"'shape': (7,)\"}",
                             "{'note': \"it's ', 'shape': (7,)\", \"descr\": \"<f4\" , 'fortran_order' :False,'shape':(2,3)}",
                             "{'note': ['shape', (7, {'shape': (7,)}), '\\', '], 'shape': (2, 3, ), 'fortran_order': False, 'descr': '<f4'}"}) {
    CAPTURE(std::string(header));
    file.write(npy_file(header, 24));
    CHECK(tt::load_npy<A>(file.path()).size() == 6);
  }
  for (const char* header : {"", "{", "{'", "{'shape", "{'shape'", "{'shape':", "{'shape': \"", "{'shape': (", "'descr': '<f4'", "{{'descr': '<f4'}}", "{'x': '\\"})
    CHECK_THROWS_AS((file.write(npy_file(header, 24)), tt::load_npy<A>(file.path())), tt::Error);
}

TEST_CASE("a shape that no memory holds is named with its bytes") {
  CHECK_THROWS_WITH_AS((Array<float, dyn, dyn>(1LL << 40, 1LL << 40)),
                       "tt::Array: not enough memory: f32 (1099511627776, 1099511627776) takes more "
                       "than 2^58 bytes. Use a smaller shape?",
                       tt::Error);
  CHECK_THROWS_WITH_AS((Array<double, dyn>(1LL << 45)),
                       "tt::Array: not enough memory: f64 (35184372088832,) takes 281474976710656 "
                       "bytes. Use a smaller shape?",
                       tt::Error);
  const Array<float, dyn, dyn> nothing(1LL << 50, 0);
  CHECK(nothing.size() == 0);
}

TEST_CASE("a broadcast that no memory holds is refused in words") {
  const Array<bool, dyn, 1> column(1 << 25);
  const Array<bool, 1, dyn> row(1 << 25);
  const auto both = tt::where(column, row, column);
  CHECK_THROWS_WITH_AS((void)both.eval(),
                       "tt::Array: not enough memory: bool (33554432, 33554432) takes "
                       "1125899906842624 bytes. Use a smaller shape?",
                       tt::Error);
}

TEST_CASE("a file of another dtype or shape says both") {
  const TemporaryFile file("other");
  tt::save_npy(file.path(), Array<double, 2, 3>());
  const std::string holds = "tt::load_npy: " + file.name + ": holds f64 (2, 3), wanted is ";
  CHECK_THROWS_WITH_AS((tt::load_npy<Array<float, 2, 3>>(file.path())),
                       (holds + "f32 (2, 3).").c_str(), tt::Error);
  CHECK_THROWS_WITH_AS((tt::load_npy<Array<double, 3, 2>>(file.path())),
                       (holds + "f64 (3, 2).").c_str(), tt::Error);
  CHECK_THROWS_WITH_AS((tt::load_npy<Array<double, 6>>(file.path())), (holds + "f64 (6,).").c_str(),
                       tt::Error);
  CHECK_THROWS_WITH_AS((tt::load_npy<Array<double, dyn, 2>>(file.path())),
                       (holds + "f64 (any, 2).").c_str(), tt::Error);
  CHECK_THROWS_WITH_AS((tt::load_npy<Array<double>>(file.path())), (holds + "f64 ().").c_str(),
                       tt::Error);
}

TEST_CASE("a file that is not there, or cannot be, is named") {
  CHECK_THROWS_WITH_AS(tt::load_npy<Array<float>>("/no/such/file.npy"),
                       "tt::load_npy: /no/such/file.npy: cannot be opened.", tt::Error);
  CHECK_THROWS_WITH_AS(tt::save_npy("/no/such/file.npy", Array<float>(1.0f)),
                       "tt::save_npy: /no/such/file.npy: cannot be written.", tt::Error);
}
