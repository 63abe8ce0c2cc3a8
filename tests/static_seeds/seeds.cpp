// Twelve random graphs that the compiler draws, schedules and turns into code: TT_FIRST_SEED and those behind it.
#include "seeds.hpp"

#include <utility>

#include "tt/expr/program.hpp"

namespace fuzz {
namespace {

template <std::uint64_t Seed>
struct Model {
  static constexpr Graph record() { return small_program<GraphProgram>(Seed).graph; }
};
struct Isa {};  // a type of this file: programs of files with other flags are others

template <std::uint64_t Seed>
constexpr StaticSeed static_seed{Seed, hash_of(Model<Seed>::record()), &tt::detail::execute<Model<Seed>, Isa>};

template <std::uint64_t... K>
const StaticSeed* list(std::integer_sequence<std::uint64_t, K...>) {
  static constexpr StaticSeed seeds[] = {static_seed<TT_FIRST_SEED + K>...};
  return seeds;
}

}  // namespace

template <>
const StaticSeed* static_seeds<TT_FIRST_SEED>() {
  return list(std::make_integer_sequence<std::uint64_t, seeds_in_a_file>());
}

}  // namespace fuzz
