// The command queue of a simulated NPU: streams of commands, run one after the other by a thread of its own. Commands of one stream
// keep their order; those of two run in any, unless one waits for an event of the other.
//   queue.submit(0, [=] { ... });   Event e = queue.record(0);   queue.wait(1, e);   queue.synchronize(1);
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace npu {

/// A place in a stream. It has come when all commands before it have run.
using Event = std::shared_ptr<std::atomic<bool>>;

class Queue {
 public:
  using Command = std::function<void()>;

  Queue() : streams_(1), thread_([this] { run(); }) {}
  Queue(const Queue&) = delete;
  ~Queue() {
    {
      const std::lock_guard lock(busy_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  int make_stream() {
    const std::lock_guard lock(busy_);
    streams_.emplace_back();
    return static_cast<int>(streams_.size()) - 1;
  }
  // [queue]
  void submit(int stream, Command command) { push(stream, {std::move(command), nullptr}); }
  Event record(int stream) {
    Event e = std::make_shared<std::atomic<bool>>(false);
    push(stream, {[e] { *e = true; }, nullptr});
    return e;
  }
  /// What is submitted to the stream from now on waits for the event.
  void wait(int stream, Event e) { push(stream, {[] {}, std::move(e)}); }
  static bool has_come(const Event& e) { return *e; }
  /// Until a stream, or all of them (-1), has nothing left to do. Throws what a command threw.
  void synchronize(int stream = -1) {
    std::unique_lock lock(busy_);
    changed_.wait(lock, [&] { return is_idle(stream); });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  // [/queue]
  std::int64_t commands() {
    const std::lock_guard lock(busy_);
    return commands_;
  }

 private:
  struct Entry {
    Command command;
    Event waits_for;
  };
  struct Stream {
    std::deque<Entry> entries;
    bool runs = false;
  };
  std::mutex busy_;
  std::condition_variable changed_;
  std::deque<Stream> streams_;
  std::exception_ptr failure_;
  std::int64_t commands_ = 0;
  bool ends_ = false;
  std::thread thread_;

  void push(int stream, Entry e) {
    {
      const std::lock_guard lock(busy_);
      streams_.at(static_cast<std::size_t>(stream)).entries.push_back(std::move(e));
    }
    changed_.notify_all();
  }
  bool is_idle(int stream) const {
    for (std::size_t k = 0; k < streams_.size(); ++k)
      if ((stream < 0 || k == static_cast<std::size_t>(stream)) && (streams_[k].runs || !streams_[k].entries.empty())) return false;
    return true;
  }
  /// The next stream, after the one that had its turn, whose first command may run.
  Stream* find_ready(std::size_t& turn) {
    for (std::size_t k = 0; k < streams_.size(); ++k) {
      const std::size_t at = (turn + 1 + k) % streams_.size();
      Stream& s = streams_[at];
      if (s.entries.empty() || (s.entries.front().waits_for && !*s.entries.front().waits_for)) continue;
      turn = at;
      return &s;
    }
    return nullptr;
  }
  void run() {
    std::size_t turn = 0;
    std::unique_lock lock(busy_);
    for (;;) {
      Stream* s = nullptr;
      changed_.wait(lock, [&] { return (s = find_ready(turn)) || ends_; });
      if (!s) return;
      Command command = std::move(s->entries.front().command);
      s->entries.pop_front();
      s->runs = true;
      ++commands_;
      lock.unlock();
      try {
        command();
      } catch (...) {
        lock.lock();
        failure_ = std::current_exception();
        lock.unlock();
      }
      command = nullptr;  // what it held ends here
      lock.lock();
      s->runs = false;
      changed_.notify_all();
    }
  }
};

}  // namespace npu
