# Writes a source file of `count` different functions, each one elementwise expression of four to six
# operations on three operands. The formulas are the same for every library.
#   awk -v count=10 -v library=tt -f expressions.awk        tt | tt_gradients | eigen | xtensor | hand
function random(n) {  # the same numbers in every awk
  seed = (seed * 16807) % 2147483647
  return int(seed / 2147483647 * n)
}
function leaf() { return substr("abc", random(3) + 1, 1) }
function literal() { return "0." (random(89) + 11) "f" }
function formula(operations,   left, kind) {
  if (operations == 0) return leaf()
  kind = random(10)
  if (kind == 0) return "exp(" number() " * " formula(operations - 1) ")"
  if (kind == 1) return "tanh(" formula(operations - 1) ")"
  if (kind == 2) return "sqrt(abs(" formula(operations - 1) ") + " number() ")"
  left = int((operations - 1) / 2)
  if (kind == 3) return "(" formula(left) " / (" formula(operations - 1 - left) " + " number() "))"
  return "(" formula(left) " " substr("+-*", kind % 3 + 1, 1) " " formula(operations - 1 - left) ")"
}
function number() { return library == "hand" ? "V(" literal() ")" : literal() }

BEGIN {
  seed = 20250101
  if (library == "tt" || library == "tt_gradients") {
    print "#include <tt/tt.hpp>\nusing A = tt::Array<float, tt::dyn>;\nusing S = tt::Array<float, 1024>;"
  } else if (library == "eigen") {
    print "#include <Eigen/Core>\nusing A = Eigen::ArrayXf;"
  } else if (library == "xtensor") {
    print "#define XTENSOR_USE_XSIMD\n#include <xtensor/xtensor.hpp>\n#include <xtensor/xmath.hpp>"
    print "#include <xtensor/xnoalias.hpp>\nusing A = xt::xtensor<float, 1>;"
  } else {
    print "#include <xsimd/xsimd.hpp>\nusing V = xsimd::batch<float>;"
  }
  for (i = 0; i < count; i++) {
    f = formula(4 + i % 3)
    while (f !~ /a/ || f !~ /b/ || f !~ /c/) f = formula(4 + i % 3)
    if (library == "tt_gradients") {
      printf "inline constexpr auto loss_%d = [](auto a, auto b, auto c) { return tt::sum(%s); };\n", i, f
      printf "void f_%d(S& da, S& db, S& dc, const S& a, const S& b, const S& c) {\n", i
      print "  tt::fuse([](auto a, auto b, auto c, auto& da, auto& db, auto& dc) {"
      printf "    const auto [x, y, z] = tt::grad<0, 1, 2>(loss_%d)(a, b, c);\n", i
      print "    da = x;\n    db = y;\n    dc = z;\n  })(a, b, c, da, db, dc);\n}"
    } else if (library == "hand") {
      printf "void f_%d(float* y, const float* pa, const float* pb, const float* pc, long n) {\n", i
      print "  for (long i = 0; i < n; i += long(V::size)) {"
      print "    const V a = V::load_unaligned(pa + i), b = V::load_unaligned(pb + i), c = V::load_unaligned(pc + i);"
      printf "    V(%s).store_unaligned(y + i);\n  }\n}\n", f
    } else {
      target = library == "xtensor" ? "xt::noalias(y)" : "y"
      printf "void f_%d(A& y, const A& a, const A& b, const A& c) { %s = %s; }\n", i, target, f
    }
  }
}
