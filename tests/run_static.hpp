// Static programs against the reference executor, bit for bit, on ordinary numbers and on special ones; arguments end where a
// page ends that nobody may touch.
//   struct Isa {};  check_static<Model, Isa>();    // Isa: a type of the test's file, as files with other flags are others
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "run_guarded.hpp"
#include "tt/arrays.hpp"

/// Model::record() is the graph.
template <class Model, class Isa>
void check_static() {
  const tt::Graph recorded = Model::record(), g = tt::inline_bodies(recorded);
  REQUIRE_FALSE(recorded.failure);
  const tt::SymbolValues symbols;
  for (const fuzz::Numbers kind : {fuzz::Numbers::ordinary, fuzz::Numbers::special}) {
    fuzz::Random random(7);
    std::vector<fuzz::Values> in;
    for (int i : recorded.inputs)
      in.push_back(fuzz::random_values(random, recorded[i].dtype, recorded[i].shape.size().code, kind));
    const fuzz::GuardedResult r = fuzz::run_guarded(
        recorded, symbols, in, [&](void* const* external) { tt::detail::execute<Model, Isa>(external, symbols); });
    REQUIRE(std::string(r.trouble ? r.trouble : "") == "");
    tt::Text difference;
    if (const fuzz::Difference d = fuzz::compare(g, fuzz::evaluate(g, symbols, in), r.output)) {
      fuzz::describe(difference, g, d);
      difference << tt::to_string(recorded);
    }
    CHECK(std::string(difference.c_str()) == "");
  }
}
