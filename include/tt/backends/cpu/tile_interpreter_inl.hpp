// Runs a TileProgram (tile_interpreter.hpp; its preparation: tile_program_inl.hpp): kernel after kernel, each on one thread or divided among several.
#pragma once
#include "tt/backends/cpu/tile_worker_inl.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

struct TileProgram::Run {
  const TileProgram& program;
  const Plan& plan;
  void* const* external;
  const SymbolValues& symbols;
  const Placement* placement;
  Placement own;               // used if the placement cannot be kept
  SmallVec<long long, 64> given;
  std::byte* arena = nullptr;
  Worker first;
  Worker* others = nullptr;    // never destroyed, like the memory that they are in

  Run(const TileProgram& p, void* const* ext, const SymbolValues& s)
      : program(p), plan(p.plan_), external(ext), symbols(s), placement(p.find_placement(s)), given(s.size() + p.sizes_.size()), first(p, s, given.data()) {
    if (!placement) {
      own.offsets = Vec<std::int64_t>(plan.buffers.size() + 1, 0);
      own.arena = p.place(s, own.offsets);
      placement = &own;
    }
    for (int i = 0; i < s.size(); ++i) given[i] = symbols[i];
    for (int i = 0; i < p.sizes_.size(); ++i) given[s.size() + i] = p.sizes_[i].value(symbols);
    const std::size_t begin = Worker::rounded(static_cast<std::size_t>(placement->arena));
    arena = workspace().get(first.place(nullptr, begin));
    first.place(arena, begin);
  }
  Run(const Run&) = delete;

  /// Runs all kernels; returns how many ran compiled.
  int all() {
    int compiled = 0;
    const int threads = ThreadPool::in_worker() ? 1 : get_num_threads();
    for (int j = 0; j < plan.kernels.size(); ++j) {
      const Kernel& k = plan.kernels[j];  // a kernel that shares another's code has its own bindings
      void* function = program.compiled_kernel(j);
      const int its_sizes = program.first_size_.empty() ? -1 : program.first_size_[k.code];
      first.given = given.data() + (its_sizes < 0 ? 0 : symbols.size() + its_sizes);
      if (const int reader = j + program.reader_[j]; reader > j && program.in_bands(reader, symbols)) continue;
      first.begin_kernel(k, program.has_short_rows(k, symbols) ? nullptr : function);
      for (int b = 0; b < k.bindings; ++b) first.operands[b] = buffer(plan.bindings[k.first_binding + b]);
      first.begin_bands(j, [&](int b) { return buffer(b); });
      compiled += function != nullptr && !first.reads_parts_of_bands();
      Split split;
      if (threads > 1) split = split_kernel(extents_of(j), threads);
      if (split.parts > 1) divided(split);
      else {
        first.range = {};
        const int parts = first.bands_of == Worker::BandsOf::rows ? 1 : parts_of_row(k, threads);
        if (parts > 1 && first.function && shares_row(plan, k)) {
          share_row(k, parts);
          continue;
        }
        if (parts > 1 && !first.function) form_team(parts);
        first.work();
        first.team = {};
      }
    }
    return compiled;
  }
  /// The extents of kernel j, which the first worker has begun: with bands, rows of the transpositions.
  KernelExtents extents_of(int j) const {
    const auto value = [&](Extent e) { return e.value(symbols); };
    if (first.bands_of == Worker::BandsOf::rows) {
      const Kernel& t = plan.kernels[j - 1];
      return {KernelKind::rows, 1, value(t.rows), value(t.cols), 1, false, first.rows_of_line(t)};
    }
    const Kernel& k = plan.kernels[j];
    return {k.kind, value(k.batch), value(k.rows), value(k.cols), value(k.inner), program.columns_divide_[j] != 0};
  }
  /// The number of threads that share the row of a kernel with a single row. (`split_kernel` gives a row with a reduction to one thread.)
  int parts_of_row(const Kernel& k, int threads) const {
    if (threads < 2 || k.kind != KernelKind::rows || k.tile > 0 || k.rows.value(symbols) != 1 || is_transposition(k, plan.instructions.begin(), accesses_of(plan))) return 1;
    const std::int64_t most = k.cols.value(symbols) / work_per_thread;
    return most < threads ? static_cast<int>(most) : threads;
  }
  /// Runs a compiled kernel's row, phase by phase: see emit_c.hpp.
  void share_row(const Kernel& k, int parts) {
    struct Phase {
      const Worker& worker;
      int parts;
      KernelBounds bounds;
      void work(int part) const {
        const long long columns = bounds.end_col, blocks = (columns + row_block - 1) / row_block, end = blocks * (part + 1) / parts * row_block;
        KernelBounds mine = bounds;
        mine.first_of_phase = blocks * part / parts * row_block;
        mine.end_of_phase = end < columns ? end : columns;
        reinterpret_cast<KernelFunction>(worker.function)(worker.operands, worker.given, &mine);
      }
    } phase{first, parts, {0, 1, 0, k.cols.value(symbols)}};
    const long long blocks = (phase.bounds.end_col + row_block - 1) / row_block;
    phase.bounds.values = helpers_workspace().get(static_cast<std::size_t>(blocks * reductions_of(plan, k) * 8));
    for (phase.bounds.phase = 1; phase.bounds.phase <= k.sweeps; ++phase.bounds.phase)
      ThreadPool::instance().run(parts, [](void* context, int part) { static_cast<const Phase*>(context)->work(part); }, &phase);
    phase.work(0);
  }
  void form_team(int parts) {
    const std::int64_t blocks = (first.k->cols.value(symbols) + row_block - 1) / row_block;
    std::byte* const values = make_helpers(parts - 1, false, static_cast<std::size_t>(blocks * program.most_reductions_ * 8));
    for (int p = 0; p < parts - 1; ++p) others[p].prepare();
    first.team = {others, parts - 1, values};
  }
  /// Makes workers beside the first one, for its kernel, with its scratch rows or (own_scratch) their own. Returns the address of `more` bytes.
  std::byte* make_helpers(int count, bool own_scratch, std::size_t more) {
    const auto helpers = static_cast<std::size_t>(count);
    Worker counting(program, symbols, given.data());
    std::size_t each = counting.place(nullptr, 0);
    if (own_scratch) each = counting.join(first, nullptr, each);
    const std::size_t begin = Worker::rounded(helpers * sizeof(Worker));
    std::byte* const memory = helpers_workspace().get(begin + helpers * each + more);
    others = reinterpret_cast<Worker*>(memory);
    for (std::size_t p = 0; p < helpers; ++p) {
      Worker& w = *new (others + p) Worker(program, symbols, first.given);
      std::byte* const its = memory + begin + p * each;
      const std::size_t end = w.place(its, 0);
      if (own_scratch) w.join(first, its, end);
      else std::memcpy(w.operands, first.operands, static_cast<std::size_t>(first.k->bindings) * sizeof(void*));
      w.begin_kernel(*first.k, first.function);
      w.join_bands(first);
    }
    return memory + begin + helpers * each;
  }
  std::byte* buffer(int b) const {
    const Buffer& x = plan.buffers[b];
    return x.external >= 0 ? static_cast<std::byte*>(external[x.external]) : arena + placement->offsets[b];
  }
  void divided(const Split& split) {
    make_helpers(split.parts - 1, true, 0);
    first.range = split.part(0);
    for (int p = 1; p < split.parts; ++p) others[p - 1].range = split.part(p);
    ThreadPool::instance().run(
        split.parts,
        [](void* run, int p) {
          Run& r = *static_cast<Run*>(run);
          (p == 0 ? r.first : r.others[p - 1]).work();
        },
        this);
  }
};

TT_INLINE void TileProgram::run(void* const* external, const SymbolValues& symbols) const {
  if (expressions_.empty()) return count_call(Run(*this, external, symbols).all());
  SymbolValues values = symbols;
  for (int k = 0; k < expressions_.size(); ++k) values.set(first_expression_ + k, expressions_[k].value(symbols));
  count_call(Run(*this, external, values).all());
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
