// A program's launches on a device for given sizes: the placement of its buffers, its launches in order, and the parameters of each.
// Planned once; a run only fills in the addresses of its operands and of its memory, and the elements that are passed by value.
//   LaunchList list(plan, symbols, device.limits(), function, library);   list.parameters(arguments, memory)
#pragma once
#include <cstring>

#include "tt/backends/cuda/driver.hpp"
#include "tt/backends/cuda/launch.hpp"
#include "tt/backends/cuda/library_kernel.hpp"
#include "tt/backends/device_program.hpp"
#include "tt/plan/memory.hpp"

namespace tt::cuda {

class LaunchList {
 public:
  struct Item {
    struct Function {
      Handle handle = nullptr;
      unsigned grid = 1, block = 32, shared = 0;
    };
    Function function;
    int first = 0;  ///< index of its first word in the parameters
    int words = 0;
    std::shared_ptr<const LibraryKernel> library;  ///< computes the same, if the operands are aligned, except the epilogue:
    Function epilogue;                             ///< launched after a library that leaves sums, or null
  };

  /// `function(kernel number, launch)` returns the function to launch, `library(kernel number)` the LibraryKernel to use instead, or null.
  template <class Function, class Library>
  LaunchList(const Plan& plan, const SymbolValues& symbols, const DeviceLimits& limits, const Function& function, const Library& library)
      : symbols_(symbols) {
    Vec<std::int64_t> offsets(plan.buffers.size() + 1, 0);
    const Vec<char> values = may_be_values(plan);
    arena_ = plan_memory(plan.buffers.begin(), plan.buffers.size(), plan.kernels.size(), symbols, offsets.begin());
    for (int k = 0; k < plan.kernels.size(); ++k) {
      const Launches all = launches_of(plan, plan.kernels[k], symbols, limits);
      for (int i = 0; i < all.count; ++i) add(plan, plan.kernels[k], all.launch[i], offsets, values, function(k, all.launch[i]));
      if (const std::shared_ptr<const LibraryKernel> by = library(k)) {
        Item& item = items_.back();
        if (by->leaves_sums()) {
          const Launch l = epilogue_launch(plan, plan.kernels[k], symbols, limits);
          item.epilogue = function_for(l, function(k, l));
        }
        if (static_cast<std::int64_t>(by->memory()) > work_) work_ = static_cast<std::int64_t>(by->memory());
        item.library = by;
        ++by_library_;
      }
    }
  }
  bool is_for(const SymbolValues& symbols) const { return symbols_ == symbols; }
  /// Bytes of memory besides the operands: the arena, then work memory, which one launch at a time uses.
  std::size_t bytes() const { return static_cast<std::size_t>(arena_ + work_); }
  const Vec<Item>& items() const { return items_; }
  /// The number of products and convolutions that a library computes.
  int by_library() const { return by_library_; }
  /// The work memory of an item, if the list's memory begins at `memory`.
  DevicePointer work(DevicePointer memory) const { return memory + static_cast<std::uint64_t>(arena_); }
  /// The parameters of all launches, contiguous.
  Vec<std::uint64_t> parameters(const ProgramArguments& arguments, DevicePointer memory) const {
    Vec<std::uint64_t> words = words_;
    for (const Address& a : addresses_) {
      if (a.external < 0) {
        words[a.word] = memory + static_cast<std::uint64_t>(a.offset);
      } else if (a.value_bytes > 0 && arguments.is_on_host(a.external)) {
        std::memcpy(&words[a.word], arguments.external[a.external], static_cast<std::size_t>(a.value_bytes));
        words[a.tail + team_word] |= std::uint64_t{1} << (32 + a.operand);
      } else {
        words[a.word] = reinterpret_cast<std::uintptr_t>(arguments.external[a.external]);
      }
    }
    return words;
  }

 private:
  /// The tail of Operands<N> in the emitted text, behind its N pointers and the values of the symbols.
  struct Tail {
    DevicePointer work;
    std::int64_t work_team, shared_team, parts;
    int team;
    unsigned values;
  };
  static_assert(sizeof(Tail) % sizeof(std::uint64_t) == 0 && offsetof(Tail, values) == offsetof(Tail, team) + 4);
  static constexpr int tail_words = sizeof(Tail) / sizeof(std::uint64_t), team_word = offsetof(Tail, team) / sizeof(std::uint64_t),
                       work_word = offsetof(Tail, work) / sizeof(std::uint64_t);
  struct Address {
    int word = 0;
    int external = -1;        ///< number of the operand, or -1: the address is `offset` in the list's memory
    std::int64_t offset = 0;
    int value_bytes = 0;      ///< bytes of an operand that may be passed by value; else 0
    int operand = 0, tail = 0;  ///< its number among the kernel's operands, and the word at which its launch's tail begins
  };
  SymbolValues symbols_;
  std::int64_t arena_ = 0, work_ = 0;
  int by_library_ = 0;
  Vec<Item> items_;
  Vec<std::uint64_t> words_;
  Vec<Address> addresses_;

  static Item::Function function_for(const Launch& l, Handle handle) {
    return {handle, static_cast<unsigned>(l.grid), static_cast<unsigned>(l.block), static_cast<unsigned>(l.shared)};
  }
  void add(const Plan& plan, const Kernel& k, const Launch& l, const Vec<std::int64_t>& offsets, const Vec<char>& values, Handle function) {
    Item item;
    item.function = function_for(l, function);
    item.first = words_.size();
    const int tail_at = words_.size() + (k.bindings > 0 ? k.bindings : 1) + plan.symbols;
    for (int b = 0; b < k.bindings; ++b) {
      const int number = plan.bindings[k.first_binding + b];
      const Buffer& x = plan.buffers[number];
      addresses_.push_back({words_.size(), x.external, offsets[number], values[number] ? static_cast<int>(size_of(x.dtype)) : 0, b, tail_at});
      words_.push_back(0);
    }
    if (k.bindings == 0) words_.push_back(0);  // Operands<1>
    for (int s = 0; s < plan.symbols; ++s) words_.push_back(static_cast<std::uint64_t>(symbols_[s]));
    Tail t{};
    t.work_team = l.work_team;
    t.shared_team = l.shared_team;
    t.parts = l.parts;
    t.team = l.team;
    std::uint64_t tail[tail_words];
    std::memcpy(tail, &t, sizeof t);
    addresses_.push_back({tail_at + work_word, -1, arena_});
    words_.append(tail, tail_words);
    item.words = words_.size() - item.first;
    items_.push_back(item);
    if (l.work > work_) work_ = l.work;
  }
};

}  // namespace tt::cuda
