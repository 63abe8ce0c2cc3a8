# Writes the training step of a network of `layers` layers, 64 inputs, 32 units in between, 10 classes, batch 64:
# cross-entropy, all gradients, SGD with momentum, in place.
#   awk -v layers=4 -f mlp.awk
function layer(name, inputs, outputs) {
  printf "template <class Kind>\nstruct %s {\n  tt::leaf<Kind, float, %d, %d> w;\n  tt::leaf<Kind, float, %d> b;\n};\n", \
         name, inputs, outputs, outputs
}
BEGIN {
  print "#include <tt/tt.hpp>"
  layer("First", 64, 32)
  layer("Middle", 32, 32)
  layer("Last", layers == 1 ? 64 : 32, 10)
  print "template <class Kind>\nstruct Model {"
  for (k = 1; k <= layers; k++)
    printf "  %s<Kind> l%d;\n", k == layers ? "Last" : k == 1 ? "First" : "Middle", k
  print "};"
  print "inline constexpr auto loss = [](auto m, auto x, auto labels) {"
  h = "x"
  for (k = 1; k < layers; k++) {
    printf "  const auto h%d = tt::tanh(tt::matmul(%s, m.l%d.w) + m.l%d.b);\n", k, h, k, k
    h = "h" k
  }
  printf "  return tt::cross_entropy(tt::matmul(%s, m.l%d.w) + m.l%d.b, labels);\n};\n", h, layers, layers
  print "float step(Model<tt::arrays>& model, Model<tt::arrays>& velocity,"
  print "           const tt::Array<float, 64, 64>& images, const tt::Array<std::int64_t, 64>& labels) {"
  print "  return tt::fuse([](auto& m, auto& speed, auto x, auto y) {"
  print "    auto [value, gradient] = tt::value_and_grad(loss)(m, x, y);"
  print "    const auto update = [](auto& w, auto& v, auto& g) {"
  print "      v = 0.9f * v + g;\n      w -= 0.1f * v;\n    };"
  print "    tt::for_each_member(update, m, speed, gradient);"
  print "    return value;\n  })(model, velocity, images, labels).item();\n}"
}
