// Plans on the tile interpreter, on guarded arguments.
#pragma once
#include "run_guarded.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"

namespace fuzz {

inline GuardedResult run_tiles(const tt::Plan& plan, const Graph& g,
                               const tt::SymbolValues& symbols, const std::vector<Values>& input) {
  if (plan.failure) return {{}, "the plan has a failure"};
  const tt::cpu::TileProgram program(plan);
  return run_guarded(g, symbols, input,
                     [&](void* const* external) { program.run(external, symbols); });
}

}  // namespace fuzz
