// One program of files with different -march flags: each must run its own code on the others' Arrays
// and get the right numbers, whichever copy of an inline function the linker keeps.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "modes.hpp"
#include "shared.hpp"

namespace {

int failures = 0;

void check(bool ok, const char* what, const std::string& isa) {
  if (ok) return;
  std::printf("FAILED: %s (%s)\n", what, isa.c_str());
  ++failures;
}

/// Distance in units of the last place; multiply-adds of another mode may differ by 4.
std::int64_t ulps(float a, float b) {
  std::int32_t i, j;
  std::memcpy(&i, &a, 4);
  std::memcpy(&j, &b, 4);
  if (i < 0) i = INT32_MIN - i;
  if (j < 0) j = INT32_MIN - j;
  return std::llabs(static_cast<long long>(i) - static_cast<long long>(j));
}

/// `scale` is what cancels: the sum of the sizes of the terms.
bool near(float got, double want, double scale) {
  return ulps(got, static_cast<float>(want)) <= 4 ||
         std::fabs(static_cast<double>(got) - want) <= 4 * 0x1p-24 * scale;
}

void check_results(const shared::Results& r, const shared::Vector& x, const shared::Vector& y,
                   const shared::Layer<tt::arrays>& layer, const shared::Matrix& rows,
                   const std::string& isa) {
  bool chain = true, expression = true;
  for (int i = 0; i < 100; ++i) {
    const double a = static_cast<double>(x(i)), b = static_cast<double>(y(i)), d = a - b;
    const double bumped = std::exp(-a * a) * std::tanh(b), silu = d / (1 + std::exp(-d));
    chain = chain && near(r.chain(i), bumped + silu, std::fabs(bumped) + std::fabs(silu));
    expression = expression && near(r.expression(i), std::hypot(a, b) / (1 + std::fabs(b)), 0);
  }
  check(chain, "fused chain", isa);
  check(expression, "expression", isa);
  const auto n = rows.extent(0);
  double loss = 0, total = 0, size = 0, gradient[24][7] = {};
  for (int i = 0; i < n; ++i) {
    double h[7], sum = 0;
    for (int j = 0; j < 7; ++j) {
      double z = static_cast<double>(layer.bias(j));
      for (int k = 0; k < 24; ++k)
        z += static_cast<double>(rows(i, k)) * static_cast<double>(layer.weight(k, j));
      h[j] = 1 / (1 + std::exp(-z));
      sum += std::exp(h[j]);
    }
    loss += std::log(sum) / static_cast<double>(n);
    for (int k = 0; k < 24; ++k) {
      total += static_cast<double>(rows(i, k));
      size += std::fabs(static_cast<double>(rows(i, k)));
      for (int j = 0; j < 7; ++j)
        gradient[k][j] += static_cast<double>(rows(i, k)) * std::exp(h[j]) / sum * h[j] *
                          (1 - h[j]) / static_cast<double>(n);
    }
  }
  check(near(r.loss, loss, 0), "loss over rows", isa);
  check(near(r.total, total, size), "sum of a dynamic Array", isa);
  bool fine = true;
  for (int k = 0; k < 24; ++k)
    for (int j = 0; j < 7; ++j) fine = fine && near(r.gradient(k, j), gradient[k][j], 1);
  check(fine, "gradient of a parameter struct", isa);
}

bool same_bits(const shared::Vector& a, const shared::Vector& b) {
  return std::memcmp(a.data(), b.data(), sizeof(float) * 100) == 0;
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 77;
  shared::Vector x, y;
  for (int i = 0; i < 100; ++i) {
    x(i) = static_cast<float>(i - 50) * 0.07f;
    y(i) = static_cast<float>((i * 37) % 100) * 0.03f - 1.4f;
  }
  shared::Layer<tt::arrays> layer;
  for (int i = 0; i < 24 * 7; ++i) layer.weight.data()[i] = static_cast<float>(i % 13 - 6) * 0.1f;
  for (int j = 0; j < 7; ++j) layer.bias(j) = static_cast<float>(j) * 0.125f;
  const shared::Matrix rows = shared::make_rows(33);

  const shared::Results plain = shared::compute_plain(x, y, layer, rows);
  const shared::Results avx2 = shared::compute_avx2(x, y, layer, rows);
  const shared::Results native = shared::compute_native(x, y, layer, rows);
  check_results(plain, x, y, layer, rows, shared::isa_plain());
  check_results(avx2, x, y, layer, rows, shared::isa_avx2());
  check_results(native, x, y, layer, rows, shared::isa_native());
  check(same_bits(avx2.chain, native.chain), "builds with fma agree bit for bit", shared::isa_native());

  shared::Vector sum = x;
  shared::add_in_place(sum, y);
  bool added = true;
  for (int i = 0; i < 100; ++i) added = added && sum(i) == x(i) + y(i);
  check(added, "an Array of this file updated by another", shared::isa_avx2());

  check(shared::isa_plain() != shared::isa_avx2(), "config() speaks of the file that calls it",
        shared::isa_plain());
  const shared::Mode checked = shared::mode_checked(), unchecked = shared::mode_unchecked();
  check(checked.throws && !unchecked.throws, "TT_DEBUG decides for its file", "checked");
  check(checked.right && unchecked.right, "both kinds of files compute", "checked");
  check(checked.bytes > unchecked.bytes, "both kinds of files have Arrays of their own", "checked");
  check(checked.array != unchecked.array && checked.layer != unchecked.layer,
        "functions of both kinds have other names", "checked");
  std::printf("%s\n%s\n%s\n%s\n", shared::isa_plain().c_str(), shared::isa_avx2().c_str(),
              shared::isa_native().c_str(), failures ? "FAILED" : "all right");
  return failures != 0;
}
