// The threads of the library, one pool a process. plan/split.hpp divides kernels into parts; the pool runs the parts on its threads
// and on the caller's.
//   tt::set_num_threads(4);
// POSIX threads: <thread> alone costs every user's file 0.1 s of compile time.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <new>

#include "tt/core/error.hpp"

namespace tt {
namespace cpu {

using PartFunction = void (*)(void* context, int part);

class ThreadPool {
 public:
  /// Never destroyed, so threads may end at exit while others still work. Its own threads end at exit, as a library that contains
  /// this code may be unloaded. Later calls run on the caller's thread alone.
  static ThreadPool& instance() {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { slot() = new ThreadPool; }) + atexit([] { slot()->end_workers(); });
    (void)registered;
    return *slot();
  }

  /// Is this one of the pool's own threads?
  static bool in_worker() { return worker_flag(); }

  /// Calls function(context, p) for every p in [0, parts), on at most `parts` threads, and returns when all are done. Inside a worker,
  /// or while another caller uses the pool, all parts run on this thread.
  void run(int parts, PartFunction function, void* context) {
    if (parts < 2 || in_worker() || pthread_mutex_trylock(&caller_) != 0) {
      for (int p = 0; p < parts; ++p) function(context, p);
      return;
    }
    start_workers(parts - 1);
    Job job{function, context, parts};
    pthread_mutex_lock(&mutex_);
    job_ = &job;
    __atomic_store_n(&generation_, generation_ + 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&mutex_);
    job.work();
    pthread_mutex_lock(&mutex_);
    job_ = nullptr;  // a worker that wakes now is too late
    pthread_mutex_unlock(&mutex_);
    const auto others_are_done = [this] { return __atomic_load_n(&active_, __ATOMIC_ACQUIRE) == 0; };
    if (!wait_briefly(others_are_done)) {
      pthread_mutex_lock(&mutex_);
      while (!others_are_done()) pthread_cond_wait(&finished_, &mutex_);
      pthread_mutex_unlock(&mutex_);
    }
    pthread_mutex_unlock(&caller_);
  }

 private:
  struct Job {
    PartFunction function;
    void* context;
    int parts;
    int next = 0;
    void work() {
      for (int p; (p = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < parts;)
        function(context, p);
    }
  };

  pthread_mutex_t caller_ = PTHREAD_MUTEX_INITIALIZER, mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER, finished_ = PTHREAD_COND_INITIALIZER;
  Job* job_ = nullptr;
  unsigned generation_ = 0;
  int active_ = 0;  // atomic, changed under mutex_ only
  Vec<pthread_t> workers_;
  bool ended_ = false;  // under mutex_ only

  /// Waits some ten microseconds at most: to sleep and be woken takes longer than most kernels. Returns whether the condition holds.
  template <class Condition>
  static bool wait_briefly(const Condition& is_so) {
    for (int turn = 0; turn < 1000; ++turn) {
      if (is_so()) return true;
      if (turn % 64 == 63) sched_yield();  // the awaited thread may need this core
#if defined(__SSE2__)
      else __builtin_ia32_pause();
#endif
    }
    return is_so();
  }

  /// A child of fork has no workers, and its mutexes may be locked: it gets a new pool.
  static ThreadPool*& slot() {
    static ThreadPool* pool = new ThreadPool;
    return pool;
  }
  static bool& worker_flag() {
    thread_local bool flag = false;
    return flag;
  }

  void start_workers(int wanted) {
    if (workers_.size() >= wanted) return;
    pthread_mutex_lock(&mutex_);
    pthread_t thread;  // if no thread can be created, the existing ones do the work
    while (!ended_ && workers_.size() < wanted && pthread_create(&thread, nullptr, &ThreadPool::worker, this) == 0) workers_.push_back(thread);
    pthread_mutex_unlock(&mutex_);
  }
  void end_workers() {
    pthread_mutex_lock(&mutex_);
    ended_ = true;
    pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&mutex_);
    for (const pthread_t thread : workers_) pthread_join(thread, nullptr);
  }

  static void* worker(void* self) {
    worker_flag() = true;
    static_cast<ThreadPool*>(self)->serve();
    return nullptr;
  }
  void serve() {
    unsigned seen = 0;
    for (;;) {
      wait_briefly([&] { return __atomic_load_n(&generation_, __ATOMIC_ACQUIRE) != seen; });
      pthread_mutex_lock(&mutex_);
      while (generation_ == seen || !job_) {
        if (ended_) {
          pthread_mutex_unlock(&mutex_);
          return;
        }
        seen = generation_;
        pthread_cond_wait(&wake_, &mutex_);
      }
      seen = generation_;
      Job* const job = job_;
      __atomic_fetch_add(&active_, 1, __ATOMIC_RELAXED);
      pthread_mutex_unlock(&mutex_);
      job->work();
      pthread_mutex_lock(&mutex_);
      if (__atomic_sub_fetch(&active_, 1, __ATOMIC_RELEASE) == 0) pthread_cond_signal(&finished_);
      pthread_mutex_unlock(&mutex_);
    }
  }
};

inline int& requested_threads() {
  static int n = 0;  // 0: not set
  return n;
}
inline int hardware_threads() {
  static const int n = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  }();
  return n > 0 ? n : 1;
}
/// Threads for programs over Arrays: only the caller's, unless set_num_threads was called.
inline int array_threads() {
  const int n = __atomic_load_n(&requested_threads(), __ATOMIC_RELAXED);
  return n > 0 ? n : 1;
}

}  // namespace cpu

/// From now on kernels may use `n` threads, the caller's included. Before the first call, programs over Arrays stay on the caller's
/// thread and Tensors use every core. Results do not depend on the number of threads. Throws Error below 1.
inline void set_num_threads(int n) {
  if (n < 1) TT_THROW(Error(Text("tt::set_num_threads: ") << n << " threads. Give 1 or more?"));
  __atomic_store_n(&cpu::requested_threads(), n, __ATOMIC_RELAXED);
}
/// Threads that kernels over Tensors may use.
[[nodiscard]] inline int get_num_threads() {
  const int n = __atomic_load_n(&cpu::requested_threads(), __ATOMIC_RELAXED);
  return n > 0 ? n : cpu::hardware_threads();
}

}  // namespace tt
