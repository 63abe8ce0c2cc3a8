// What a program does on a device for given sizes: where its buffers lie, its launches in order, and the
// parameters of each. Planned once; a run only fills in the addresses of its operands and of its memory.
//   LaunchList list(plan, symbols, device.limits(), function);   list.parameters(external, memory)
#pragma once
#include <cstring>

#include "tt/backends/cuda/driver.hpp"
#include "tt/backends/cuda/launch.hpp"
#include "tt/graph/memory.hpp"

namespace tt::cuda {

class LaunchList {
 public:
  struct Item {
    Handle function = nullptr;
    unsigned grid = 1, block = 32, shared = 0;
    int first = 0;  ///< of its words among the parameters
    int words = 0;
  };

  /// `function(kernel number, launch)` gives what is launched.
  template <class Function>
  LaunchList(const Plan& plan, const SymbolValues& symbols, const DeviceLimits& limits, const Function& function) : symbols_(symbols) {
    Vec<std::int64_t> offsets(plan.buffers.size() + 1, 0);
    arena_ = plan_memory(plan.buffers.begin(), plan.buffers.size(), plan.kernels.size(), symbols, offsets.begin());
    for (int k = 0; k < plan.kernels.size(); ++k) {
      const Launches all = launches_of(plan, plan.kernels[k], symbols, limits);
      for (int i = 0; i < all.count; ++i) add(plan, plan.kernels[k], all.launch[i], offsets, function(k, all.launch[i]));
    }
  }
  bool is_for(const SymbolValues& symbols) const { return std::memcmp(symbols_.value, symbols.value, sizeof symbols.value) == 0; }
  /// Of memory beside the operands: the arena, then what one launch at a time works in.
  std::size_t bytes() const { return static_cast<std::size_t>(arena_ + work_); }
  const Vec<Item>& items() const { return items_; }
  /// The parameters of all launches, one behind the other. `external`: as for Program::run.
  Vec<std::uint64_t> parameters(void* const* external, DevicePointer memory) const {
    Vec<std::uint64_t> words = words_;
    for (const Address& a : addresses_)
      words[a.word] = a.external >= 0 ? reinterpret_cast<std::uintptr_t>(external[a.external]) : memory + static_cast<std::uint64_t>(a.offset);
    return words;
  }

 private:
  /// The tail of Operands<N> in the emitted text, behind its N pointers.
  struct Tail {
    std::int64_t symbols[max_symbols];
    DevicePointer work;
    std::int64_t work_team, shared_team, parts;
    std::int64_t team;  ///< an int in the text; the bytes behind it are never read
  };
  static_assert(sizeof(Tail) % sizeof(std::uint64_t) == 0);
  struct Address {
    int word = 0;
    int external = -1;        ///< number of the operand, or -1: `offset` in the memory
    std::int64_t offset = 0;
  };
  SymbolValues symbols_;
  std::int64_t arena_ = 0, work_ = 0;
  Vec<Item> items_;
  Vec<std::uint64_t> words_;
  Vec<Address> addresses_;

  void add(const Plan& plan, const Kernel& k, const Launch& l, const Vec<std::int64_t>& offsets, Handle function) {
    Item item{function, static_cast<unsigned>(l.grid), static_cast<unsigned>(l.block), static_cast<unsigned>(l.shared), words_.size(), 0};
    for (int b = 0; b < k.bindings; ++b) {
      const int number = plan.bindings[k.first_binding + b];
      addresses_.push_back({words_.size(), plan.buffers[number].external, offsets[number]});
      words_.push_back(0);
    }
    if (k.bindings == 0) words_.push_back(0);  // Operands<1>
    Tail t{};
    for (int s = 0; s < max_symbols; ++s) t.symbols[s] = symbols_.value[s];
    t.work_team = l.work_team;
    t.shared_team = l.shared_team;
    t.parts = l.parts;
    t.team = l.team;
    std::uint64_t tail[sizeof t / sizeof(std::uint64_t)];
    std::memcpy(tail, &t, sizeof t);
    addresses_.push_back({words_.size() + static_cast<int>(offsetof(Tail, work) / sizeof *tail), -1, arena_});
    words_.append(tail, sizeof tail / sizeof *tail);
    item.words = words_.size() - item.first;
    items_.push_back(item);
    if (l.work > work_) work_ = l.work;
  }
};

}  // namespace tt::cuda
