# Medians of `source mode seconds` lines, sorted by all three, as a table of ratios to xsimd alone.
function finish() {
  if (n) median[key] = n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
  n = 0
}
function ratio(name, mode) {
  if (!((name " " mode) in median)) return "-"
  return sprintf("%.2f", median[name " " mode] / median["xsimd " mode])
}
function further(name) {
  if (!((name "_50 O2") in median) || !((name "_1 O2") in median)) return "-"
  return sprintf("%.1f", (median[name "_50 O2"] - median[name "_1 O2"]) / 49 * 1000)
}
function line(name, label) { printf "| %s | %s | %s |\n", label, ratio(name, "syntax"), ratio(name, "O2") }
function expressions(name, label) {
  printf "| %s | %s | %s | %s | %s |\n", label, ratio(name "_1", "O2"), ratio(name "_10", "O2"),
         ratio(name "_50", "O2"), further(name)
}
function seconds(name) { return (name " O2") in median ? sprintf("%.2f", median[name " O2"]) : "-" }
function over(name, header) {
  if (!((name " O2") in median) || !((header " O2") in median)) return "-"
  return sprintf("%.2f", median[name " O2"] - median[header " O2"])
}
function tensors(name, label) {
  printf "| %s | %s | %s |\n", label, ratio(name, "O2"), seconds(name)
  printf "| %s, with tt::compiled | %s | %s |\n", label, ratio(name "_linked", "O2"), seconds(name "_linked")
}
function step(name, header, label) { printf "| %s | %s | %s | %s |\n", label, ratio(name, "O2"), seconds(name), over(name, header) }
{
  if ($1 " " $2 != key) { finish(); key = $1 " " $2 }
  value[++n] = $3
}
END {
  finish()
  printf "`<xsimd/xsimd.hpp>` alone is 1: here %.2f s with -fsyntax-only, %.2f s with -O2.\n\n", \
         median["xsimd syntax"], median["xsimd O2"]
  print "| include | -fsyntax-only | -O2 |\n|---|---|---|"
  line("empty", "`<cstddef>`")
  line("without_xsimd", "core and graph headers, without xsimd")
  line("xsimd", "`<xsimd/xsimd.hpp>`")
  line("fuse", "`<tt/expr/fuse.hpp>`")
  line("arrays", "`<tt/arrays.hpp>`")
  line("tt", "`<tt/tt.hpp>`")
  line("eigen", "`<Eigen/Core>`")
  line("xtensor", "xtensor with xmath")
  print "\n| expressions, -O2, whole file | 1 | 10 | 50 | ms for one more |\n|---|---|---|---|---|"
  expressions("hand", "hand-written xsimd loops")
  expressions("tt", "tt")
  expressions("tt_gradients", "tt, three gradients")
  expressions("eigen", "Eigen")
  expressions("xtensor", "xtensor")
  print "\n| training step, -O2, whole file | to xsimd | seconds | seconds over its header |\n|---|---|---|---|"
  step("step_hand", "xsimd", "64-32-10, by hand with xsimd")
  step("step_tt", "tt", "64-32-10, tt")
  step("step_eigen", "eigen", "64-32-10, Eigen")
  for (layers = 1; layers <= 16; layers *= 2) step("mlp_" layers, "tt", layers (layers > 1 ? " layers" : " layer") ", tt")
  print "\n| Tensors, -O2, whole file | to xsimd | seconds |\n|---|---|---|"
  tensors("tensor_add", "add and print")
  tensors("tensor_compile", "`compile`, call and print")
}
