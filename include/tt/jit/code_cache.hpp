// Tier 1: compiled kernels for programs that already run on tier 0, one service a process.
//   auto program = std::make_shared<backend::TileProgram>(plan);
//   CodeCache::get().request(program, "softmax");      // returns at once; run() it meanwhile
// A request emits the kernels' text and looks for it among what this process has loaded and on disk
// (backends/disk_cache.hpp); then they are swapped in before it returns. Else the program waits for the one
// thread that runs the compiler, which takes all that wait in one text.
//
// What goes wrong leaves a program on tier 0, where its results are the same, and is counted:
//   no compiler, or it fails, hangs or writes garbage     failures, last_failure()
//   several programs in one text of which one fails        each is compiled alone
//   the folder is not ours alone, cannot be made            no disk cache; report() says why
//   an entry is torn, foreign or tampered with              rejected; compiled again
//   entries cannot be written (disk full)                   unsaved; the kernels run
//   fork                                                    what waits waits in the child too, for its next request
//                                                           or wait(); it has a thread of its own
//   exit while compiling                                    the compiler is killed
//   a program with other rights than its user (setuid)      nothing is compiled or loaded
// What is loaded stays loaded.
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <exception>
#include <memory>

#include "tt/backends/runtime.hpp"
#include "tt/jit/emit_c.hpp"

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
    Text name;  // of its functions; with a part of the key, so that programs can share one text
    ContentHash key;
    Text folder;
    int milliseconds = 0;
    backend::HostCompiler compiler;
    Text compiler_identity;
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

  mutable pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;
  Vec<JobPointer> waiting_, active_;
  Vec<Loaded> loaded_;
  bool working_ = false, closing_ = false;
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
  bool start_worker();
  void work();
  void work_on(const Vec<JobPointer>& batch);
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

#if !defined(TT_COMPILED) || defined(TT_BUILD)

TT_INLINE CodeCache& CodeCache::get() {
  static CodeCache* const cache = [] {
    auto* made = new CodeCache;
    // A lambda without captures cannot name a local: the handlers find it again.
    pthread_atfork([] { pthread_mutex_lock(&get().mutex_); }, [] { pthread_mutex_unlock(&get().mutex_); },
                   [] {
                     get().become_child();
                     pthread_mutex_unlock(&get().mutex_);
                   });
    std::atexit([] {
      CodeCache& c = get();
      {
        const Lock lock(c.mutex_);
        c.closing_ = true;
        c.waiting_ = {};
      }
      c.process_.stop();
      const auto idle = [](const CodeCache& s, const Job*) { return !s.working_; };
      c.await(idle, nullptr, backend::milliseconds_now() + 5000);
    });
    return made;
  }();
  return *cache;
}

TT_INLINE CodeCache::CodeCache() { make_condition(); }
TT_INLINE void CodeCache::make_condition() {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

/// After fork the thread is gone, and so are those that waited; the compiler is the parent's.
TT_INLINE void CodeCache::become_child() {
  working_ = false;
  make_condition();
  process_.forget();
  Vec<JobPointer> all;
  for (const Vec<JobPointer>* jobs : {&active_, &waiting_})
    for (const JobPointer& j : *jobs)
      if (!j->done) all.push_back(j);
  waiting_ = static_cast<Vec<JobPointer>&&>(all);
  active_ = {};
}

TT_INLINE Text CodeCache::identifier(const char* name) {
  Text t;
  for (const char* c = name; *c; ++c) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (t.empty() && !letter) t << '_';
    t << (letter || (*c >= '0' && *c <= '9') ? *c : '_');
  }
  return t << (t.empty() ? "kernel" : "");
}

/// Comments are left out: they say which line a kernel comes from.
TT_INLINE ContentHash CodeCache::key_of(const Text& text, const Text& compiler) {
  static const Text features = backend::cpu_features();
  Text t;
  t << "version " << DiskCache::version << '\n' << features << '\n' << compiler << '\n';
  for (const char* line = text.begin(); line < text.end();) {
    const char* end = line;
    while (end < text.end() && *end != '\n') ++end;
    if (end - line < 2 || line[0] != '/' || line[1] != '*') t.append(line, static_cast<int>(end - line));
    t << '\n';
    line = end + 1;
  }
  return ContentHash::of(t);
}

TT_INLINE bool CodeCache::request(Target target, const char* name, const TierOptions& options) {
  const auto job = std::make_shared<Job>();
  job->target = static_cast<Target&&>(target);
  job->name = identifier(name);
  job->folder = options.cache_dir ? Text(options.cache_dir) : DiskCache::default_folder();
  job->milliseconds = options.compiler_milliseconds;
  count(&Counters::requests);
  if (getauxval(AT_SECURE)) {
    fail(*job, "the program has rights that its user has not: nothing is compiled for it");
    return false;
  }
  job->compiler_identity = job->compiler.identity();
  job->key = key_of(emit_c(*job->target.plan, job->name.c_str(), job->target.has_fma), job->compiler_identity);
  const Text hex = job->key.hex();
  job->name << '_';
  for (int k = 0; k < 16; ++k) job->name << hex[k];
  if (find(*job)) return true;
  {
    const Lock lock(mutex_);
    if (closing_) return false;
    waiting_.push_back(job);
    if (!start_worker() && !options.wait) return false;  // a later request or wait() tries again
  }
  if (!options.wait) return false;
  // No time limit: the compiler has one.
  await([](const CodeCache& c, const Job* j) { return j->done || c.closing_; }, job.get(), -1);
  return job->ready;
}

/// Under mutex_. False: there is no thread, and none can be started.
TT_INLINE bool CodeCache::start_worker() {
  if (working_ || waiting_.empty()) return true;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const auto start = [](void* self) -> void* {
    static_cast<CodeCache*>(self)->work();
    return nullptr;
  };
  working_ = pthread_create(&thread, &detached, start, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&detached);
  return working_;
}

/// The thread's whole life: it ends when nothing waits.
TT_INLINE void CodeCache::work() {
  for (;;) {
    {
      const Lock lock(mutex_);
      active_ = {};
      Vec<JobPointer> rest;
      for (const JobPointer& j : waiting_) {
        const bool joins = active_.empty() || (active_.size() < most_in_one_text && j->joins(*active_[0]));
        (joins ? active_ : rest).push_back(j);
      }
      waiting_ = static_cast<Vec<JobPointer>&&>(rest);
      if (active_.empty() || closing_) {
        working_ = false;
        pthread_cond_broadcast(&changed_);
        return;
      }
    }
    work_on(active_);
  }
}
TT_INLINE void CodeCache::work_on(const Vec<JobPointer>& batch) {
  Text why;
  try {
    Vec<JobPointer> missing;
    for (const JobPointer& j : batch)
      if (!find(*j)) missing.push_back(j);
    if (!missing.empty()) compile(missing);
    return;
  } catch (const std::exception& e) {
    why << e.what();
  }
  for (const JobPointer& j : batch)
    if (!j->done) fail(*j, why);
}

/// Takes kernels that were loaded before, or from disk.
TT_INLINE bool CodeCache::find(Job& job) {
  backend::Library* library = nullptr;
  {
    const Lock lock(mutex_);
    for (const Loaded& l : loaded_)
      if (l.key == job.key) library = l.library;
  }
  if (library && install(job, *library, false)) {
    count(&Counters::memory_hits);
    finish(job, true);
    return true;
  }
  const DiskCache disk(job.folder);
  Text path, why;
  switch (disk.find(job.key, path)) {
    case DiskCache::Found::nothing: return false;
    case DiskCache::Found::rejected: break;
    case DiskCache::Found::object: {
      auto* fresh = new backend::Library;
      if (fresh->load(path.c_str(), why) && install(job, *fresh, true)) {
        count(&Counters::disk_hits);
        finish(job, true);
        return true;
      }
      delete fresh;
    }
  }
  if (!job.rejected) count(&Counters::rejected);
  job.rejected = true;
  return false;
}

TT_INLINE void CodeCache::compile(const Vec<JobPointer>& batch) {
  const DiskCache disk(batch[0]->folder);
  {
    const Lock lock(mutex_);
    why_no_disk_ = disk.why();
  }
  bool again = false;
  const Text why = build(batch, disk, again);
  if (why.empty()) return;
  for (const JobPointer& j : batch) {
    if (j->done) continue;
    const Text alone = again && batch.size() > 1 ? build({j}, disk, again) : why;
    if (!j->done) fail(*j, alone);
  }
}

/// One call of the compiler. What is wrong, or nothing; `again`: one program may be to blame.
TT_INLINE Text CodeCache::build(const Vec<JobPointer>& batch, const DiskCache& disk, bool& again) {
  again = false;
  backend::TemporaryFolder folder;
  if (folder.path().empty()) return "no private folder for the compiler can be made; set TMPDIR?";
  Vec<NamedPlan> plans;
  for (int i = 0; i < batch.size(); ++i) {
    bool twice = false;
    for (int j = 0; j < i; ++j) twice = twice || batch[j]->key == batch[i]->key;
    if (!twice) plans.push_back({batch[i]->target.plan, batch[i]->name.c_str()});
  }
  const Job& first = *batch[0];
  const Text text = emit_c(plans, first.target.has_fma);
  Text object = folder.file("kernels.so");
  const std::int64_t begin = backend::milliseconds_now();
  const backend::Process::Result r = first.compiler.compile(process_, text, folder, object, first.milliseconds);
  {
    const Lock lock(mutex_);
    if (r.started) ++counters_.compiler_calls;
    counters_.milliseconds += backend::milliseconds_now() - begin;
    if (closing_) return "the process ended";
  }
  Text why = first.compiler.failure(r);
  again = r.started && !r.stopped;
  if (!why.empty()) return why;
  Vec<char> bytes;
  chmod(object.c_str(), 0600);
  if (!DiskCache::read_file(object.c_str(), bytes)) return "the compiler said it was done, but left no object";
  Text kept = disk.keep_object(bytes.begin(), bytes.size(), text);
  // Where files of /tmp cannot be mapped as code, those of the cache may.
  auto* library = new backend::Library;
  if (!library->load((kept.empty() ? object : kept).c_str(), why)) {
    delete library;
    if (!kept.empty()) disk.remove_object(bytes.begin(), bytes.size());
    return Text("what the compiler made cannot be loaded: ") << why;
  }
  bool used = false;
  for (const JobPointer& j : batch) {
    if (!install(*j, *library, true)) {
      why = Text("what the compiler made has no function ") << j->name << "_0";
      continue;
    }
    used = true;
    if (!disk.folder().empty() && (kept.empty() || !disk.keep_entry(j->key, bytes.begin(), bytes.size())))
      count(&Counters::unsaved);
    count(&Counters::compiled);
    finish(*j, true);
  }
  if (!used) delete library;
  if (!used && !kept.empty()) disk.remove_object(bytes.begin(), bytes.size());
  disk.trim();
  return why;
}

/// Swaps the kernels in, all or none; then the library stays loaded.
TT_INLINE bool CodeCache::install(const Job& job, backend::Library& library, bool remember) {
  const Plan& plan = *job.target.plan;
  Vec<void*> functions;
  for (int k = 0; k < plan.kernels.size(); ++k) {
    Text symbol(job.name);
    symbol << '_' << k;
    functions.push_back(plan.kernels[k].code == k ? library.find(symbol.c_str()) : nullptr);
    if (plan.kernels[k].code == k && !functions[k]) return false;
  }
  for (int k = 0; k < functions.size(); ++k)
    if (functions[k]) job.target.replace(job.target.program.get(), k, functions[k]);
  const Lock lock(mutex_);
  if (remember) loaded_.push_back({job.key, &library});
  return true;
}

TT_INLINE void CodeCache::finish(Job& job, bool ready) {
  const Lock lock(mutex_);
  job.ready = ready;
  job.done = true;
  pthread_cond_broadcast(&changed_);
}
TT_INLINE void CodeCache::fail(Job& job, const Text& why) {
  {
    const Lock lock(mutex_);
    if (!closing_) {
      ++counters_.failures;
      last_failure_ = Text(job.name) << ": " << why;
    }
  }
  finish(job, false);
}

/// Waits for something, for ever if `until` is negative. Without a thread the work is done here.
TT_INLINE bool CodeCache::await(bool (*over)(const CodeCache&, const Job*), const Job* job, std::int64_t until) {
  pthread_mutex_lock(&mutex_);
  for (;;) {
    if (over(*this, job)) break;
    if (until >= 0 && backend::milliseconds_now() >= until) break;
    if (!start_worker()) {
      working_ = true;
      pthread_mutex_unlock(&mutex_);
      work();
      pthread_mutex_lock(&mutex_);
      continue;
    }
    const std::int64_t wake = until >= 0 ? until : backend::milliseconds_now() + 1000;
    const timespec at{static_cast<time_t>(wake / 1000), static_cast<long>(wake % 1000 * 1000000)};
    pthread_cond_timedwait(&changed_, &mutex_, &at);
  }
  const bool reached = over(*this, job);
  pthread_mutex_unlock(&mutex_);
  return reached;
}
TT_INLINE bool CodeCache::wait(int milliseconds) {
  const auto idle = [](const CodeCache& c, const Job*) { return !c.working_ && c.waiting_.empty(); };
  return await(idle, nullptr, backend::milliseconds_now() + milliseconds);
}

TT_INLINE CodeCache::Counters CodeCache::counters() const {
  const Lock lock(mutex_);
  return counters_;
}
TT_INLINE Text CodeCache::last_failure() const {
  const Lock lock(mutex_);
  return last_failure_;
}
TT_INLINE Text CodeCache::report() const {
  const Lock lock(mutex_);
  Text t;
  const Counters& c = counters_;
  t << "compiled kernels for " << c.requests << " programs: " << c.compiled << " compiled in " << c.compiler_calls
    << " calls of the compiler and " << c.milliseconds << " ms, " << c.memory_hits << " in memory, " << c.disk_hits
    << " on disk, " << c.failures << " failed, " << waiting_.size() + active_.size() << " wait\n";
  if (c.rejected) t << "  " << c.rejected << " entries on disk were torn or foreign, and were not used\n";
  if (c.unsaved) t << "  " << c.unsaved << " programs could not be kept on disk\n";
  if (!why_no_disk_.empty()) t << "  nothing is kept on disk: " << why_no_disk_ << '\n';
  if (c.failures) t << "  they stay on tier 0; the last: " << last_failure_ << '\n';
  return t;
}

#endif

}  // namespace tt
