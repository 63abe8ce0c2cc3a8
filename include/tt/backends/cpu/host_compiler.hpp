// The system's C compiler: text in, functions out. Runs $CC, else `cc`, without a shell, in a private folder, and loads the
// shared object with dlopen. Throws Unavailable when there is no compiler or it fails.
//   Library l = compile_c(text);   l.find("softmax_0")
// A compiler is given as words, as in CC="ccache gcc".
#pragma once
#include <dlfcn.h>

#include <cstring>

#include "tt/backends/private_folder.hpp"
#include "tt/backends/cpu/process.hpp"
#include "tt/core/error.hpp"

namespace tt::cpu {

/// A loaded shared object; unloaded when destroyed.
class Library {
 public:
  Library() = default;
  explicit Library(void* handle) : handle_(handle) {}
  /// Loads a file; false, and why, when that fails.
  bool load(const char* path, Text& why) {
    void* h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h)
      if (const char* said = dlerror()) why << said;
    *this = Library(h);
    return h != nullptr;
  }
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
  void* find(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

 private:
  void* handle_ = nullptr;
};

/// Flags under which emitted text gives the same bits: no contraction to fma, NaN, inf and -0 survive.
inline constexpr const char* host_flags[] = {
    "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
#if defined(__x86_64__)
    // Lanes of reductions are whole registers. For most of Intel's processors gcc uses half registers, and a whole load of a value
    // stored in halves stalls: sums took 2.7 to 5.8 times as long.
    "-mprefer-vector-width=512",
#endif
    "-fPIC", "-shared", "-w", "-x", "c"};

/// Emitted text never takes a compiler longer than this.
inline constexpr int compiler_milliseconds = 120'000;

/// The compiler that the environment names when this object is made.
class HostCompiler {
 public:
  HostCompiler() {
    const char* cc = getenv("CC");
    const bool given = cc && cc[std::strspn(cc, " \t")];
    if (const char* path = getenv("PATH")) search_ = path;
    Text word;
    for (const char* c = given ? cc : "cc";; ++c) {
      if (*c && *c != ' ' && *c != '\t') word << *c;
      else if (!word.empty()) {
        words_.push_back(word);
        word = Text();
      }
      if (!*c) break;
    }
  }
  Text command() const {
    Text t;
    for (const Text& w : words_) t << (t.empty() ? "" : " ") << w;
    return t;
  }
  /// The command, flags, and the size and time of the files that its words name: changes when the compiler does.
  Text identity() const {
    Text t;
    for (const Text& w : words_) {
      t << w << file_identity(w) << ' ';
    }
    for (const char* f : host_flags) t << f << ' ';
    return t;
  }
  /// Compiles C text to `object`, a file in the folder.
  Process::Result compile(Process& process, const Text& text, backend::TemporaryFolder& folder, const Text& object,
                          int milliseconds = compiler_milliseconds) const {
    Process::Result r;
    Text source = folder.file("kernels.c"), words[max_words], to(object), temporary("TMPDIR="), search("PATH=");
    temporary << folder.path();
    search << search_;
    unlink(source.c_str());
    if (words_.size() > max_words || !backend::write_new_file(source.c_str(), text.begin(), static_cast<std::size_t>(text.size()))) {
      r.messages << source << " cannot be written";
      return r;
    }
    Vec<const char*> arguments, environment{temporary.c_str(), search.c_str()};
    for (int k = 0; k < words_.size(); ++k) {
      words[k] = words_[k];
      if (Text found = k == 0 ? file_of(words_[0]) : Text(); !found.empty()) words[k] = found;
      arguments.push_back(words[k].c_str());
    }
    for (const char* f : host_flags) arguments.push_back(f);
    for (const char* f : {source.c_str(), "-o", to.c_str(), "-lm", static_cast<const char*>(nullptr)}) arguments.push_back(f);
    for (char** e = environ; *e; ++e)
      if (std::strncmp(*e, "TMPDIR=", 7) != 0 && std::strncmp(*e, "PATH=", 5) != 0) environment.push_back(*e);
    environment.push_back(nullptr);
    return process.run(arguments, environment, milliseconds);
  }
  /// The error message for a result; empty if it succeeded.
  Text failure(const Process::Result& r) const {
    Text t;
    if (r.started && !r.stopped && r.status == 0) return t;
    t << "the compiler '" << command() << "' "
      << (!r.started  ? "cannot be run"
          : r.stopped ? "took too long and was stopped"
                      : "failed on emitted text");
    if (!r.messages.empty()) t << ": " << r.messages;
    return t;
  }

 private:
  static constexpr int max_words = 16;
  Vec<Text> words_;
  Text search_ = "/bin:/usr/bin";

  /// The path of the program that a word names, by the search a shell does; empty if there is none.
  Text file_of(const Text& word) const {
    const auto runs = [](Text& path) {
      struct stat s;
      return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(path.c_str(), X_OK) == 0;
    };
    Text path = word;
    if (word.contains("/")) return runs(path) ? path : Text();
    Text folder;
    for (int k = 0; k <= search_.size(); ++k) {
      if (k < search_.size() && search_[k] != ':') {
        folder << search_[k];
        continue;
      }
      path = folder.empty() ? Text(".") : folder;
      path << '/' << word;
      if (runs(path)) return path;
      folder = Text();
    }
    return {};
  }
  Text file_identity(const Text& word) const {
    Text t, path = word[0] == '-' ? Text() : file_of(word);
    struct stat s;
    if (!path.empty() && stat(path.c_str(), &s) == 0)
      t << '=' << path << ':' << s.st_size << ':' << s.st_mtim.tv_sec << '.' << s.st_mtim.tv_nsec;
    return t;
  }
};

/// Compiles C text and loads it; throws Unavailable. The text of a failure is kept in its folder, which the error names.
inline Library compile_c(const Text& text) {
  backend::TemporaryFolder folder;
  if (folder.path().empty())
    TT_THROW(Unavailable("tt: no private folder for the compiler can be made; set TMPDIR?"));
  const HostCompiler compiler;
  Process process;
  Text object = folder.file("kernels.so"), why = compiler.failure(compiler.compile(process, text, folder, object));
  Library library;
  if (why.empty()) library.load(object.c_str(), why);
  if (!why.empty()) {
    folder.keep();
    TT_THROW(Unavailable(Text("tt: ") << why << "; the text is " << folder.file("kernels.c")));
  }
  return library;
}

}  // namespace tt::cpu
