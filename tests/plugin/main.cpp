// main PLUGIN: a thread loads a library, uses it and ends; the library is unloaded while its kernels wait for a compiler
// that hangs. Nothing of it may be left: no thread, no compiler.
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <thread>

namespace {

int threads() {
  int n = 0;
  DIR* d = opendir("/proc/self/task");
  while (const dirent* e = readdir(d)) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}
int failed(const char* what) {
  std::printf("FAILED: %s\n", what);
  return 1;
}
/// With a pause of so many microseconds before it is unloaded.
int use(const char* path, unsigned pause) {
  void* library = nullptr;
  int wrong = 1;
  std::thread([&] {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    wrong = reinterpret_cast<int (*)()>(dlsym(library, "tt_plugin_use"))();
  }).join();
  if (!library) return failed(dlerror());
  if (wrong) return failed("the plugin's result");
  usleep(pause);
  dlclose(library);
  if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) return failed("the plugin is loaded still");
  if (threads() != 1) return failed("a thread of the plugin runs still");
  if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return failed("a compiler of the plugin runs still");
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  std::string folder = "/tmp/tt-plugin-XXXXXX";
  if (!mkdtemp(folder.data())) return failed("no folder");
  const std::string compiler = folder + "/compiler";
  FILE* f = fopen(compiler.c_str(), "w");
  fputs("#!/bin/sh\nexec sleep 1000\n", f);
  fclose(f);
  chmod(compiler.c_str(), 0700);
  setenv("CC", compiler.c_str(), 1);
  setenv("TT_CACHE_DIR", folder.c_str(), 1);
  int failures = 0;
  for (unsigned pause = 0; pause < 20 && !failures; ++pause) failures = use(arguments[1], pause * pause * 100);
  unlink(compiler.c_str());
  rmdir(folder.c_str());
  return failures;
}
