// Plans on the CPU executors, with every argument at the end of a page that nobody may touch
// beyond: what is read or written outside of an argument is a fault, and faults are caught.
#pragma once
#include <sys/mman.h>
#include <unistd.h>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <memory>

#include "evaluate.hpp"

namespace fuzz {

/// Memory that ends where a protected page begins, with a page before it to see what is written there.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes)
      : room_((bytes + page() - 1) / page() * page() + page()) {
    void* p =
        mmap(nullptr, room_ + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::abort();
    base_ = static_cast<std::byte*>(p);
    mprotect(base_ + room_, page(), PROT_NONE);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(base_, room_ + page()); }

  std::size_t room() const { return room_ - page(); }
  std::byte* begin(std::size_t bytes) const { return base_ + room_ - bytes; }
  void fill() { std::memset(base_, canary, room_); }
  bool untouched_before(std::size_t bytes) const {
    for (const std::byte *p = begin(bytes) - 256, *end = begin(bytes); p < end; ++p)
      if (*p != std::byte{canary}) return false;
    return true;
  }

 private:
  static constexpr unsigned char canary = 0xa5;
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  std::size_t room_;
  std::byte* base_ = nullptr;
};

/// Reuses memory from call to call: slot k is at least `bytes` large.
inline GuardedMemory& guarded_slot(std::size_t k, std::size_t bytes) {
  static std::vector<std::unique_ptr<GuardedMemory>> slots;
  while (slots.size() <= k) slots.push_back(nullptr);
  if (!slots[k] || slots[k]->room() < bytes)
    slots[k] = std::make_unique<GuardedMemory>(bytes < (1u << 16) ? 1u << 16 : bytes);
  slots[k]->fill();
  return *slots[k];
}

namespace detail {
inline sigjmp_buf fault_target;
[[noreturn]] inline void on_fault(int) { siglongjmp(fault_target, 1); }
}  // namespace detail

/// False if f touches memory that it may not.
template <class F>
bool survives(const F& f) {
  struct sigaction action = {}, before_segv, before_bus;
  action.sa_handler = &detail::on_fault;
  sigaction(SIGSEGV, &action, &before_segv);
  sigaction(SIGBUS, &action, &before_bus);
  volatile bool fine = false;
  if (sigsetjmp(detail::fault_target, 1) == 0) {
    f();
    fine = true;
  }
  sigaction(SIGSEGV, &before_segv, nullptr);
  sigaction(SIGBUS, &before_bus, nullptr);
  return fine;
}

struct GuardedResult {
  std::vector<Values> output;
  const char* trouble = nullptr;
};

struct Argument {
  DType dtype;
  std::size_t count;
  GuardedMemory* memory = nullptr;
  std::size_t bytes() const { return count * static_cast<std::size_t>(tt::size_of(dtype)); }
  std::byte* data() const { return memory->begin(bytes()); }
  Values read() const {
    Values v(count);
    for (std::size_t i = 0; i < count; ++i)
      v[i] = load_element(dtype, data() + i * static_cast<std::size_t>(tt::size_of(dtype)));
    return v;
  }
};

/// Runs `run(external)` on guarded arguments. `g` says what they are: its inputs, then its outputs
/// that are not donated.
template <class Run>
GuardedResult run_guarded(const Graph& g, const tt::SymbolValues& symbols,
                          const std::vector<Values>& input, const Run& run) {
  GuardedResult r;
  std::vector<Argument> arguments;
  const auto add = [&](int node) {
    Argument a{g[node].dtype, static_cast<std::size_t>(g[node].shape.size().value(symbols))};
    a.memory = &guarded_slot(arguments.size(), a.bytes());
    arguments.push_back(a);
  };
  for (int i : g.inputs) add(i);
  for (std::size_t k = 0; k < arguments.size(); ++k)
    for (std::size_t i = 0; i < arguments[k].count; ++i) {
      const auto bytes = static_cast<std::size_t>(tt::size_of(arguments[k].dtype));
      store_element(arguments[k].dtype, arguments[k].data() + i * bytes, input[k][i]);
    }
  std::vector<int> place;  // of each output
  std::vector<char> updated(arguments.size(), 0);
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.donated[k] >= 0) updated[static_cast<std::size_t>(g.donated[k])] = 1;
    place.push_back(g.donated[k] >= 0 ? g.donated[k] : static_cast<int>(arguments.size()));
    if (g.donated[k] < 0) add(g.outputs[k]);
  }
  std::vector<void*> external;
  for (const Argument& a : arguments) external.push_back(a.data());
  if (!survives([&] { run(external.data()); }))
    r.trouble = "memory outside of an argument was touched";
  for (const Argument& a : arguments)
    if (!a.memory->untouched_before(a.bytes())) r.trouble = "memory before an argument was written";
  for (std::size_t k = 0; k < updated.size(); ++k)
    if (!updated[k] && arguments[k].read() != input[k]) r.trouble = "an input was overwritten";
  for (int k : place) r.output.push_back(arguments[static_cast<std::size_t>(k)].read());
  return r;
}

}  // namespace fuzz
