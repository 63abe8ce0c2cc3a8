// Tier 0: runs a Plan at run time without a compiler. Instructions work on tiles of at most 2,048 elements that stay in the L1 cache,
// through the table of tile functions; same plan, same bodies, same order of summation, so the same bits as the static kernels.
// Several short rows share a tile; results are computed directly in the memory to which they are stored. Large kernels are divided
// among threads as static ones are (plan/split.hpp).
//   TileProgram program(plan);   program.run(external, symbols);
#pragma once
#include <cstddef>
#include <memory>

#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/core/storage.hpp"
#include "tt/plan/memory.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {

inline namespace TT_ISA {

struct TileStep;
struct TileRegisters;

/// The part of a kernel that one call of compiled code computes, in the layout of emitted text: r[0] to r[7].
struct KernelBounds {
  long long first_row, end_row, first_col, end_col;
  long long phase = 0;                            ///< of a row that threads share, see emit_c.hpp; 0: the whole kernel
  long long first_of_phase = 0, end_of_phase = 0;  ///< columns
  std::byte* values = nullptr;                     ///< of blocks and reductions, 8 bytes each
};
static_assert(sizeof(KernelBounds) == 8 * sizeof(long long));
/// A kernel compiled from emitted text; for a matrix product only the epilogue over part of a row.
using KernelFunction = void (*)(void* const* operand, const long long* symbols, const KernelBounds* bounds);
using EpilogueFunction = void (*)(void* const* operand, const long long* symbols, long long row,
                                  long long col, long long n, const void* tile);

class TileProgram {
 public:
  explicit TileProgram(Plan plan);
  TileProgram(const TileProgram&) = delete;
  TileProgram& operator=(const TileProgram&) = delete;
  ~TileProgram();
  const Plan& plan() const { return expressions_.empty() ? plan_ : given_; }
  /// The number of different size expressions of the plan that are not products of symbols: each is evaluated once a run.
  int expressions() const { return expressions_.size(); }

  /// From now on kernel k (and kernels that share its code) runs through this function: a KernelFunction, or an EpilogueFunction for a
  /// matrix product. Other threads may be running the program: a kernel that has begun ends with the code it began with. The function
  /// must outlive the program.
  void replace_kernel(int k, void* function) {
    for (int j = 0; j < plan_.kernels.size(); ++j)
      if (plan_.kernels[j].code == k) __atomic_store_n(&compiled_[j], function, __ATOMIC_RELEASE);
  }
  /// Keeps the code that such functions are in, as long as the program lives. Not for several threads at once.
  void keep(std::shared_ptr<void> code) {
    for (const std::shared_ptr<void>& kept : code_)
      if (kept == code) return;
    code_.push_back(static_cast<std::shared_ptr<void>&&>(code));
  }
  /// Makes kernels that the library has compiled run compiled (backends/cpu/library_kernels.hpp). Call before the first run.
  void take_library_kernels();
  /// Short rows run in the interpreter, many together, even if the kernel is compiled: compiled code takes them one by one
  /// (`has_short_rows`). Tests of compiled code set this to run it for all rows.
  static inline bool always_compiled = false;
  /// Only large transpositions are made in bands. Tests set this to make all in bands, before the first run: a program keeps its placements.
  static inline bool always_bands = false;
  /// The number of kernels that run compiled.
  [[nodiscard]] int compiled_kernels() const {
    int n = 0;
    for (int j = 0; j < compiled_.size(); ++j) n += compiled_kernel(j) != nullptr;
    return n;
  }
  /// Calls in which every kernel ran compiled (tier 1), and the others (tier 0).
  struct Calls {
    std::int64_t tier0 = 0, tier1 = 0;
  };
  [[nodiscard]] Calls calls() const {
    return {__atomic_load_n(&calls_.tier0, __ATOMIC_RELAXED),
            __atomic_load_n(&calls_.tier1, __ATOMIC_RELAXED)};
  }

  /// `external`: inputs in order, then outputs that do not reuse a donated input. Thread-safe.
  void run(void* const* external, const SymbolValues& symbols) const;

 private:
  bool has_short_rows(const Kernel& k, const SymbolValues& s) const;
  void* compiled_kernel(int j) const { return __atomic_load_n(&compiled_[j], __ATOMIC_ACQUIRE); }
  void count_call(int compiled) const {
    const bool tier1 = compiled > 0 && compiled == plan_.kernels.size();
    __atomic_fetch_add(tier1 ? &calls_.tier1 : &calls_.tier0, 1, __ATOMIC_RELAXED);
  }

  Plan plan_, given_;       ///< plan_ has a symbol in place of each such expression; given_ is the original, kept if there are some
  Vec<Extent> expressions_;  ///< their values follow those of symbols, from first_expression_ on
  int first_expression_ = 0;
  const TileKernels& kernels_;
  Vec<TileStep> steps_;       // the part of each instruction's TileStep that is known before a run
  Vec<char> columns_divide_;  // of each kernel
  Vec<int> reductions_;       // of each kernel
  Vec<int> bands_;            // of each kernel: the number of copies right before it that may be made with its rows or columns (plan/bands.hpp)
  Vec<int> reader_;           // of each such copy: the distance, in kernels, to its reader; of others 0
  Vec<void*> compiled_;  // for each kernel, or null; atomic
  Vec<std::shared_ptr<void>> code_;
  Vec<Extent> sizes_;     // the arguments of library kernels, consecutive for each kernel
  Vec<int> first_size_;   // of each kernel: the index of its first size; -1: it takes the symbols. Empty: there are no library kernels
  mutable Calls calls_;  // atomic
  int most_registers_ = 0, most_tiles_ = 0, most_reductions_ = 0, most_bindings_ = 0, most_steps_ = 0, most_kept_ = 0, most_bands_ = 0;

  static bool on_columns(const Kernel& k, int s) { return s % 2 == 1 || (k.kind == KernelKind::cols && s == 2); }
  TileStep step_of(const Instruction& x, const TileRegisters& numbers) const;
  void assign_tiles(const Kernel& k);
  static void find_place_of_row(TileStep& take, const TileStep& places, bool before, KernelKind kind);
  void name_expressions();
  Extent named(Extent e);
  void find_bands();

  /// The offsets of the arena's buffers for one set of symbol values.
  struct Placement {
    SymbolValues symbols;
    std::int64_t arena = 0;
    Vec<std::int64_t> offsets;
    Placement* next = nullptr;
  };
  static constexpr int most_placements = 32;
  mutable Placement* placements_ = nullptr;  // atomic; grows only

  /// The placement for these sizes: looked up, or computed and kept. Null when most_placements are kept.
  const Placement* find_placement(const SymbolValues& s) const {
    Placement* first = __atomic_load_n(&placements_, __ATOMIC_ACQUIRE);
    int count = 0;
    for (const Placement* p = first; p; p = p->next, ++count)
      if (p->symbols == s) return p;
    if (count >= most_placements) return nullptr;
    auto* fresh = new Placement{s, 0, Vec<std::int64_t>(plan_.buffers.size() + 1, 0), first};
    fresh->arena = place(s, fresh->offsets);
    while (!__atomic_compare_exchange_n(&placements_, &fresh->next, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return fresh;
  }
  TT_INLINE std::int64_t place(const SymbolValues& s, Vec<std::int64_t>& offsets) const;
  /// Are the copies before kernel j made in bands, with these sizes? Then they need no place in the arena.
  TT_INLINE bool in_bands(int j, const SymbolValues& s) const;

  /// The thread's memory for one run at a time: arena, tiles, tables; and the memory of its helpers.
  static Scratch& workspace() {
    thread_local constinit Scratch scratch;
    return scratch;
  }
  static Scratch& helpers_workspace() {
    thread_local constinit Scratch scratch;
    return scratch;
  }

  // One thread of a run, in four parts, each a base of the next, as they share its registers.
  struct Registers;
  struct RowsTogether;
  struct Bands;
  struct Worker;
  struct Run;
};

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END

#if TT_DEFINES(cpu)
#include "tt/backends/cpu/tile_program_inl.hpp"
#include "tt/backends/cpu/tile_interpreter_inl.hpp"
#endif
