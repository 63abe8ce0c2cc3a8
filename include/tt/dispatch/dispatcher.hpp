// The dispatcher: a table of operators, each with a kernel for every dispatch key. A call looks at
// the keys of its arguments, takes the highest for which there is a kernel, and runs it. Kernels
// may be registered from outside, for a key of one's own.
//   tt::Dispatcher::get().find("silu").set(DispatchKey::private_use, my_silu);
#pragma once
#include <atomic>
#include <cstring>

#include "tt/core/tensor.hpp"

namespace tt {

/// Arguments in, results out; a kernel takes its arguments off and leaves its results.
using Stack = Vec<Tensor>;

class OperatorEntry {
 public:
  using Kernel = void (*)(const OperatorEntry&, Stack&);

  explicit OperatorEntry(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  /// Notes whose operator this is; throws Error when another definition has the same name.
  void claim(const void* definition) {
    const void* owner = nullptr;
    if (!definition_.compare_exchange_strong(owner, definition) && owner != definition)
      TT_THROW(Error(Text("tt: two ops are called '") << name_ << "'. Rename one of them."));
  }
  Kernel kernel(DispatchKey k) const {
    return kernels_[static_cast<int>(k)].load(std::memory_order_acquire);
  }
  void set(DispatchKey k, Kernel function) {
    kernels_[static_cast<int>(k)].store(function, std::memory_order_release);
  }

 private:
  const char* name_;
  std::atomic<const void*> definition_ = nullptr;
  std::atomic<Kernel> kernels_[static_cast<int>(DispatchKey::count)] = {};
};

class Dispatcher {
 public:
  static Dispatcher& get() {
    static Dispatcher dispatcher;
    return dispatcher;
  }

  /// The operator of this name; it is added when it is not there yet. Stays where it is for ever.
  OperatorEntry& find(const char* name) {
    for (Node* n = first_.load(std::memory_order_acquire); n; n = n->next)
      if (std::strcmp(n->entry.name(), name) == 0) return n->entry;
    Node* fresh = new Node(name);
    fresh->next = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {
    }
    return fresh->entry;
  }

  /// Runs the kernel of the highest key of the arguments; throws Unavailable if it has none.
  void call(const OperatorEntry& op, Stack& stack) {
    KeySet keys;
    for (const Tensor& t : stack) keys = keys | t.keys();
    for (KeySet k = keys; !k.empty(); k = k.without(k.highest()))
      if (const OperatorEntry::Kernel run = op.kernel(k.highest())) {
        dispatches_.fetch_add(1, std::memory_order_relaxed);
        run(op, stack);
        return;
      }
    TT_THROW(Unavailable(Text("tt::") << op.name() << ": has no kernel for these Tensors."));
  }
  /// How many kernels were run so far: tests read it to know which path they took.
  std::int64_t dispatches() const { return dispatches_.load(std::memory_order_relaxed); }

 private:
  struct Node {
    OperatorEntry entry;
    Node* next = nullptr;
    explicit Node(const char* name) : entry(name) {}
  };
  std::atomic<Node*> first_ = nullptr;
  std::atomic<std::int64_t> dispatches_ = 0;

  Dispatcher() = default;
};

/// A boxed call by name: `call_operator("silu", {x})`.
inline Tensor call_operator(const char* name, std::initializer_list<Tensor> arguments) {
  Stack stack;
  for (const Tensor& t : arguments) stack.push_back(t);
  Dispatcher::get().call(Dispatcher::get().find(name), stack);
  return stack[0];
}

}  // namespace tt
