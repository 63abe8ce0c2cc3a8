// Runs another program by posix_spawn, without a shell. The begin of its output is kept (the rest is read and dropped, so that it
// can neither block nor fill a disk), its time is limited, another thread can stop it, and the processes that it started end with it.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "tt/core/text.hpp"

extern "C" char** environ;

namespace tt::cpu {

inline std::int64_t milliseconds_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

class Process {
 public:
  struct Result {
    bool started = false, stopped = false;  ///< stopped: by the time limit, or by stop()
    int status = -1;                        ///< exit status; -1: a signal ended it
    Text messages;
  };

  /// Runs a program, found on PATH, until it ends or the time limit is over.
  Result run(const Vec<const char*>& arguments, const Vec<const char*>& environment, int milliseconds) {
    Result r;
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return r;
    const pid_t pid = start(arguments, environment, out[1]);
    close(out[1]);
    if (pid > 0) {
      r.started = true;
      // Beside a busy program on one core, SCHED_BATCH gets half of the core; with nice 10 it took 11 times as long as alone instead of twice.
      const sched_param none{};
      sched_setscheduler(pid, SCHED_BATCH, &none);
      follow(pid, out[0], milliseconds_now() + milliseconds, r);
    }
    close(out[0]);
    return r;
  }
  /// Kills the running program and lets no other start.
  void stop() {
    pthread_mutex_lock(&mutex_);
    stopped_ = true;
    if (pid_ > 0) kill(-pid_, SIGKILL);
    pthread_mutex_unlock(&mutex_);
  }
  /// In a child of fork: the running program belongs to the parent.
  void forget() {
    mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pid_ = 0;
  }

 private:
  static constexpr int kept_messages = 2000;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pid_t pid_ = 0;  // of a process that is not reaped yet
  bool stopped_ = false;

  /// Starts it in a process group of its own, so that its children are killed with it.
  pid_t start(const Vec<const char*>& arguments, const Vec<const char*>& environment, int out) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, out, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pthread_mutex_lock(&mutex_);
    if (stopped_ || posix_spawnp(&pid_, arguments[0], &actions, &attributes,
                                 const_cast<char* const*>(arguments.begin()),
                                 const_cast<char* const*>(environment.begin())) != 0)
      pid_ = 0;
    const pid_t pid = pid_;
    pthread_mutex_unlock(&mutex_);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  void follow(pid_t pid, int from, std::int64_t until, Result& r) {
    bool open = true;
    for (;;) {
      pollfd ready{from, POLLIN, 0};
      if (poll(&ready, open ? 1 : 0, open ? 5 : 1) > 0) {
        char said[4096];
        const ssize_t n = read(from, said, sizeof said);
        open = n > 0 || (n < 0 && errno == EINTR);
        for (ssize_t i = 0; i < n && r.messages.size() < kept_messages; ++i) {
          const char c = said[i];
          r.messages << (c == '\n' || (c >= ' ' && c <= '~') ? c : '?');
        }
      }
      const std::int64_t now = milliseconds_now();
      pthread_mutex_lock(&mutex_);
      siginfo_t info{};
      const int waited = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
      // Where SIGCHLD is ignored there is no status: the caller checks the output file instead.
      const bool unknown = waited != 0 && errno == ECHILD, ended = unknown || info.si_pid == pid;
      if (stopped_ || now > until) r.stopped = true;
      if ((ended && !unknown) || (r.stopped && !unknown)) kill(-pid, SIGKILL);
      int status = 0;
      if (ended && !unknown) waitpid(pid, &status, 0);
      const bool lost = now > until + 5000;  // cannot be killed: blocked in a device
      if (ended || lost) pid_ = 0;
      pthread_mutex_unlock(&mutex_);
      if (!ended && !lost) continue;
      r.status = unknown ? 0 : ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      return;
    }
  }
};

}  // namespace tt::cpu
