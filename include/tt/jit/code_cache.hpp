// Tier 1: compiles kernels in the background for programs that already run on tier 0; one service a process.
//   auto program = std::make_shared<backend::TileProgram>(plan);
//   CodeCache::get().request(program, "softmax");      // returns at once; run() it meanwhile
// A thread emits the kernels' text and looks it up among libraries that this process has loaded and on disk (backends/disk_cache.hpp).
// Programs that are not found wait for a second thread, which runs the compiler on up to 16 of them in one text; a long program has
// several texts, between which other programs have their turn, and kernels of each run as soon as they are there. Threads end when nothing
// waits for them. A request with `wait` looks up in its own thread.
//
// Failures leave a program on tier 0, where its results are the same, and are counted:
//   no compiler, or it fails, hangs or writes garbage     failures, last_failure()
//   several programs in one text of which one fails        each is compiled alone
//   programs are made and dropped faster than looked up     abandoned, where more than 64 wait
//   a long program is dropped                              abandoned, its parts that wait
//   the folder is not ours alone, cannot be made            no disk cache; report() says why
//   an entry is torn, foreign or tampered with              rejected; compiled again
//   entries cannot be written (disk full)                   unsaved; the kernels run
//   fork                                                    waiting programs wait in the child too, for its
//                                                           next request or wait(); it has threads of its own
//   exit while compiling                                    the compiler is killed
//   a program with other rights than its user (setuid)      nothing is compiled or loaded
// Libraries are loaded as long as one of their programs lives; of the others, some are kept for programs to come.
#pragma once
#include <memory>

#include "tt/core/text.hpp"
#include "tt/plan/plan.hpp"

namespace tt {

struct TierOptions {
  int tier = 1;                     ///< 0: the interpreter only; 1: compiled kernels as soon as they are there
  bool wait = false;                ///< return when tier 1 is ready, or has failed
  const char* cache_dir = nullptr;  ///< of compiled kernels; null: $TT_CACHE_DIR, else $XDG_CACHE_HOME/tt, else ~/.cache/tt; empty: none are kept on disk
  int compiler_milliseconds = 0;    ///< a compiler that takes longer is killed; 0: two minutes, longer than any emitted text takes
};

class CodeCache {
 public:
  /// Never destroyed.
  static CodeCache& get();
  CodeCache(const CodeCache&) = delete;

  /// Asks for compiled kernels. True: they run from now on. False: not yet, or not at all.
  template <class Program>
  bool request(const std::shared_ptr<Program>& program, const char* name, const TierOptions& options = {}) {
    if (options.tier < 1) return false;
    const Replace replace = [](void* p, int kernel, void* f) { static_cast<Program*>(p)->replace_kernel(kernel, f); };
    const Keep keep = [](void* p, std::shared_ptr<void> code) { static_cast<Program*>(p)->keep(static_cast<std::shared_ptr<void>&&>(code)); };
    return request({program, &program->plan(), replace, keep, TT_HAS_FMA == 1}, name, options);
  }
  /// Waits until nothing is compiled and nothing waits; false: not within that time.
  bool wait(int milliseconds = 600'000);

  /// A program is one part, a long one several: each part becomes compiled, a hit, a failure or abandoned, in time.
  struct Counters {
    std::int64_t programs = 0;
    std::int64_t requests = 0;        ///< parts of programs; so are the next four, unsaved and abandoned
    std::int64_t compiled = 0;
    std::int64_t memory_hits = 0, disk_hits = 0;
    std::int64_t failures = 0;        ///< these stay on tier 0
    std::int64_t compiler_calls = 0;
    std::int64_t rejected = 0;        ///< torn, foreign or altered entries on disk
    std::int64_t unsaved = 0;         ///< compiled, but could not be written to disk
    std::int64_t milliseconds = 0;    ///< in compilers
    std::int64_t abandoned = 0;       ///< their program was dropped while many waited, or while other parts of it were compiled
    std::int64_t loaded = 0, unloaded = 0;  ///< libraries, of which each has kernels of one or several programs
  };
  Counters counters() const;
  Text last_failure() const;
  /// The counters and the last failure, for people.
  Text report() const;
  /// A compiler takes some milliseconds an instruction: it is done with so many well within its time limit. Tests set fewer.
  static inline int most_instructions_in_one_text = 4096;
  /// Libraries kept whose programs are gone; beyond so many, those used longest ago are unloaded until half are left. Tests set fewer.
  static inline int most_unused_libraries = 256;

 private:
  using Replace = void (*)(void* program, int kernel, void* function);
  using Keep = void (*)(void* program, std::shared_ptr<void> code);
  /// A program, type-erased: its type differs between files with other architecture flags.
  struct Target {
    std::shared_ptr<void> program;
    const Plan* plan = nullptr;
    Replace replace = nullptr;
    Keep keep = nullptr;
    bool has_fma = false;
  };
  struct Job;
  class Service;
  Service& service_;
  explicit CodeCache(Service& service) : service_(service) {}
  bool request(Target target, const char* name, const TierOptions& options);
};

}  // namespace tt

#if TT_DEFINES(jit)
#include "tt/jit/code_cache_inl.hpp"
#endif
