// Groups of processes, or of threads, that compute together, by tt/dist/collectives.hpp. Names and meanings are torch.distributed's.
//   tt::distributed::init_process_group("tcp://10.0.0.1:29500", rank, world_size);      in each process (tt/dist/tcp_group.hpp)
//   tt::distributed::run_threads(4, [] { ... });                                        four threads of one process, a group of their own
// A group has one primitive, exchange(): each rank gives each other one a part of memory.
#pragma once
#include <atomic>
#include <barrier>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tt/core/error.hpp"

namespace tt::distributed {

/// A part of memory for each rank, in their order; the own one is copied.
using SendParts = std::vector<std::span<const std::byte>>;
using ReceiveParts = std::vector<std::span<std::byte>>;

/// A member of a group, as one rank sees it. All ranks make the same calls in the same order. Derive from it to bring up another way to communicate.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Sends part k of `send` to rank k, and fills part k of `receive` by rank k; returns when both are done.
  /// Throws Error when the other side gives another number of bytes, or is gone.
  virtual void exchange(const SendParts& send, const ReceiveParts& receive, SourceLine at) = 0;

 protected:
  ProcessGroup(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_, size_;
};

namespace detail {
inline std::shared_ptr<ProcessGroup>& default_group() {
  static std::shared_ptr<ProcessGroup> group;
  return group;
}
inline thread_local ProcessGroup* group_of_thread = nullptr;

struct GroupStopped : Error {
  using Error::Error;
};
[[noreturn]] inline void refuse_bytes(int from, std::size_t sent, std::size_t expected, SourceLine at) {
  TT_THROW(Error(Text("tt::distributed: rank ") << from << " sends " << static_cast<std::int64_t>(sent) << " bytes where " << static_cast<std::int64_t>(expected)
                                                << " are expected. Do all ranks make the same call, with equal shapes and dtypes?" << at));
}
}  // namespace detail

/// Within the life of this object, this thread's collectives are those of `group`.
class GroupGuard {
 public:
  explicit GroupGuard(ProcessGroup& group) : before_(std::exchange(detail::group_of_thread, &group)) {}
  ~GroupGuard() { detail::group_of_thread = before_; }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

 private:
  ProcessGroup* before_;
};

inline bool is_initialized() { return detail::group_of_thread || detail::default_group(); }
/// The group of this thread, or of the process. Throws Error where there is none.
inline ProcessGroup& current_group(SourceLine at = here()) {
  if (detail::group_of_thread) return *detail::group_of_thread;
  if (!detail::default_group()) TT_THROW(Error(Text("tt::distributed: this thread is in no group. Call init_process_group first?") << at));
  return *detail::default_group();
}
inline int get_rank(SourceLine at = here()) { return current_group(at).rank(); }
inline int get_world_size(SourceLine at = here()) { return current_group(at).size(); }
/// Makes `group` that of the process.
inline void init_process_group(std::shared_ptr<ProcessGroup> group) { detail::default_group() = std::move(group); }
inline void destroy_process_group() { detail::default_group() = nullptr; }

namespace detail {

/// Members of one process: each shows its parts to the others and copies theirs, between two barriers.
class ThreadGroup final : public ProcessGroup {
 public:
  struct Shared {
    explicit Shared(int size) : parts(static_cast<std::size_t>(size)), all(size) {}
    std::vector<std::atomic<const SendParts*>> parts;  ///< of each rank; null: it has left
    std::barrier<> all;
    std::atomic<bool> differ = false;  ///< in some round some sizes did: no further round is right
  };
  ThreadGroup(std::shared_ptr<Shared> shared, int rank) : ProcessGroup(rank, static_cast<int>(shared->parts.size())), shared_(std::move(shared)) {}

  /// A member that has left is seen by all others in the same round, behind the first barrier; sizes that differ, behind the second.
  void exchange(const SendParts& send, const ReceiveParts& receive, SourceLine at) override {
    const auto own = static_cast<std::size_t>(rank());
    shared_->parts[own] = &send;
    shared_->all.arrive_and_wait();
    for (const auto& parts : shared_->parts)
      if (!parts.load()) stopped(at);
    std::size_t wrong = receive.size(), sent = 0;
    for (std::size_t k = 0; k < receive.size(); ++k) {
      const std::span<const std::byte> from = (*shared_->parts[k].load())[own];
      if (from.size() != receive[k].size()) wrong = k, sent = from.size();
      else if (!from.empty()) std::memcpy(receive[k].data(), from.data(), from.size());
    }
    if (wrong < receive.size()) shared_->differ = true;
    shared_->all.arrive_and_wait();  // behind this nobody reads `send`
    if (wrong < receive.size()) refuse_bytes(static_cast<int>(wrong), sent, receive[wrong].size(), at);
    if (shared_->differ) stopped(at);
  }
  /// This member makes no further calls.
  void leave() {
    shared_->parts[static_cast<std::size_t>(rank())] = nullptr;
    shared_->all.arrive_and_drop();
  }

 private:
  [[noreturn]] static void stopped(SourceLine at) { TT_THROW(GroupStopped(Text("tt::distributed: another rank of the group has stopped.") << at)); }
  std::shared_ptr<Shared> shared_;
};

}  // namespace detail

/// Runs f() in `size` threads, each a rank of one group. Throws the error of the first rank that has one.
template <class F>
void run_threads(int size, const F& f) {
  const auto shared = std::make_shared<detail::ThreadGroup::Shared>(size);
  std::vector<std::exception_ptr> error(static_cast<std::size_t>(size)), stopped(error);
  const auto run = [&](int rank) {
    detail::ThreadGroup group(shared, rank);
    const GroupGuard guard(group);
    try {
      f();
    } catch (const detail::GroupStopped&) {
      stopped[static_cast<std::size_t>(rank)] = std::current_exception();
    } catch (...) {
      error[static_cast<std::size_t>(rank)] = std::current_exception();
    }
    group.leave();
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      try {
        threads.emplace_back(run, rank);
      } catch (...) {  // no thread for this rank
        error[static_cast<std::size_t>(rank)] = std::current_exception();
        detail::ThreadGroup(shared, rank).leave();
      }
    }
  }
  error.insert(error.end(), stopped.begin(), stopped.end());  // which only follow from others
  for (const std::exception_ptr& e : error)
    if (e) std::rethrow_exception(e);
}

}  // namespace tt::distributed
