// The system's C compiler: text in, functions out. Runs `cc` (or $CC) by posix_spawn, without a
// shell, in a private folder; what it writes is loaded with dlopen and its files are removed.
// Throws Unavailable when there is no compiler or it fails; the text is kept then, named in the
// message.
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tt/core/error.hpp"

extern "C" char** environ;

namespace tt::cpu {

/// A loaded shared object; unloaded when destroyed.
class Library {
 public:
  Library() = default;
  explicit Library(void* handle) : handle_(handle) {}
  Library(Library&& o) noexcept : handle_(o.handle_) { o.handle_ = nullptr; }
  Library& operator=(Library&& o) noexcept {
    void* h = handle_;
    handle_ = o.handle_;
    o.handle_ = h;
    return *this;
  }
  ~Library() {
    if (handle_) dlclose(handle_);
  }
  /// The address of a function, or null.
  void* find(const char* name) const { return dlsym(handle_, name); }

 private:
  void* handle_ = nullptr;
};

namespace detail {

/// Flags under which emitted text keeps its bits: nothing contracts, NaN, inf and -0 survive.
inline constexpr const char* host_flags[] = {
    "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fPIC", "-shared", "-w", "-x", "c"};

inline bool write_file(const char* path, const Text& text) {
  const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const char* p = text.begin();
  bool fine = true;
  while (fine && p < text.end()) {
    const ssize_t n = write(fd, p, static_cast<std::size_t>(text.end() - p));
    fine = n > 0;
    p += n;
  }
  return close(fd) == 0 && fine;
}

/// Runs the compiler with its messages going to `log`; its exit status, or -1.
inline int run_compiler(const char* compiler, const char* source, const char* object,
                        const char* log) {
  const char* argv[32] = {compiler};
  int n = 1;
  for (const char* f : host_flags) argv[n++] = f;
  argv[n++] = source;
  argv[n++] = "-o";
  argv[n++] = object;
  argv[n++] = "-lm";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int spawned = posix_spawnp(&pid, compiler, &actions, nullptr,
                                   const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace detail

/// Compiles C text and loads it.
inline Library compile_c(const Text& text) {
  const char* base = getenv("TMPDIR");
  Text folder(base && *base ? base : "/tmp");
  folder << "/tt-XXXXXX";
  Vec<char> path(folder.size() + 1, '\0');
  for (int i = 0; i < folder.size(); ++i) path[i] = folder[i];
  if (!mkdtemp(path.begin()))
    TT_THROW(Unavailable(Text("tt: no folder for the compiler can be made in ") << folder));
  Text source(path.begin()), object(path.begin()), log(path.begin());
  source << "/kernels.c";
  object << "/kernels.so";
  log << "/messages.txt";
  const char* compiler = getenv("CC");
  if (!compiler || !*compiler || std::strchr(compiler, ' ')) compiler = "cc";
  const bool written = detail::write_file(source.c_str(), text);
  const int status = written ? detail::run_compiler(compiler, source.c_str(), object.c_str(),
                                                    log.c_str())
                             : -1;
  if (status != 0)
    TT_THROW(Unavailable(Text("tt: the compiler '")
                         << compiler << "' "
                         << (status < 0 ? "cannot be run" : "failed on emitted text")
                         << "; the text is " << source));
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) TT_THROW(Unavailable(Text("tt: what was compiled cannot be loaded: ") << dlerror()));
  unlink(source.c_str());
  unlink(object.c_str());
  unlink(log.c_str());
  rmdir(path.begin());
  return Library(handle);
}

}  // namespace tt::cpu
