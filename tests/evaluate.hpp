// Graphs on the reference executor: outputs as bits, and how they are compared.
#pragma once
#include <cstring>
#include <vector>

#include "random_graph.hpp"
#include "tt/graph/print.hpp"
#include "tt/graph/reference.hpp"

namespace fuzz {

/// The outputs of a graph without op bodies.
inline std::vector<Values> evaluate(const Graph& g, const tt::SymbolValues& symbols,
                                    const std::vector<Values>& input) {
  tt::detail::Reference r(g, symbols);
  for (int k = 0; k < g.inputs.size(); ++k) {
    const Values& from = input[static_cast<std::size_t>(k)];
    tt::Vec<std::uint64_t>& to = r.values[g.inputs[k]].bits;
    for (int i = 0; i < to.size(); ++i) to[i] = from[static_cast<std::size_t>(i)];
  }
  r.run();
  std::vector<Values> out;
  for (int o : g.outputs) out.emplace_back(r.values[o].bits.begin(), r.values[o].bits.end());
  return out;
}

/// An element in memory from a constant's bits, and back.
inline void store_element(DType d, void* to, std::uint64_t bits) {
  tt::with_dtype(d, [&]<class T>(T) {
    const T v = tt::decode<T>(bits);
    std::memcpy(to, &v, sizeof v);
  });
}
inline std::uint64_t load_element(DType d, const void* from) {
  return tt::with_dtype(d, [&]<class T>(T) {
    T v;
    std::memcpy(&v, from, sizeof v);
    tt::detail::ReferenceValue r{{0}};
    r.set(0, v);
    return r.bits[0];
  });
}

/// Equal bits; any NaN equals any other.
inline bool same_bits(DType d, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  const double x = tt::decode(d, a), y = tt::decode(d, b);
  return tt::is_floating(d) && x != x && y != y;
}

struct Difference {
  int output = -1;  ///< -1: none
  std::int64_t element = 0;
  std::uint64_t want = 0, got = 0;
  explicit operator bool() const { return output >= 0; }
};

inline Difference compare(const Graph& g, const std::vector<Values>& want,
                          const std::vector<Values>& got) {
  for (int k = 0; k < g.outputs.size(); ++k) {
    const Values &a = want[static_cast<std::size_t>(k)], &b = got[static_cast<std::size_t>(k)];
    if (a.size() != b.size()) return {k, -1, a.size(), b.size()};
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same_bits(g[g.outputs[k]].dtype, a[i], b[i]))
        return {k, static_cast<std::int64_t>(i), a[i], b[i]};
  }
  return {};
}

inline void describe(tt::Text& t, const Graph& g, const Difference& d) {
  const DType dtype = g[g.outputs[d.output]].dtype;
  t << "output " << d.output << ", element " << d.element << ": " << tt::number_text(dtype, d.got)
    << ", the reference has " << tt::number_text(dtype, d.want);
  t << " (bits " << d.got << " and " << d.want << ")\n";
}

}  // namespace fuzz
