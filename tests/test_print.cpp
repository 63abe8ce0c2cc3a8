// Tensors print as in PyTorch: what torch 1.13 wrote for the same Tensors, with tt's names of dtypes and ops.
#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>

#include "tt/tt.hpp"

namespace {

using tt::DType;
using tt::Tensor;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

std::string printed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

}  // namespace

TEST_CASE("Tensors print as in PyTorch") {
  struct Case {
    Tensor tensor;
    const char* text;
  };
  const Case cases[] = {
      {tt::tensor({{1.0, 2.0}, {3.0, 4.0}}),
       "tensor([[1., 2.],\n"
       "        [3., 4.]])"},
      {tt::tensor({1.5, -2.25, 3.0}),
       "tensor([ 1.5000, -2.2500,  3.0000])"},
      {tt::tensor({1, -20, 300}),
       "tensor([  1, -20, 300])"},
      {tt::tensor({true, false}),
       "tensor([ True, False])"},
      {tt::tensor({true, true}),
       "tensor([True, True])"},
      {tt::tensor(3.0),
       "tensor(3.)"},
      {tt::tensor(3.14159265),
       "tensor(3.1416)"},
      {tt::tensor(7),
       "tensor(7)"},
      {tt::tensor(false),
       "tensor(False)"},
      {tt::tensor(1e-5),
       "tensor(1.0000e-05)"},
      {tt::tensor(-0.0),
       "tensor(-0.)"},
      {tt::tensor(123456789.0),
       "tensor(1.2346e+08)"},
      {tt::tensor(1e20, {.dtype = DType::f64}),
       "tensor(1.0000e+20, dtype=f64)"},
      {tt::tensor({}),
       "tensor([])"},
      {tt::zeros({0}, {.dtype = DType::i64}),
       "tensor([], dtype=i64)"},
      {tt::zeros({2, 0}),
       "tensor([], size=(2, 0))"},
      {tt::zeros({2, 0, 3}, {.dtype = DType::boolean}),
       "tensor([], size=(2, 0, 3), dtype=bool)"},
      {tt::zeros({3}),
       "tensor([0., 0., 0.])"},
      {tt::zeros({30}),
       "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.,\n"
       "        0., 0., 0., 0., 0., 0.])"},
      {tt::ones({2, 3}, {.dtype = DType::f64}),
       "tensor([[1., 1., 1.],\n"
       "        [1., 1., 1.]], dtype=f64)"},
      {tt::ones({2}, {.dtype = DType::i32}),
       "tensor([1, 1], dtype=i32)"},
      {tt::tensor({1.0, 1000.0}),
       "tensor([   1., 1000.])"},
      {tt::tensor({1.0, 1001.0}),
       "tensor([1.0000e+00, 1.0010e+03])"},
      {tt::tensor({0.5, 1001.0}),
       "tensor([5.0000e-01, 1.0010e+03])"},
      {tt::tensor({1e8, 1e6}),
       "tensor([100000000.,   1000000.])"},
      {tt::tensor({1.1e8, 1e8}),
       "tensor([1.1000e+08, 1.0000e+08])"},
      {tt::tensor({0.0001, 0.05}),
       "tensor([1.0000e-04, 5.0000e-02])"},
      {tt::tensor({0.0001, 0.05}, {.dtype = DType::f64}),
       "tensor([0.0001, 0.0500], dtype=f64)"},
      {tt::tensor({0.00011, 0.05}),
       "tensor([0.0001, 0.0500])"},
      {tt::tensor({1e-10, 0.0, -1.0}),
       "tensor([ 1.0000e-10,  0.0000e+00, -1.0000e+00])"},
      {tt::tensor({1e-300, 1e300}, {.dtype = DType::f64}),
       "tensor([1.0000e-300, 1.0000e+300], dtype=f64)"},
      {tt::tensor({not_a_number, infinity, -infinity}),
       "tensor([nan, inf, -inf])"},
      {tt::tensor({not_a_number, 1.0}),
       "tensor([nan, 1.])"},
      {tt::tensor({-infinity, 1.5, 0.0}),
       "tensor([  -inf, 1.5000, 0.0000])"},
      {tt::tensor({infinity, 1e-7, not_a_number}),
       "tensor([       inf, 1.0000e-07,        nan])"},
      {tt::tensor(not_a_number),
       "tensor(nan)"},
      {tt::tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}),
       "tensor([[[1, 2],\n"
       "         [3, 4]],\n"
       "\n"
       "        [[5, 6],\n"
       "         [7, 8]]])"},
      {tt::arange(16).view({2, 2, 2, 2}),
       "tensor([[[[ 0,  1],\n"
       "          [ 2,  3]],\n"
       "\n"
       "         [[ 4,  5],\n"
       "          [ 6,  7]]],\n"
       "\n"
       "\n"
       "        [[[ 8,  9],\n"
       "          [10, 11]],\n"
       "\n"
       "         [[12, 13],\n"
       "          [14, 15]]]])"},
      {tt::arange(40),
       "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
       "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,\n"
       "        36, 37, 38, 39])"},
      {tt::arange(60).view({2, 30}),
       "tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
       "         18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],\n"
       "        [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,\n"
       "         48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]])"},
      {tt::arange(0, 20, 1, {.dtype = DType::f32}) / 7,
       "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
       "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,\n"
       "        2.5714, 2.7143])"},
      {tt::arange(1001),
       "tensor([   0,    1,    2,  ...,  998,  999, 1000])"},
      {tt::arange(0, 1001, 1, {.dtype = DType::f32}),
       "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"},
      {tt::arange(0, 1001, 1, {.dtype = DType::f64}) / 8,
       "tensor([  0.0000,   0.1250,   0.2500,  ..., 124.7500, 124.8750, 125.0000],\n"
       "       dtype=f64)"},
      {tt::arange(2000).view({40, 50}),
       "tensor([[   0,    1,    2,  ...,   47,   48,   49],\n"
       "        [  50,   51,   52,  ...,   97,   98,   99],\n"
       "        [ 100,  101,  102,  ...,  147,  148,  149],\n"
       "        ...,\n"
       "        [1850, 1851, 1852,  ..., 1897, 1898, 1899],\n"
       "        [1900, 1901, 1902,  ..., 1947, 1948, 1949],\n"
       "        [1950, 1951, 1952,  ..., 1997, 1998, 1999]])"},
      {tt::arange(2000).view({2, 1000}),
       "tensor([[   0,    1,    2,  ...,  997,  998,  999],\n"
       "        [1000, 1001, 1002,  ..., 1997, 1998, 1999]])"},
      {tt::arange(1200).view({200, 6}),
       "tensor([[   0,    1,    2,    3,    4,    5],\n"
       "        [   6,    7,    8,    9,   10,   11],\n"
       "        [  12,   13,   14,   15,   16,   17],\n"
       "        ...,\n"
       "        [1182, 1183, 1184, 1185, 1186, 1187],\n"
       "        [1188, 1189, 1190, 1191, 1192, 1193],\n"
       "        [1194, 1195, 1196, 1197, 1198, 1199]])"},
      {tt::arange(2000).view({10, 10, 20}),
       "tensor([[[   0,    1,    2,  ...,   17,   18,   19],\n"
       "         [  20,   21,   22,  ...,   37,   38,   39],\n"
       "         [  40,   41,   42,  ...,   57,   58,   59],\n"
       "         ...,\n"
       "         [ 140,  141,  142,  ...,  157,  158,  159],\n"
       "         [ 160,  161,  162,  ...,  177,  178,  179],\n"
       "         [ 180,  181,  182,  ...,  197,  198,  199]],\n"
       "\n"
       "        [[ 200,  201,  202,  ...,  217,  218,  219],\n"
       "         [ 220,  221,  222,  ...,  237,  238,  239],\n"
       "         [ 240,  241,  242,  ...,  257,  258,  259],\n"
       "         ...,\n"
       "         [ 340,  341,  342,  ...,  357,  358,  359],\n"
       "         [ 360,  361,  362,  ...,  377,  378,  379],\n"
       "         [ 380,  381,  382,  ...,  397,  398,  399]],\n"
       "\n"
       "        [[ 400,  401,  402,  ...,  417,  418,  419],\n"
       "         [ 420,  421,  422,  ...,  437,  438,  439],\n"
       "         [ 440,  441,  442,  ...,  457,  458,  459],\n"
       "         ...,\n"
       "         [ 540,  541,  542,  ...,  557,  558,  559],\n"
       "         [ 560,  561,  562,  ...,  577,  578,  579],\n"
       "         [ 580,  581,  582,  ...,  597,  598,  599]],\n"
       "\n"
       "        ...,\n"
       "\n"
       "        [[1400, 1401, 1402,  ..., 1417, 1418, 1419],\n"
       "         [1420, 1421, 1422,  ..., 1437, 1438, 1439],\n"
       "         [1440, 1441, 1442,  ..., 1457, 1458, 1459],\n"
       "         ...,\n"
       "         [1540, 1541, 1542,  ..., 1557, 1558, 1559],\n"
       "         [1560, 1561, 1562,  ..., 1577, 1578, 1579],\n"
       "         [1580, 1581, 1582,  ..., 1597, 1598, 1599]],\n"
       "\n"
       "        [[1600, 1601, 1602,  ..., 1617, 1618, 1619],\n"
       "         [1620, 1621, 1622,  ..., 1637, 1638, 1639],\n"
       "         [1640, 1641, 1642,  ..., 1657, 1658, 1659],\n"
       "         ...,\n"
       "         [1740, 1741, 1742,  ..., 1757, 1758, 1759],\n"
       "         [1760, 1761, 1762,  ..., 1777, 1778, 1779],\n"
       "         [1780, 1781, 1782,  ..., 1797, 1798, 1799]],\n"
       "\n"
       "        [[1800, 1801, 1802,  ..., 1817, 1818, 1819],\n"
       "         [1820, 1821, 1822,  ..., 1837, 1838, 1839],\n"
       "         [1840, 1841, 1842,  ..., 1857, 1858, 1859],\n"
       "         ...,\n"
       "         [1940, 1941, 1942,  ..., 1957, 1958, 1959],\n"
       "         [1960, 1961, 1962,  ..., 1977, 1978, 1979],\n"
       "         [1980, 1981, 1982,  ..., 1997, 1998, 1999]]])"},
      {tt::arange(6).view({2, 3}).t(),
       "tensor([[0, 3],\n"
       "        [1, 4],\n"
       "        [2, 5]])"},
      {tt::tensor({1.5}).expand({2, 3}),
       "tensor([[1.5000, 1.5000, 1.5000],\n"
       "        [1.5000, 1.5000, 1.5000]])"},
      {tt::arange(4000).view({2000, 2}).select(1, 1),
       "tensor([   1,    3,    5,  ..., 3995, 3997, 3999])"},
      {tt::arange(19, 43, 1, {.dtype = DType::i32}),
       "tensor([19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36,\n"
       "        37, 38, 39, 40, 41, 42], dtype=i32)"},
      {tt::arange(19, 37, 1, {.dtype = DType::i32}),
       "tensor([19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36],\n"
       "       dtype=i32)"},
      {tt::zeros({22}, {.dtype = DType::f64}),
       "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],\n"
       "       dtype=f64)"},
      {tt::zeros({20}, {.dtype = DType::f64}),
       "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],\n"
       "       dtype=f64)"},
      {tt::zeros({1, 2, 19}, {.dtype = DType::i32}),
       "tensor([[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],\n"
       "         [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]],\n"
       "       dtype=i32)"},
      {tt::zeros({1, 2, 18}, {.dtype = DType::i32}),
       "tensor([[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],\n"
       "         [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]], dtype=i32)"},
      {tt::zeros({1, 1, 19}, {.dtype = DType::i32}),
       "tensor([[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]],\n"
       "       dtype=i32)"},
      {tt::ones({2}, {.requires_grad = true}),
       "tensor([1., 1.], requires_grad=True)"},
      {tt::ones({2}, {.dtype = DType::f64, .requires_grad = true}),
       "tensor([1., 1.], dtype=f64, requires_grad=True)"},
      {tt::ones({2}, {.requires_grad = true}) * 2,
       "tensor([2., 2.], grad_fn=<mul>)"},
      {tt::ones({2, 2}, {.dtype = DType::f64, .requires_grad = true}) * 2.5,
       "tensor([[2.5000, 2.5000],\n"
       "        [2.5000, 2.5000]], dtype=f64, grad_fn=<mul>)"},
      {(tt::ones({2}, {.requires_grad = true}) * 2).detach(),
       "tensor([2., 2.])"},
      {tt::zeros({2, 3}, {.device = {tt::DeviceType::meta, 0}}),
       "tensor(..., device='meta', size=(2, 3))"},
      {tt::zeros({4}, {.dtype = DType::i64, .device = {tt::DeviceType::meta, 0}}),
       "tensor(..., device='meta', size=(4,), dtype=i64)"},
  };
  for (const Case& c : cases) CHECK(printed(c.tensor) == c.text);
}

TEST_CASE("shapes and dtypes are printed, too") {
  std::ostringstream out;
  out << tt::zeros({2, 3}).shape() << ' ' << tt::zeros({4}).shape() << ' ' << DType::f32;
  CHECK(out.str() == "(2, 3) (4,) f32");
}

TEST_CASE("only what is shown is read") {
  CHECK(printed(tt::ones({1}).expand({std::int64_t{1} << 40})) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
  CHECK(printed(Tensor()) == "tensor(undefined)");
  CHECK(std::string(tt::to_string(tt::tensor(2))) == "tensor(2)");
}
