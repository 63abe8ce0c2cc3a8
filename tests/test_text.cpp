// Graphs as text that is read back: every kind of node, random graphs in every phase, sizes that are expressions, ops of the
// library, of a program and without a name; and text that is no graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "random_graph.hpp"
#include "tensors.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"
#include "tt/plan/memory.hpp"
#include "tt/plan/print.hpp"

namespace {

using tt::DType;
using tt::Extent;
using tt::Graph;
using tt::Sym;

std::string text(const Graph& g) { return std::string(tt::to_string(g)); }
bool survives(const Graph& g) { return tt::parse(text(g)) == g; }
Graph recorded(const auto& f) {
  Graph g;
  f(g);
  return g;
}

/// Lists in the WordTable, and this one more.
int words_kept() {
  static std::int64_t next = 0;
  const std::int64_t word[] = {-123456789, next++};
  return tt::detail::WordTable::number_of(word, 2);
}

struct Squash {
  static constexpr tt::OpInfo info{.name = "squash", .max_ulp = 1.5f};
  static constexpr auto body(auto x) { return x / (1 + tt::abs(x)); }
};

}  // namespace

TEST_CASE("random graphs are the same after they were text, in every phase") {
  const char* const more = std::getenv("TT_FUZZ_COUNT");
  const int count = more ? std::atoi(more) : 300;
  for (int seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const Graph g = fuzz::random_program(static_cast<std::uint64_t>(seed), {.outputs = 4}).graph;
    REQUIRE(survives(g));
    REQUIRE(survives(tt::canonical(g)));
    const Graph inlined = tt::inline_bodies(g);
    REQUIRE(survives(inlined));
    REQUIRE(survives(tt::normalize(inlined, tt::Transposed::materialized)));
  }
}

TEST_CASE("inputs, outputs, sizes and numbers") {
  const Extent n = Extent::symbol(0), far = Extent::symbol(20);
  const Graph g = recorded([&](Graph& r) {
    const int a = r.input(DType::f32, {n + 1, 4}, {n * 4, 1}, true), b = r.input(DType::f64, {tt::floor_div(n, 2) * far - 3, tt::min(n, far)});
    const int p = r.pad(a, {{0, 0}, {n, 0}}, {3 * n + 1, 4}, tt::encode(DType::f32, -__builtin_inf()));
    const int s = r.slice(p, 0, n - 1, n, 1);
    r.output(s);
    r.output(r.mul(b, r.constant(DType::f64, 0.1 + 1e-17)), 1);
    for (const double x : {0.1, 1.0 / 3, -0.0, 1e300, 5e-324, 123456789.125, __builtin_inf()}) r.output(r.add(b, r.constant(DType::f64, x)));
    r.output(r.constant_bits(DType::f64, 0x7ff8000000000123));
    r.output(r.constant_integer(DType::i64, INT64_MIN));
    r.output(r.extent(DType::i64, n * far + 1), -1, true);
    r.output(r.iota(DType::i32, {n, 7}, 1));
  });
  CHECK(!g.failure);
  CHECK(survives(g));
  CHECK(contains(text(g), "graph 3\n%0 = input 0 : f32 (s0 + 1, 4) strides (4*s0, 1) padded\n"));
  CHECK(contains(text(g), "(floor_div(s0, 2)*s20 - 3, "));
  CHECK(contains(text(g), " bits 0x7ff8000000000123 : f64 ()"));
  CHECK(!(tt::parse("graph 3\n%0 = input 0 : f32 (2,) -> output 0\n") == tt::parse("graph 3\n%0 = input 0 : f32 (3,) -> output 0\n")));
}

TEST_CASE("ops by name: the library's, a program's own, and bodies of those without one") {
  const Graph g = recorded([](Graph& r) {
    const Sym x{&r, r.input(DType::f32, {5})}, y{&r, r.input(DType::f64, {5})};
    const auto mixed = tt::op([](auto a, auto b) { return tt::where(a < b, tt::exp(a) * 2, b); });
    r.output(tt::gelu(mixed(x, tt::silu(x))).id);
    r.output(mixed(y, y * 0.3).id);
  });
  CHECK(survives(g));
  CHECK(contains(text(g), "op(%"));
  CHECK(contains(text(g), "%2 = lt(%0, %1) : bool ()"));
  const Graph back = tt::parse(text(g));
  std::ostringstream stream;
  stream << g;
  CHECK(stream.str() == text(g));
  CHECK(tt::to_string(tt::make_plan(back)) == tt::to_string(tt::make_plan(g)));  // it computes the same
  CHECK(survives(back));
  const Graph own = recorded([](Graph& r) {
    const Sym x{&r, r.input(DType::f32, {5})};
    r.output(Sym{&r, r.call(tt::op_def<Squash>, {x.id})}.id);
  });
  CHECK(contains(message([&] { tt::parse(text(own)); }), "tt::parse: line 3: no op is called 'squash'. Name its type, as in tt::parse<Softsign>(text)?"));
  CHECK(tt::parse<Squash>(text(own)) == own);
}

TEST_CASE("ops over graphs are written with their options by name, and read back") {
  const auto f = [](const tt::Tensor& x, const tt::Tensor& w, const tt::Tensor& b) {
    const tt::Tensor image = tt::conv2d(x, w, b, {.padding = 1});
    const tt::Tensor flat = tt::max_pool2d(image, tt::Pool2dOptions{}).reshape({image.size(0), -1}), normal = tt::layer_norm(flat, {flat.size(1)}, {}, flat.mean(0));
    const std::vector<tt::Tensor> greatest = tt::call_results("max", {tt::tril(normal, flat.size(0)), 1});
    return std::vector<tt::Tensor>{tt::logsumexp(normal, 1) + greatest[0], greatest[1]};
  };
  const auto traced = tt::trace(f, tt::ones({3, 2, 4, 4}), tt::ones({2, 2, 3, 3}), tt::ones({2}));
  const Graph& g = traced.graph;
  CHECK(survives(g));
  CHECK(tt::check(g));
  const std::string t = text(g);
  CHECK(contains(t, "conv2d(%0, %1, %2) stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 "));
  CHECK(contains(t, ", None, %"));
  CHECK(contains(t, " eps 1e-5 : "));
  CHECK(contains(t, "tril(%"));
  CHECK(contains(t, ") diagonal 3 : "));
  CHECK(contains(t, "max(%"));
  CHECK(contains(t, " keepdim False result 1 : i64 (3,)"));
  CHECK_FALSE(contains(t, "prims.sum"));
  const auto padded = tt::trace([](const tt::Tensor& x) { return tt::pad(x, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}); }, tt::ones({2, 2, 2, 2, 2, 2, 2, 2, 2}));
  CHECK(survives(padded.graph));
  const auto lower = tt::trace([](const tt::Tensor& x) { return tt::tril(x, x.size(0) - 2); }, tt::ones({3, 4}));
  CHECK(contains(text(lower.graph), "tril(%0) diagonal s0 - 2 : f32 (s0, s1)"));
  CHECK(survives(lower.graph));
  CHECK(survives(tt::trace([](const tt::Tensor& x) { return tt::angle(x); }, tt::ones({3})).graph));  // of an op that is no function of users'
  const Graph back = tt::parse(t), written_out = tt::canonical(tt::decomposed(g));
  CHECK(contains(text(written_out), "prims.sum"));
  CHECK(tt::canonical(tt::decomposed(back)) == written_out);
  CHECK(survives(written_out));
  CHECK(tt::to_string(tt::make_plan(back)) == tt::to_string(tt::make_plan(written_out)));
}

TEST_CASE("damaged lines of ops over graphs are refused, or are no legal graph") {
  const auto says = [](const char* line) {
    return message([&] {
      if (const tt::CheckResult r = (tt::check)(tt::parse(std::string("graph 3\n%0 = input 0 : f32 (4, 5)\n%1 = ") + line + " -> output 0\n")); !r)
        throw tt::Error(r.why);
    });
  };
  CHECK(says("softmax(%0) dim 1 : f32 (4, 5)") == "no error");
  CHECK(contains(says("softmax(%0) dim 2 : f32 (4, 5)"), "axis is out of range"));
  CHECK(contains(says("softmax(%0) dim 1 : f32 (5, 4)"), "another shape"));
  CHECK(contains(says("softmax(%0) dim 1 : f64 (4, 5)"), "another dtype"));
  CHECK(contains(says("softmax(%0) axis 1 : f32 (4, 5)"), "the options of the op, in their order"));
  CHECK(contains(says("softmax(%0, %0) dim 1 : f32 (4, 5)"), "as many operands as the op takes"));
  CHECK(contains(says("softmax(None) dim 1 : f32 (4, 5)"), "expected %, found 'None"));
  CHECK(contains(says("sum(%0) dim [1 : f32 (4,)"), "expected ,"));
  CHECK(contains(says("sum(%0) dim [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18] keepdim False : f32 (4,)"), "a shorter list"));
  CHECK(contains(says("sum(%0) dim [1] keepdim 0 : f32 (4,)"), "expected False"));
  CHECK(contains(says("max(%0) dim 1 keepdim False result 2 : i64 (4,)"), "a result of the op"));
  CHECK(contains(says("layer_norm(None, %0) normalized_shape [5] eps 1e-5 : f32 (4, 5)"), "wrong number of operands"));
  CHECK(contains(says("layer_norm(%0, None, None, %0) normalized_shape [5] eps 1e-5 : f32 (4, 5)"), "wrong number of operands"));
  CHECK(contains(says("layer_norm(%0) normalized_shape [5] eps x : f32 (4, 5)"), "a number"));
  CHECK(contains(says("avg_pool2d(%0) kernel_size [2, 2, 2] stride [2, 2] padding [0, 0] : f32 (4, 5)"), "a shorter list"));
}

TEST_CASE("nodes of six operands are written, read back, merged where they are equal, and copied") {
  constexpr auto six = tt::op([](auto a, auto b, auto c, auto d, auto e, auto f) { return tt::fma(a, b, c) - d * e / (1 + f * f); });
  const Graph g = recorded([&](Graph& r) {
    Sym x[6];
    for (Sym& s : x) s = {&r, r.input(DType::f32, {5})};
    const Sym y = six(x[0], x[1], x[2], x[3], x[4], x[5]), last = six(x[0], x[1], x[2], x[3], x[5], x[4]);
    CHECK(six(x[0], x[1], x[2], x[3], x[4], x[5]).id == y.id);
    CHECK(last.id != y.id);  // they differ behind the fourth
    CHECK(r.operands(y.id).size() == 6);
    CHECK(r.operands(y.id)[5] == x[5].id);
    r.output((y + last).id);
  });
  CHECK(survives(g));
  CHECK(contains(text(g), "op(%0, %1, %2, %3, %4, %5) {"));
  CHECK(tt::check(g));
  CHECK(tt::to_string(tt::make_plan(tt::parse(text(g)))) == tt::to_string(tt::make_plan(g)));
}

TEST_CASE("what is no graph is refused, with its line") {
  const auto says = [](const char* given) { return message([&] { tt::parse(given); }); };
  CHECK(contains(says("graph 1\n"), "tt::parse: this is version 1 of the text, and 3 is read."));
  CHECK(contains(says(""), "tt::parse: line 1: expected graph, found ''."));
  CHECK(contains(says("graph 3\n%0 = input 0 : f32 (4,)\n%1 = neg(%1) : f32 (4,)\n"), "tt::parse: line 3: expected a node above"));
  CHECK(contains(says("graph 3\n%0 = input 0 : f8 (4,)\n"), "tt::parse: line 2: expected a dtype"));
  CHECK(contains(says("graph 3\n%0 = input 0 : f32 (9223372036854775807,)\n"), "tt::parse: line 2: expected a size"));
  CHECK(contains(says("graph 3\n%0 = input 0 : f32 (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)\n"), "tt::parse: line 2: expected a shape of lower rank"));
  CHECK(contains(says("graph 3\n%0 = add(%0) : f32 ()\n"), "expected a node above"));
  CHECK(contains(says("graph 3\n%0 = input 0 : f32 ()\n%1 = add(%0) : f32 ()\n"), "expected as many operands as the op takes"));
  std::string deep = "graph 3\n%0 = input 0 : f32 (";
  for (int k = 0; k < 100000; ++k) deep += "floor_div(";
  CHECK(contains(says(deep.c_str()), "expected less depth"));
}

TEST_CASE("the body of an op without a name works on single elements, and is legal") {
  const auto says = [](const std::string& lines) {
    return message([&] { tt::parse("graph 3\n%0 = input 0 : f32 (4, 5)\n%1 = op(%0) { %0 = input 0 : f32 (); " + lines + " } : f32 (4, 5) -> output 0\n"); });
  };
  for (const char* line : {"prims.slice(%0) axis 0 from 70000000 step 1 : f32 (1,)", "prims.slice(%0) axis 3 from 7 step 1 : f32 ()", "prims.pad(%0) from 0 axes 0 0 by 1 : f32 (3,)",
                           "prims.matmul(%0, %0) : f32 ()", "prims.conv(%0, %0) stride 1, 1 padding 0, 0 dilation 1, 1 groups 1 : f32 ()", "prims.window(%0) axis 5 step 1 dilation 1 : f32 (1, 2)",
                           "prims.permute(%0) axes 5, 4, 3, 2, 1, 0 : f32 (1, 2)", "prims.reshape(%0) : f32 (1,)", "prims.reshape(%0) : f32 ()", "broadcast(%0) : f32 (3,)", "broadcast(%0) number 1 : f32 ()",
                           "prims.sum(%0) axes 0 : f32 ()", "iota 0 : f32 (9,)", "extent s7 : f32 ()", "input 1 : f32 (4,)", "neg(%0) : f32 (4,)", "neg(%0) identity 3 : f32 ()",
                           "copy(%0) number 2 : f32 ()", "detach(%0) : f32 ()", "prims.slice_scatter(%0, %0) from 0, 0 axes 0, 0 : f32 ()"}) {
    CAPTURE(line);
    CHECK(contains(says(std::string("%1 = ") + line + " -> output 0;"), "tt::parse: line 3: expected "));
  }
  CHECK(contains(says("%1 = prims.sum(%0) axes 0 : f32 () -> output 0;"), "tt::parse: line 3: expected a number, or what works on single elements, found 'prims.sum(%0) axes 0 : f'"));
  CHECK(contains(says("%1 = neg(%0) : f64 () -> output 0;"), "tt::parse: line 3: in the body of an op, node %1 has another dtype than its op gives."));
  CHECK(contains(says("%1 = constant 2 : f64 (); %2 = mul(%0, %1) : f64 () -> output 0;"), "tt::parse: line 3: in the body of an op, node %2 has operands of different dtypes."));
  CHECK(says("%1 = constant 2 : f32 (); %2 = mul(%0, %1) : f32 () -> output 0;") == "no error");
}

TEST_CASE("bodies that are read are one where they are equal, found as fast among many, by any thread") {
  const auto op_of = [](int k) {
    return tt::parse("graph 3\n%0 = input 0 : f32 (4,)\n%1 = op(%0) { %0 = input 0 : f32 () -> output 0; %1 = constant " + std::to_string(k) + " : f32 (); %2 = mul(%0, %1) : f32 (); } : f32 (4,) -> output 0\n")[1].def;
  };
  const auto time_of = [&](int from, int count) {
    std::int64_t least = INT64_MAX;
    for (int k = from; k < from + count;) {
      const auto start = std::chrono::steady_clock::now();
      for (const int end = k + 100; k < end; ++k) op_of(k);
      least = std::min<std::int64_t>(least, (std::chrono::steady_clock::now() - start).count());
    }
    return least;
  };
  const std::int64_t first = time_of(100000, 1000);
  time_of(101000, 8000);
  CHECK(time_of(109000, 1000) < 3 * first);
  CHECK(op_of(100000) == op_of(100000));
  CHECK(op_of(100000) != op_of(100001));
  std::vector<const tt::OpDef*> found[4];
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&mine, &op_of] {
      for (int k = 0; k < 500; ++k) mine.push_back(op_of(300000 + k));
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : found) CHECK(mine == found[0]);
}

TEST_CASE("sizes that are read divide by what is positive, are bounded, and take time and memory as their text does") {
  const auto graph_of = [](const std::string& size) { return "graph 3\n%0 = input 0 : f32 (" + size + ",)\n"; };
  const auto says = [&](const std::string& size) { return message([&] { tt::parse(graph_of(size)); }); };
  for (const char* by : {"floor_div(s0, 0)", "floor_div(7, 0)", "floor_div(2*s0 + 1, -4)", "floor_div(s0, s1 - s1)"}) CHECK(contains(says(by), "tt::parse: line 2: expected a positive divisor, found "));
  CHECK(contains(says("floor_div(7, 0)"), "found '0),)'"));
  CHECK(says("floor_div(s0, s1 - 3)") == "no error");
  const std::string most = "70368744177664";  // most_bytes
  CHECK(says(most) == "no error");
  CHECK(says(most + "*s0") == "no error");
  CHECK(contains(says(most + " + 1"), "a smaller sum"));
  CHECK(contains(says("-" + most + " - 1"), "a smaller sum"));
  CHECK(contains(says(most + "*s0 + s0"), "a smaller sum"));
  CHECK(contains(says(most + "*2"), "a smaller product"));
  for (const char* size : {"8589934592*s0", "4294967296*s0*s1 - 4294967296*s9", "-1*s0 + 3", "min(-1*s0, -3)"}) CHECK(tt::to_string(tt::parse(graph_of(size))) == graph_of(size).c_str());
  std::string sum = "s0", product = "floor_div(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11, 1)", nested = "s0", doubled = "s0";
  for (int k = 1; k < 200; ++k) sum += " + s" + std::to_string(1000 + k);
  CHECK(says(sum) == "no error");
  for (int k = 200; k < 20000; ++k) sum += " + s" + std::to_string(1000 + k);
  const int before = words_kept();
  CHECK(contains(says(sum), "a smaller sum"));
  CHECK(contains(says(product + "*" + product + "*" + product), "a smaller product"));
  CHECK(words_kept() - before < 8);
  for (int k = 0; k < 25; ++k) nested = "floor_div(" + nested + ", 3)";  // a program repeats what is divided
  CHECK(contains(says(nested), "a shorter size"));
  for (int k = 0; k < 5; ++k) {
    std::string square;
    for (int n = 0; n < 5; ++n) square += (n ? "*floor_div(" : "floor_div(") + doubled + " + 1, 1)";
    doubled = "floor_div(" + square + ", 7)";
  }
  CHECK(contains(says(doubled), "a shorter size"));
}

TEST_CASE("numbers that are read are whole, and of their dtype") {
  const auto says = [](const std::string& number) { return message([&] { tt::parse("graph 3\n%0 = constant " + number + " ()\n-> output 0\n"); }); };
  for (const char* number : {"hello : f32", "1.5zzz : f32", "1e : f32", "1. : f64", ".5 : f64", "- : f32", "--1 : f32", "1.5.2 : f64", "nan : f32", "inf : f64", "-inf : f32", "nanny bits 0x1 : f32", "12abc : i64",
                             "x : i64", "nan : bool"})
    CHECK(says(number) == std::string("tt::parse: line 2: expected a number, found '") + (number + std::string(" ()")).substr(0, 24) + "'.");
  for (const char* number : {"4294967297 : i32", "-2147483649 : i32", "7 : bool", "-1 : bool", "1.5 : i64", "1e3 : i32", "nan bits 0x100000000 : f32", "1 bits 0x1 : i64"})
    CHECK(contains(says(number), "tt::parse: line 2: expected a number of its dtype, found '"));
  for (const char* number : {"-18446744073709551615 : i64", "18446744073709551615 : i64", "9223372036854775808 : i64", "-9223372036854775809 : i64"}) CHECK(contains(says(number), "tt::parse: line 2: expected a number of 64 bits"));
  CHECK(contains(message([] { tt::parse("graph 3\n%0 = input 0 : f32 ()\n%1 = neg(%0) identity 4294967296 : f32 ()\n"); }), "tt::parse: line 3: expected an identity"));
  for (const char* number : {"-2147483648 : i32", "2147483647 : i32", "-9223372036854775808 : i64", "9223372036854775807 : i64", "1 : bool", "0 : bool", "-0 : f32", "1.5e-10 : f64", "1e300 : f64",
                             "nan bits 0xffffffff : f32", "-inf bits 0xff800000 : f32", "inf bits 0x7ff0000000000000 : f64", "0.100000001 : f32"})
    CHECK(text(tt::parse(std::string("graph 3\n%0 = constant ") + number + " ()\n")) == std::string("graph 3\n%0 = constant ") + number + " ()\n");
}

TEST_CASE("text that was damaged is read or refused, and nothing else") {
  fuzz::Random dice(9);
  int read = 0, refused = 0;
  const char* const more = std::getenv("TT_FUZZ_COUNT");
  const int rounds = more ? std::atoi(more) : 4000;
  for (int round = 0; round < rounds; ++round) {
    std::string s = text(fuzz::random_program(static_cast<std::uint64_t>(round % 40), {.outputs = 3}).graph);
    for (int k = 1 + dice.below(4); k > 0 && !s.empty(); --k) {
      const auto at = static_cast<std::size_t>(dice.below(static_cast<int>(s.size())));
      switch (dice.below(4)) {
        case 0: s[at] = static_cast<char>(32 + dice.below(95)); break;
        case 1: s.erase(at, static_cast<std::size_t>(1 + dice.below(8))); break;
        case 2: s.insert(at, s.substr(static_cast<std::size_t>(dice.below(static_cast<int>(s.size()))), 12)); break;
        default: s[at] = static_cast<char>('0' + dice.below(10)); break;
      }
    }
    try {
      const Graph g = tt::parse(s);
      (void)std::string(tt::to_string(g));
      ++read;
    } catch (const tt::Error&) {
      ++refused;
    }
  }
  CHECK(read > rounds / 200);
  CHECK(refused > rounds / 50);
}
