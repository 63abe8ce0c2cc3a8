// Definitions of jit/code_cache.hpp: two stages, lookup and compilation, with a thread each. Long, because all of it shares one mutex, and the
// effects of fork, exit and unloading on its jobs are read together.
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <exception>

#include "tt/backends/compiler.hpp"
#include "tt/jit/code_cache.hpp"
#include "tt/jit/loaded_libraries.hpp"

namespace tt {

/// Kernels of a program that are compiled in one text: all of them, unless they are many.
struct CodeCache::Job {
  std::shared_ptr<const Target> target;
  int first = 0, last = 0;  ///< kernels [first, last)
  int part = 0;             ///< of its program's
  int instructions = 0;
  Text folder;
  int milliseconds = 0;
  backend::HostCompiler compiler;
  // Set once, by identify().
  Text compiler_identity;
  ContentHash key;
  Text name;  // of its functions; identify() appends a part of the key, so that programs can share one text
  bool rejected = false;             // its entry on disk
  bool done = false, ready = false;  // under the mutex of CodeCache::Service

  static Vec<std::shared_ptr<Job>> all_of(Target program, const char* name, const TierOptions& options);
  void identify();
  NamedPlan kernels() { return {target->plan, name.c_str(), first, last}; }
  bool is_part() const { return first > 0 || last < target->plan->kernels.size(); }
  /// Is its program gone, but for its jobs?
  bool is_gone() const { return target->program.use_count() == 1; }
  bool joins(const Job& o) const {
    return folder == o.folder && milliseconds == o.milliseconds && compiler_identity == o.compiler_identity &&
           target->has_fma == o.target->has_fma;
  }
  /// Jobs with a lower turn are compiled first. Programs take turns with their parts, so that nobody waits for all of a long one. A program
  /// that is gone is the last: it is compiled because such programs often come again.
  int turn() const { return is_gone() ? most_turns : part; }

 private:
  static constexpr int most_turns = 1 << 30;
  static int instructions_of(const Plan& plan, int kernel);
  static Text identifier(const char* name);
  static ContentHash key_of(const Text& text, const Text& compiler);
};

/// The service itself.
class CodeCache::Service {
 public:
  static Service& get();
  Service(const Service&) = delete;
  bool request(Target target, const char* name, const TierOptions& options);
  bool wait(int milliseconds);
  Counters counters() const;
  Text last_failure() const;
  Text report() const;

 private:
  using JobPointer = std::shared_ptr<Job>;
  using LibraryPointer = LoadedLibraries::Pointer;
  static constexpr int most_in_one_text = 16;
  static constexpr int most_waiting = 64;
  /// A kind of work, and the thread that does it.
  struct Stage {
    Vec<JobPointer> waiting, active;
    bool working = false;
    int forget_from = most_waiting;  ///< at so many waiting jobs, those whose programs were dropped are forgotten
    bool has_thread = false;  ///< `thread` was started, and is not joined
    pthread_t thread = {};
    bool idle() const { return !working && waiting.empty(); }
  };

  mutable pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  /// Held while a program is looked up or a library loaded, so that fork finds neither half done; locked before mutex_.
  pthread_mutex_t steady_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;
  Stage looking_, compiling_;
  LoadedLibraries loaded_;
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

  Service() { make_condition(); }
  void make_condition();
  void become_child();
  bool look_later(const JobPointer& job);
  bool compile_later(const Vec<JobPointer>& jobs);
  void forget(Stage& stage, bool (*which)(const Job&), Vec<JobPointer>& dropped);
  void add(Stage& stage, const JobPointer& job, Vec<JobPointer>& dropped);
  bool closing() const;
  bool start(Stage& stage);
  static void join(Stage& stage);
  void take(Stage& stage, Vec<JobPointer>& over);
  void work(Stage& stage);
  void work_on(Stage& stage);
  bool look_up(Job& job);
  bool find(Job& job);
  void compile(const Vec<JobPointer>& batch);
  Text build(const Vec<JobPointer>& batch, const DiskCache& disk, bool& again);
  bool install(const Job& job, const LibraryPointer& library);
  LibraryPointer load(const Text& path, Text& why);
  void unload_unused();
  void finish(Job& job, bool ready);
  void fail(Job& job, const Text& why);
  bool await(bool (*over)(const Service&, const Job*), const Job* job, std::int64_t until);
  void count(std::int64_t Counters::*what, std::int64_t n = 1) {
    const Lock lock(mutex_);
    counters_.*what += n;
  }
};

inline CodeCache::Service& CodeCache::Service::get() {
  static Service* const cache = [] {
    auto* made = new Service;
    // A lambda without captures cannot name a local: the handlers call get().
    const auto unlock = [] {
      pthread_mutex_unlock(&get().mutex_);
      pthread_mutex_unlock(&get().steady_);
    };
    pthread_atfork(
        [] {
          pthread_mutex_lock(&get().steady_);
          pthread_mutex_lock(&get().mutex_);
        },
        unlock,
        [] {
          get().become_child();
          pthread_mutex_unlock(&get().mutex_);
          pthread_mutex_unlock(&get().steady_);
        });
    std::atexit([] {
      Service& c = get();
      {
        const Lock lock(c.mutex_);
        c.closing_ = true;
        for (Stage* s : {&c.looking_, &c.compiling_}) s->waiting = {};
      }
      c.process_.stop();
      // A library that holds this code may be unloaded next: its threads must have left the code.
      const auto idle = [](const Service& s, const Job*) { return !s.looking_.working && !s.compiling_.working; };
      if (!c.await(idle, nullptr, backend::milliseconds_now() + 5000)) return;
      for (Stage* s : {&c.looking_, &c.compiling_}) join(*s);
    });
    return made;
  }();
  return *cache;
}

inline void CodeCache::Service::make_condition() {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

/// After fork the child has no threads, and nobody waits in it; a running compiler is the parent's.
inline void CodeCache::Service::become_child() {
  make_condition();
  process_.forget();
  for (Stage* stage : {&looking_, &compiling_}) {
    Stage all;
    for (const Vec<JobPointer>* jobs : {&stage->active, &stage->waiting})
      for (const JobPointer& j : *jobs)
        if (!j->done) all.waiting.push_back(j);
    *stage = static_cast<Stage&&>(all);
  }
}

inline bool CodeCache::Service::request(Target target, const char* name, const TierOptions& options) {
  const Vec<JobPointer> jobs = Job::all_of(static_cast<Target&&>(target), name, options);
  if (jobs.empty()) return true;
  count(&Counters::programs);
  count(&Counters::requests, jobs.size());
  if (getauxval(AT_SECURE)) {
    for (const JobPointer& job : jobs) fail(*job, "the program has rights that its user has not: nothing is compiled for it");
    return false;
  }
  bool ready = true;
  Vec<JobPointer> missing;
  for (const JobPointer& job : jobs) {
    if (!options.wait && look_later(job)) ready = false;
    else if (!look_up(*job)) missing.push_back(job);
  }
  if (missing.empty()) return ready;
  if (!compile_later(missing) || !options.wait) return false;
  for (const JobPointer& job : missing) {
    // No time limit: the compiler has one.
    await([](const Service& c, const Job* j) { return j->done || c.closing_; }, job.get(), -1);
    ready = ready && job->ready;
  }
  return ready;
}

/// False: the process ends.
inline bool CodeCache::Service::compile_later(const Vec<JobPointer>& jobs) {
  Vec<JobPointer> dropped;
  const Lock lock(mutex_);
  if (closing_) return false;
  for (const JobPointer& job : jobs) add(compiling_, job, dropped);
  start(compiling_);  // where no thread can be started, a later request or wait() tries again
  return true;
}

/// Under mutex_. Jobs that the stage forgets go to `dropped`: the caller frees them without the lock.
inline void CodeCache::Service::forget(Stage& stage, bool (*which)(const Job&), Vec<JobPointer>& dropped) {
  Vec<JobPointer> rest;
  for (const JobPointer& j : stage.waiting) (which(*j) ? dropped : rest).push_back(j);
  counters_.abandoned += stage.waiting.size() - rest.size();
  stage.waiting = static_cast<Vec<JobPointer>&&>(rest);
}
/// Under mutex_.
inline void CodeCache::Service::add(Stage& stage, const JobPointer& job, Vec<JobPointer>& dropped) {
  if (stage.waiting.size() >= stage.forget_from) {
    forget(stage, [](const Job& j) { return j.is_gone(); }, dropped);
    stage.forget_from = 2 * stage.waiting.size() + most_waiting;
  }
  stage.waiting.push_back(job);
}
/// False: there is no thread for the lookup, and the caller has to do it.
inline bool CodeCache::Service::look_later(const JobPointer& job) {
  Vec<JobPointer> dropped;
  const Lock lock(mutex_);
  if (closing_) return true;
  add(looking_, job, dropped);
  if (start(looking_)) return true;
  looking_.waiting[looking_.waiting.size() - 1] = nullptr;
  looking_.waiting.pop_back();
  return false;
}
inline bool CodeCache::Service::closing() const {
  const Lock lock(mutex_);
  return closing_;
}

/// Also called under mutex_: a thread that no longer works does not lock it.
inline void CodeCache::Service::join(Stage& stage) {
  if (stage.has_thread) pthread_join(stage.thread, nullptr);
  stage.has_thread = false;
}

/// Under mutex_. False: there is no thread, and none can be started.
inline bool CodeCache::Service::start(Stage& stage) {
  if (stage.working || stage.waiting.empty() || closing_) return true;
  join(stage);
  sigset_t all, before;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto run = [](void* of) -> void* {
    get().work(*static_cast<Stage*>(of));
    return nullptr;
  };
  stage.working = stage.has_thread = pthread_create(&stage.thread, nullptr, run, &stage) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return stage.working;
}

/// Under mutex_. Makes jobs active: the first by turn() and by time, and those that join it. The active ones of before, and parts of programs
/// that are gone, go to `over`: the caller frees them without the lock.
inline void CodeCache::Service::take(Stage& stage, Vec<JobPointer>& over) {
  over = static_cast<Vec<JobPointer>&&>(stage.active);
  forget(stage, [](const Job& j) { return j.is_part() && j.is_gone(); }, over);
  int first = 0;
  for (int k = 1; k < stage.waiting.size(); ++k)
    if (stage.waiting[k]->turn() < stage.waiting[first]->turn()) first = k;
  for (int k = first; k > 0; --k) stage.waiting[k].swap(stage.waiting[k - 1]);
  Vec<JobPointer> rest;
  int instructions = 0;
  for (const JobPointer& j : stage.waiting) {
    const bool joins = stage.active.empty() || (stage.active.size() < most_in_one_text &&
                                                (&stage == &looking_ || (j->joins(*stage.active[0]) &&
                                                                         instructions + j->instructions <= most_instructions_in_one_text)));
    if (joins) instructions += j->instructions;
    (joins ? stage.active : rest).push_back(j);
  }
  stage.waiting = static_cast<Vec<JobPointer>&&>(rest);
}
/// The function of a thread: it ends when nothing waits.
inline void CodeCache::Service::work(Stage& stage) {
  for (;;) {
    Vec<JobPointer> over;
    {
      const Lock lock(mutex_);
      take(stage, over);
      if (closing_ || (stage.active.empty() && over.empty())) {  // who waits for the end finds no program held by a job
        stage.working = false;
        pthread_cond_broadcast(&changed_);
        return;
      }
    }
    over = {};
    work_on(stage);
  }
}
inline void CodeCache::Service::work_on(Stage& stage) {
  Text why;
  try {
    Vec<JobPointer> missing;
    for (const JobPointer& j : stage.active) {
      if (closing()) return;
      if (!look_up(*j)) missing.push_back(j);
    }
    if (missing.empty()) return;
    if (&stage == &compiling_) return compile(missing);
    Vec<JobPointer> dropped;
    const Lock lock(mutex_);
    dropped = static_cast<Vec<JobPointer>&&>(stage.active);
    for (const JobPointer& j : missing) add(compiling_, j, dropped);
    start(compiling_);
    return;
  } catch (const std::exception& e) {
    why << e.what();
  }
  for (const JobPointer& j : stage.active)
    if (!j->done) fail(*j, why);
}

/// True: its kernels are found, and run from now on.
inline bool CodeCache::Service::look_up(Job& job) {
  const Lock steady(steady_);
  job.identify();
  return find(job);
}

/// Takes kernels that were loaded before, or from disk. Under steady_.
inline bool CodeCache::Service::find(Job& job) {
  LibraryPointer library;
  {
    const Lock lock(mutex_);
    library = loaded_.find(job.key);
  }
  if (library && install(job, library)) {
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
      {
        const Lock lock(mutex_);
        library = loaded_.find(path);  // other programs have kernels in it, too
      }
      if (!library) library = load(path, why);
      if (library && install(job, library)) {
        count(&Counters::disk_hits);
        finish(job, true);
        return true;
      }
    }
  }
  if (!job.rejected) count(&Counters::rejected);
  job.rejected = true;
  return false;
}

inline void CodeCache::Service::compile(const Vec<JobPointer>& batch) {
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

/// One call of the compiler. Returns the error, or an empty text; `again`: one program may be to blame.
inline Text CodeCache::Service::build(const Vec<JobPointer>& batch, const DiskCache& disk, bool& again) {
  again = false;
  backend::TemporaryFolder folder;
  if (folder.path().empty()) return "no private folder for the compiler can be made; set TMPDIR?";
  Vec<NamedPlan> plans;
  for (int i = 0; i < batch.size(); ++i) {
    bool twice = false;
    for (int j = 0; j < i; ++j) twice = twice || batch[j]->key == batch[i]->key;
    if (!twice) plans.push_back(batch[i]->kernels());
  }
  const Job& first = *batch[0];
  const Text text = emit_c(plans, first.target->has_fma);
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
  LibraryPointer library;
  {
    const Lock steady(steady_);
    library = load(kept.empty() ? object : kept, why);
  }
  if (!library) {
    if (!kept.empty()) disk.remove_object(bytes.begin(), bytes.size());
    return Text("what the compiler made cannot be loaded: ") << why;
  }
  bool used = false;
  for (const JobPointer& j : batch) {
    if (!install(*j, library)) {
      why = Text("what the compiler made has no function ") << j->name << '_' << j->first;
      continue;
    }
    used = true;
    if (!disk.folder().empty() && (kept.empty() || !disk.keep_entry(j->key, bytes.begin(), bytes.size())))
      count(&Counters::unsaved);
    count(&Counters::compiled);
    finish(*j, true);
  }
  if (!used && !kept.empty()) disk.remove_object(bytes.begin(), bytes.size());
  disk.trim();
  return why;
}

/// Swaps the kernels in, all or none; then the library is loaded as long as the program lives, at least.
inline bool CodeCache::Service::install(const Job& job, const LibraryPointer& library) {
  const Plan& plan = *job.target->plan;
  Vec<void*> functions;
  for (int k = job.first; k < job.last; ++k) {
    Text symbol(job.name);
    symbol << '_' << k;
    functions.push_back(plan.kernels[k].code == k ? library->code.find(symbol.c_str()) : nullptr);
    if (plan.kernels[k].code == k && !functions.back()) return false;
  }
  {
    const Lock lock(mutex_);
    job.target->keep(job.target->program.get(), library);
    counters_.loaded += loaded_.use(library, job.key);
  }
  // Without the lock, as a long program takes a while. Another thread may swap kernels of the same program meanwhile: it keeps both libraries.
  // A child of fork may begin with only some of them swapped: the job is not done there, and is looked up again.
  for (int k = 0; k < functions.size(); ++k)
    if (functions[k]) job.target->replace(job.target->program.get(), job.first + k, functions[k]);
  return true;
}
/// Null, and why, if the file cannot be loaded. Under steady_.
inline CodeCache::Service::LibraryPointer CodeCache::Service::load(const Text& path, Text& why) {
  unload_unused();
  const auto library = std::make_shared<LoadedLibrary>();
  library->path = path;
  return library->code.load(library->path.c_str(), why) ? library : nullptr;
}
/// Libraries whose programs are gone stay loaded, in case there are such programs again, unless they are many. Under steady_.
inline void CodeCache::Service::unload_unused() {
  Vec<LibraryPointer> gone;  // unloaded without mutex_
  const Lock lock(mutex_);
  gone = loaded_.take_unused(most_unused_libraries);
  counters_.unloaded += gone.size();
}

inline void CodeCache::Service::finish(Job& job, bool ready) {
  const Lock lock(mutex_);
  job.ready = ready;
  job.done = true;
  pthread_cond_broadcast(&changed_);
}
inline void CodeCache::Service::fail(Job& job, const Text& why) {
  {
    const Lock lock(mutex_);
    if (!closing_) {
      ++counters_.failures;
      last_failure_ = Text(job.name) << ": " << why;
    }
  }
  finish(job, false);
}

/// Waits until over() is true, for ever if `until` is negative. Without a thread the work is done here.
inline bool CodeCache::Service::await(bool (*over)(const Service&, const Job*), const Job* job, std::int64_t until) {
  pthread_mutex_lock(&mutex_);
  for (;;) {
    if (over(*this, job)) break;
    if (until >= 0 && backend::milliseconds_now() >= until) break;
    if (Stage* stage = !start(looking_) ? &looking_ : !start(compiling_) ? &compiling_ : nullptr) {
      stage->working = true;
      pthread_mutex_unlock(&mutex_);
      work(*stage);
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
inline bool CodeCache::Service::wait(int milliseconds) {
  const auto idle = [](const Service& c, const Job*) { return c.looking_.idle() && c.compiling_.idle(); };
  return await(idle, nullptr, backend::milliseconds_now() + milliseconds);
}

inline CodeCache::Counters CodeCache::Service::counters() const {
  const Lock lock(mutex_);
  return counters_;
}
inline Text CodeCache::Service::last_failure() const {
  const Lock lock(mutex_);
  return last_failure_;
}
inline Text CodeCache::Service::report() const {
  const Lock lock(mutex_);
  Text t;
  const Counters& c = counters_;
  int waiting = 0;
  for (const Stage* s : {&looking_, &compiling_}) waiting += s->waiting.size() + s->active.size();
  const bool has_parts = c.requests > c.programs;
  const char* each = has_parts ? " parts" : " programs";
  t << "compiled kernels for " << c.programs << " programs";
  if (has_parts) t << " in " << c.requests << " parts";
  t << ": " << c.compiled << " compiled in " << c.compiler_calls
    << " calls of the compiler and " << c.milliseconds << " ms, " << c.memory_hits << " in memory, " << c.disk_hits
    << " on disk, " << c.failures << " failed, " << waiting << " wait\n";
  if (c.rejected) t << "  " << c.rejected << " entries on disk were torn or foreign, and were not used\n";
  if (c.unsaved) t << "  " << c.unsaved << each << " could not be kept on disk\n";
  if (c.abandoned) t << "  " << c.abandoned << each << " were dropped before their turn\n";
  if (c.unloaded) t << "  " << c.unloaded << " of " << c.loaded << " libraries were unloaded, as their programs are gone\n";
  if (!why_no_disk_.empty()) t << "  nothing is kept on disk: " << why_no_disk_ << '\n';
  if (c.failures) t << "  they stay on tier 0; the last: " << last_failure_ << '\n';
  return t;
}

TT_INLINE CodeCache& CodeCache::get() {
  static CodeCache* const cache = new CodeCache(Service::get());
  return *cache;
}
TT_INLINE bool CodeCache::request(Target target, const char* name, const TierOptions& options) {
  return service_.request(static_cast<Target&&>(target), name, options);
}
TT_INLINE bool CodeCache::wait(int milliseconds) { return service_.wait(milliseconds); }
TT_INLINE CodeCache::Counters CodeCache::counters() const { return service_.counters(); }
TT_INLINE Text CodeCache::last_failure() const { return service_.last_failure(); }
TT_INLINE Text CodeCache::report() const { return service_.report(); }

}  // namespace tt

#include "tt/jit/code_cache_job_inl.hpp"
