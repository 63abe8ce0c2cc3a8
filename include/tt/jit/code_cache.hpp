// Tier 1: compiled kernels for programs that already run on tier 0, one service a process.
//   auto program = std::make_shared<backend::TileProgram>(plan);
//   CodeCache::get().request(program, "softmax");      // returns at once; run() it meanwhile
// A thread emits the kernels' text and looks for it among what this process has loaded and on disk
// (backends/disk_cache.hpp). What is not there waits for another thread, the one that runs the compiler, which takes
// all that wait in one text. Threads end when nothing waits for them. Who asked to wait looks for itself.
//
// What goes wrong leaves a program on tier 0, where its results are the same, and is counted:
//   no compiler, or it fails, hangs or writes garbage     failures, last_failure()
//   several programs in one text of which one fails        each is compiled alone
//   the folder is not ours alone, cannot be made            no disk cache; report() says why
//   an entry is torn, foreign or tampered with              rejected; compiled again
//   entries cannot be written (disk full)                   unsaved; the kernels run
//   fork                                                    what waits waits in the child too, for its next request
//                                                           or wait(); it has threads of its own
//   exit while compiling                                    the compiler is killed
//   a program with other rights than its user (setuid)      nothing is compiled or loaded
// What is loaded stays loaded.
#pragma once
#include <pthread.h>

#include <memory>

#include "tt/backends/runtime.hpp"

namespace tt {

struct TierOptions {
  int tier = 1;                     ///< 0: the interpreter only; 1: compiled kernels as soon as they are there
  bool wait = false;                ///< return when tier 1 is ready, or has failed
  const char* cache_dir = nullptr;  ///< of compiled kernels; null: DiskCache::default_folder()
  int compiler_milliseconds = backend::compiler_milliseconds;  ///< a compiler that takes longer is killed
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
    return request({program, &program->plan(), replace, TT_HAS_FMA == 1}, name, options);
  }
  /// Waits until nothing is compiled and nothing waits; false when that took longer.
  bool wait(int milliseconds = 600'000);

  struct Counters {
    std::int64_t requests = 0;        ///< each becomes one of the next four, in time
    std::int64_t compiled = 0;        ///< programs
    std::int64_t memory_hits = 0, disk_hits = 0;
    std::int64_t failures = 0;        ///< programs that stay on tier 0
    std::int64_t compiler_calls = 0;
    std::int64_t rejected = 0;        ///< entries on disk that were not what they should be
    std::int64_t unsaved = 0;         ///< programs that could not be kept on disk, though they should
    std::int64_t milliseconds = 0;    ///< in compilers
  };
  Counters counters() const;
  Text last_failure() const;
  /// All of that, for people.
  Text report() const;

 private:
  using Replace = void (*)(void* program, int kernel, void* function);
  /// A program, without its type: that differs between files with other architecture flags.
  struct Target {
    std::shared_ptr<void> program;
    const Plan* plan = nullptr;
    Replace replace = nullptr;
    bool has_fma = false;
  };
  struct Job {
    Target target;
    Text folder;
    int milliseconds = 0;
    backend::HostCompiler compiler;
    // Found out once, see look_up.
    Text compiler_identity;
    ContentHash key;
    Text name;  // of its functions; with a part of the key from then on, so that programs can share one text
    bool rejected = false;             // its entry on disk
    bool done = false, ready = false;  // under mutex_
    bool joins(const Job& o) const {
      return folder == o.folder && milliseconds == o.milliseconds && compiler_identity == o.compiler_identity &&
             target.has_fma == o.target.has_fma;
    }
  };
  using JobPointer = std::shared_ptr<Job>;
  struct Loaded {
    ContentHash key;
    backend::Library* library = nullptr;
  };
  static constexpr int most_in_one_text = 16;
  /// A kind of work, and the thread that does it.
  struct Stage {
    Vec<JobPointer> waiting, active;
    bool working = false;
    bool idle() const { return !working && waiting.empty(); }
  };

  mutable pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  /// Held by who looks a program up or loads one, so that fork finds neither half done; locked before mutex_.
  pthread_mutex_t steady_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;
  Stage looking_, compiling_;
  Vec<Loaded> loaded_;
  bool closing_ = false;
  Counters counters_;
  Text last_failure_, why_no_disk_;
  backend::Process process_;

  struct Lock {
    pthread_mutex_t& mutex;
    explicit Lock(pthread_mutex_t& m) : mutex(m) { pthread_mutex_lock(&mutex); }
    Lock(const Lock&) = delete;
    ~Lock() { pthread_mutex_unlock(&mutex); }
  };

  CodeCache();
  void make_condition();
  void become_child();
  bool request(Target target, const char* name, const TierOptions& options);
  bool put(Stage& stage, const JobPointer& job);
  bool start(Stage& stage);
  void work(Stage& stage);
  void work_on(Stage& stage);
  bool look_up(Job& job);
  bool find(Job& job);
  void compile(const Vec<JobPointer>& batch);
  Text build(const Vec<JobPointer>& batch, const DiskCache& disk, bool& again);
  bool install(const Job& job, backend::Library& library, bool remember);
  void finish(Job& job, bool ready);
  void fail(Job& job, const Text& why);
  bool await(bool (*over)(const CodeCache&, const Job*), const Job* job, std::int64_t until);
  void count(std::int64_t Counters::*what, std::int64_t n = 1) {
    const Lock lock(mutex_);
    counters_.*what += n;
  }
  static Text identifier(const char* name);
  static ContentHash key_of(const Text& text, const Text& compiler);
};

}  // namespace tt

#if !defined(TT_COMPILED) || defined(TT_BUILD)
#include "tt/jit/code_cache_inl.hpp"
#endif
