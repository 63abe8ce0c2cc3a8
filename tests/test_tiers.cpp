// Tier 0, and tier 1 in the background: equal bits before, during and after the swap; the cache on disk;
// and what is documented for each thing that can go wrong. Nothing here depends on how long something
// takes: compilers wait for files, tests for conditions.
#include <doctest/doctest.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sanitizers.hpp"
#include "tensors.hpp"
#include "tt/jit/code_cache.hpp"
#include "tt/jit/native.hpp"

namespace {

using tt::CodeCache;
using Counters = CodeCache::Counters;
using Program = std::shared_ptr<tt::backend::TileProgram>;

constexpr int n = 1500;

/// Another program for every number: an elementwise kernel, a row kernel and a product.
tt::Plan plan_of(int number) {
  tt::Graph g;
  const tt::Sym x{&g, g.input(tt::DType::f32, {30, 50})}, w{&g, g.input(tt::DType::f32, {50, 30})};
  g.output(tt::softmax(tt::silu(x * (2.0 + number)) + x, 1).id);
  g.output(tt::tanh(tt::matmul(x, w) * 0.01 + number).id);
  return tt::compile_plan(g);
}
Program program_of(int number) { return std::make_shared<tt::backend::TileProgram>(plan_of(number)); }

struct Values {
  std::vector<float> x = std::vector<float>(n), w = std::vector<float>(n), a = std::vector<float>(n),
                     b = std::vector<float>(900);
  Values() {
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      x[k] = static_cast<float>(i * 7919 % 2003) / 300.0f - 3;
      w[k] = static_cast<float>(i * 104729 % 1999) / 400.0f - 2;
    }
  }
  bool operator==(const Values& o) const {
    return std::memcmp(a.data(), o.a.data(), a.size() * 4) == 0 && std::memcmp(b.data(), o.b.data(), b.size() * 4) == 0;
  }
};
Values run(const tt::backend::TileProgram& p) {
  Values v;
  void* external[] = {v.x.data(), v.w.data(), v.a.data(), v.b.data()};
  p.run(external, {});
  return v;
}
bool is_compiled(const Program& p) { return p->compiled_kernels() == p->plan().kernels.size(); }
/// On whatever tier it is, a program gives the bits of a fresh interpreter.
bool right(const Program& p) { return run(*p) == run(tt::backend::TileProgram(p->plan())); }

/// Numbers nobody used before: what is loaded once is found in memory.
int fresh() {
  static int number = 0;
  return ++number;
}

/// A folder of this test, removed with all that is in it.
struct Folder {
  std::string path;
  Folder() {
    const char* base = std::getenv("TMPDIR");
    path = std::string(base && *base ? base : "/tmp") + "/tt-test-XXXXXX";
    REQUIRE(mkdtemp(path.data()));
  }
  Folder(const Folder&) = delete;
  ~Folder() { remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }

  static std::vector<std::string> names(const std::string& folder, const std::string& ending = "") {
    std::vector<std::string> all;
    DIR* d = opendir(folder.c_str());
    while (const dirent* e = d ? readdir(d) : nullptr) {
      const std::string name = e->d_name;
      if (name != "." && name != ".." && name.size() >= ending.size() &&
          name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        all.push_back(name);
    }
    if (d) closedir(d);
    return all;
  }
  std::string only(const std::string& ending) const {
    const auto all = names(path, ending);
    REQUIRE(all.size() == 1);
    return path + "/" + all[0];
  }
  static void remove_all(const std::string& at) {
    chmod(at.c_str(), 0700);
    for (const std::string& e : names(at)) {
      const std::string inner = at + "/" + e;
      struct stat s;
      if (lstat(inner.c_str(), &s) == 0 && S_ISDIR(s.st_mode)) remove_all(inner);
      else unlink(inner.c_str());
    }
    rmdir(at.c_str());
  }
};
std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// An environment variable, as long as this lives.
struct Variable {
  std::string name, before;
  bool was_set;
  Variable(const char* variable, const std::string& value) : name(variable), was_set(std::getenv(variable)) {
    if (was_set) before = std::getenv(variable);
    setenv(variable, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  ~Variable() {
    if (was_set) setenv(name.c_str(), before.c_str(), 1);
    else unsetenv(name.c_str());
  }
};
/// The compiler that this process was started with.
const std::string& real_compiler() {
  static const std::string cc = std::getenv("CC") && *std::getenv("CC") ? std::getenv("CC") : "cc";
  return cc;
}
/// A compiler of our own, as a shell script.
struct Script : Variable {
  Script(const Folder& folder, const std::string& body) : Variable("CC", folder / "compiler") {
    write_text(folder / "compiler", "#!/bin/sh\n" + body + "\n");
    chmod((folder / "compiler").c_str(), 0700);
  }
};
std::string calling_real() { return "exec " + real_compiler() + " \"$@\""; }

Counters operator-(const Counters& a, const Counters& b) {
  return {a.programs - b.programs, a.requests - b.requests, a.compiled - b.compiled, a.memory_hits - b.memory_hits, a.disk_hits - b.disk_hits,
          a.failures - b.failures, a.compiler_calls - b.compiler_calls, a.rejected - b.rejected, a.unsaved - b.unsaved,
          a.milliseconds - b.milliseconds, a.abandoned - b.abandoned, a.loaded - b.loaded, a.unloaded - b.unloaded};
}
/// What was counted since it was made.
struct Since {
  Counters begin = CodeCache::get().counters();
  Counters operator()() const { return CodeCache::get().counters() - begin; }
};
/// A limit of CodeCache that is lower, as long as this lives.
struct Fewer {
  int &limit, before;
  Fewer(int& of, int most) : limit(of), before(of) { limit = most; }
  Fewer(const Fewer&) = delete;
  ~Fewer() { limit = before; }
};
bool mentions(const tt::Text& text, const char* part) { return text.contains(part); }

/// Requests a program and waits.
Program compiled_program(int number, const Folder& cache, int milliseconds = 300'000) {
  const Program p = program_of(number);
  CodeCache::get().request(p, "tiers", {.wait = true, .cache_dir = cache.path.c_str(), .compiler_milliseconds = milliseconds});
  return p;
}

// ---- processes of their own: this program, started again for the case "(in a child)"
struct Child {
  pid_t pid = 0;
  std::string result;
  /// `job`: first and last number of its programs, and what is special then; or "exit", or "leave" after so many microseconds.
  Child(const Folder& cache, const std::string& job, const std::string& result_path) : result(result_path) {
    pid = fork();
    REQUIRE(pid >= 0);
    if (pid > 0) return;
    setenv("TT_TIERS_JOB", job.c_str(), 1);
    setenv("TT_TIERS_RESULT", result.c_str(), 1);
    setenv("TT_CACHE_DIR", cache.path.c_str(), 1);
    execl("/proc/self/exe", "test_tiers", "--no-skip", "--test-case=*(in a child)*", "--minimal", static_cast<char*>(nullptr));
    _exit(99);
  }
  Counters counted() const {
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
    Counters c{};
    std::ifstream in(result);
    in >> c.requests >> c.compiled >> c.memory_hits >> c.disk_hits >> c.failures >> c.compiler_calls >> c.rejected >> c.unsaved;
    return c;
  }
};
Counters in_child(const Folder& cache, const std::string& job) {
  const Folder own;
  return Child(cache, job, own / "result").counted();
}

/// Calls compiled functions of either kind, with the bits that they had before.
struct Late {
  explicit Late(tt::Tensor given = tt::ones({40, 60})) : x(std::move(given)), expected(whole(x)) {}
  ~Late() {
    for (int k = 0; k < 3; ++k)
      if (!same_bits(whole(x), expected) || !same_bits(broken(x), expected)) _exit(7);
  }
  static tt::Tensor body(const tt::Tensor& x) { return tt::softmax(tt::matmul(x, x.t()) * 0.1, 1).sum(0) + 1; }
  static tt::Tensor whole(const tt::Tensor& x) {
    return tt::compile([](const tt::Tensor& y) { return body(y); }, {.tier = 0})(x);
  }
  static tt::Tensor broken(const tt::Tensor& x) {
    return tt::compile([](const tt::Tensor& y) { return y.sum().item() > -1 ? body(y) : y; }, {.tier = 0})(x);
  }
  tt::Tensor x, expected;
};
/// Destructors of static and thread_local objects, made before the thread kept memory for the calls, and so destroyed after.
void call_late() {
  static std::vector<Late> statics;
  std::thread([] {
    thread_local std::vector<Late> here;
    here.reserve(1);
    here.emplace_back();
    (void)Late::broken(here[0].x);
  }).join();
  thread_local std::vector<Late> here;
  here.reserve(1);
  here.emplace_back();
  statics.emplace_back();
  (void)Late::broken(here[0].x);
}

}  // namespace

TEST_CASE("(in a child)" * doctest::skip()) {
  const char* job = std::getenv("TT_TIERS_JOB");
  if (!job) return;
  if (std::strcmp(job, "exit") == 0) {
    CodeCache::get().request(program_of(1), "tiers");
    while (access(std::getenv("TT_TIERS_RESULT"), F_OK) != 0) usleep(1000);  // the compiler runs
    std::exit(0);
  }
  if (std::strncmp(job, "leave", 5) == 0) {
    for (int k = 0; k < 40; ++k) CodeCache::get().request(program_of(k), "tiers");
    usleep(static_cast<useconds_t>(std::atoi(job + 5)));
    std::exit(0);
  }
  if (std::strcmp(job, "late") == 0) {
    call_late();
    std::exit(0);
  }
  if (const char* bytes = std::strstr(job, "full")) {  // files of this process, but not of the compiler, end early
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(std::atoi(bytes + 4));
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (std::strstr(job, "threadless")) {  // no stack is as large
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, std::size_t{1} << 46);
    REQUIRE(pthread_setattr_default_np(&large) == 0);
  }
  int first = 0, last = 0;
  REQUIRE(std::sscanf(job, "%d %d", &first, &last) == 2);
  std::vector<Program> programs;
  for (int k = first; k <= last; ++k) {
    programs.push_back(program_of(k));
    CodeCache::get().request(programs.back(), "tiers");
    if (std::strstr(job, "threadless and known")) CHECK(is_compiled(programs.back()));
  }
  CHECK(CodeCache::get().wait());
  for (const Program& p : programs) {
    CHECK(right(p));
    CHECK(is_compiled(p));
  }
  const Counters c = CodeCache::get().counters();
  std::ofstream(std::getenv("TT_TIERS_RESULT")) << c.requests << ' ' << c.compiled << ' ' << c.memory_hits << ' ' << c.disk_hits
                                                << ' ' << c.failures << ' ' << c.compiler_calls << ' ' << c.rejected << ' '
                                                << c.unsaved << '\n';
}

TEST_CASE("kernels can be replaced while others run the program") {
  const tt::Plan plan = plan_of(0);
  tt::backend::TileProgram program(plan);
  const tt::backend::Library library = tt::backend::compile_c(tt::emit_c(plan, "swap"));
  const Values expected = run(program);
  std::atomic<int> wrong = 0, runs = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        wrong += !(run(program) == expected);
        ++runs;
      }
    });
  for (int swap = 0; swap < 200 || runs < 100; ++swap)
    for (int k = 0; k < plan.kernels.size(); ++k) {
      tt::Text symbol("swap_");
      symbol << k;
      if (plan.kernels[k].code == k) program.replace_kernel(k, swap % 2 ? nullptr : library.find(symbol.c_str()));
    }
  stop = true;
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  const auto calls = program.calls();
  CHECK(calls.tier0 + calls.tier1 == runs + 1);
}

TEST_CASE("a program runs at once, and compiled when it is compiled") {
  const Folder cache, tools;
  const Script gate(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n" + calling_real());
  const Since since;
  const Program p = program_of(fresh());
  CHECK_FALSE(CodeCache::get().request(p, "tiers", {.cache_dir = cache.path.c_str()}));
  CHECK(right(p));
  CHECK(p->compiled_kernels() == 0);
  CHECK(p->calls().tier0 == 1);
  CHECK_FALSE(CodeCache::get().wait(1));
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  CHECK(is_compiled(p));
  CHECK(right(p));
  CHECK(p->calls().tier0 == 1);
  CHECK(p->calls().tier1 == 1);
  CHECK(since().requests == 1);
  CHECK(since().compiled == 1);
  CHECK(since().compiler_calls == 1);
  CHECK(read_text(cache.only(".c")).find("void tiers_") != std::string::npos);
}

TEST_CASE("the same program is compiled once, wherever in the source it stands") {
  const Folder cache;
  const auto at_line = [](int number) {
    tt::Graph g;
    const tt::Sym x{&g, g.input(tt::DType::f32, {30, 50})};
    g.output(tt::exp(x * number).id);
    return std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
  };
  const auto at_another_line = [](int number) {
    tt::Graph g;
    const tt::Sym x{&g, g.input(tt::DType::f32, {30, 50})};
    g.output(tt::exp(x * number).id);
    return std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
  };
  const Since since;
  const int number = fresh() + 1000;
  const tt::TierOptions options{.wait = true, .cache_dir = cache.path.c_str()};
  CHECK(CodeCache::get().request(at_line(number), "same", options));
  CHECK(CodeCache::get().request(at_another_line(number), "same", options));
  CHECK(CodeCache::get().request(at_line(number + 1), "not a C name", options));
  CHECK(since().compiled == 2);
  CHECK(since().memory_hits == 1);
}

TEST_CASE("the kernels of a long program are compiled in several texts") {
  constexpr int outputs = 7;
  const Fewer fewer(CodeCache::most_instructions_in_one_text, 10);
  tt::Graph g;
  std::vector<std::vector<float>> x, got, want;
  for (int k = 0; k < outputs; ++k) {
    const tt::Sym in{&g, g.input(tt::DType::f32, {30, 40 + k})};
    g.output((tt::exp(in) * (k + 2)).id);
    x.emplace_back(static_cast<std::size_t>(30 * (40 + k)), 0.25f * static_cast<float>(k));
  }
  got = want = x;
  const Folder cache;
  const Since since;
  const auto p = std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
  REQUIRE(p->plan().kernels.size() == outputs);
  REQUIRE(CodeCache::get().request(p, "long", {.wait = true, .cache_dir = cache.path.c_str()}));
  CHECK(is_compiled(p));
  const Counters c = since();
  CHECK(c.requests >= 3);
  CHECK(c.requests < outputs);
  CHECK(c.compiled == c.requests);
  CHECK(c.compiler_calls == c.requests);
  CHECK(c.programs == 1);
  CHECK(mentions(CodeCache::get().report(), " parts: "));
  const auto run = [&](const tt::backend::TileProgram& program, std::vector<std::vector<float>>& to) {
    std::vector<void*> external;
    for (auto* of : {&x, &to})
      for (auto& values : *of) external.push_back(values.data());
    program.run(external.data(), {});
  };
  run(*p, got);
  run(tt::backend::TileProgram(p->plan()), want);
  CHECK(got == want);
  const auto again = std::make_shared<tt::backend::TileProgram>(p->plan());
  CHECK(CodeCache::get().request(again, "long", {.wait = true, .cache_dir = cache.path.c_str()}));
  CHECK(since().memory_hits == c.requests);
}

namespace {

/// As many kernels as outputs: two of them have at most 10 instructions, three have more.
Program long_program(int outputs, int number) {
  tt::Graph g;
  for (int k = 0; k < outputs; ++k) {
    const tt::Sym in{&g, g.input(tt::DType::f32, {30, 40 + k})};
    g.output((tt::exp(in) * (number + 0.01 * (k + 1))).id);
  }
  return std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
}
/// A compiler that notes for whom it works, and begins when there is a file "open".
std::string noting_calls(const Folder& tools) {
  return "cd '" + tools.path + "'\nfor f in \"$@\"; do case $f in *.c) if grep -q little_ \"$f\"; then echo little; else echo lengthy; fi >>calls;; esac; done\n"
         "while [ ! -e open ]; do sleep 0.01; done\n" + calling_real();
}
/// Is a compiler called, within a minute?
bool is_called(const Folder& tools) {
  for (int k = 0; k < 60'000 && access((tools / "calls").c_str(), F_OK) != 0; ++k) usleep(1000);
  return access((tools / "calls").c_str(), F_OK) == 0;
}

}  // namespace

TEST_CASE("of a long program that is dropped only the part that the compiler has is compiled") {
  const Folder cache, tools;
  const Script gate(tools, noting_calls(tools));
  const Fewer fewer(CodeCache::most_instructions_in_one_text, 10);
  const Since since;
  std::weak_ptr<tt::backend::TileProgram> dropped;
  {
    const Program p = long_program(8, fresh());
    dropped = p;
    CHECK_FALSE(CodeCache::get().request(p, "lengthy", {.cache_dir = cache.path.c_str()}));
    REQUIRE(is_called(tools));
  }
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  CHECK(dropped.expired());
  const Counters c = since();
  CHECK(c.programs == 1);
  CHECK(c.requests == 4);
  CHECK(c.compiler_calls == 1);
  CHECK(c.compiled == 1);
  CHECK(c.abandoned == 3);
}

TEST_CASE("a program of one text that is dropped is compiled for others like it") {
  const Folder cache;
  const int number = fresh();
  const Since since;
  CodeCache::get().request(program_of(number), "tiers", {.cache_dir = cache.path.c_str()});
  CHECK(CodeCache::get().wait());
  CHECK(since().compiled == 1);
  CHECK(CodeCache::get().request(program_of(number), "tiers", {.wait = true, .cache_dir = cache.path.c_str()}));
  CHECK(since().memory_hits == 1);
}

TEST_CASE("a program has its turn before the further parts of a long one") {
  const Folder cache, tools;
  const Script gate(tools, noting_calls(tools));
  const Fewer fewer(CodeCache::most_instructions_in_one_text, 10);
  const tt::TierOptions options{.cache_dir = cache.path.c_str()};
  const Program known = long_program(1, fresh());
  write_text(tools / "open", "");
  REQUIRE(CodeCache::get().request(known, "known", {.wait = true, .cache_dir = cache.path.c_str()}));
  for (const char* file : {"open", "calls"}) unlink((tools / file).c_str());
  const Program lengthy = long_program(8, fresh());
  CHECK_FALSE(CodeCache::get().request(lengthy, "lengthy", options));
  REQUIRE(is_called(tools));
  const Program little = long_program(1, fresh());
  CHECK_FALSE(CodeCache::get().request(little, "little", options));
  for (int k = 0; k < 2; ++k) {  // the second is looked up when the little one waits for the compiler
    const Program again = std::make_shared<tt::backend::TileProgram>(known->plan());
    CodeCache::get().request(again, "known", options);
    for (int waited = 0; waited < 60'000 && !is_compiled(again); ++waited) usleep(1000);
    REQUIRE(is_compiled(again));
  }
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  CHECK(is_compiled(little));
  CHECK(is_compiled(lengthy));
  CHECK(read_text(tools / "calls") == "lengthy\nlittle\nlengthy\nlengthy\nlengthy\n");
}

TEST_CASE("kernels that are equal to earlier ones are no part of their own") {
  tt::Graph g;
  const tt::Sym w{&g, g.input(tt::DType::f32, {30, 30})};
  tt::Sym x{&g, g.input(tt::DType::f32, {30, 30})};
  const int number = fresh();
  for (int k = 0; k < 4; ++k) {
    x = tt::tanh(tt::matmul(x, w) * (number + 0.25));
    g.output(x.id);
  }
  const Program p = std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
  const tt::Vec<tt::Kernel>& kernels = p->plan().kernels;
  int texts = 0;
  for (int k = 0; k < kernels.size(); ++k) texts += kernels[k].code == k;
  REQUIRE(kernels.back().code < kernels.size() - 1);
  REQUIRE(texts < kernels.size() - 1);
  const Folder cache;
  const Fewer fewer(CodeCache::most_instructions_in_one_text, 1);
  const Since since;
  CHECK(CodeCache::get().request(p, "equal", {.wait = true, .cache_dir = cache.path.c_str()}));
  CHECK(is_compiled(p));
  CHECK(since().requests == texts);
}

TEST_CASE("a program keeps its code once") {
  const auto code = std::make_shared<int>(0);
  {
    tt::backend::TileProgram p(plan_of(0));
    for (int k = 0; k < 3; ++k) p.keep(code);
    CHECK(code.use_count() == 2);
  }
  CHECK(code.use_count() == 1);
}

namespace {

/// Unloads the code of programs that are gone.
void unload_all(const tt::TierOptions& options) {
  const Fewer fewer(CodeCache::most_unused_libraries, 0);
  CodeCache::get().wait();
  REQUIRE(CodeCache::get().request(program_of(fresh()), "unloads", options));
}

}  // namespace

TEST_CASE("of code whose programs are gone the half used last is kept, where there is much of it") {
  const Folder cache;
  const tt::TierOptions options{.wait = true, .cache_dir = cache.path.c_str()};
  const auto ask = [&](int number) {
    const Since since;
    const Program p = program_of(number);
    CHECK(CodeCache::get().request(p, "goes", options));
    CHECK(is_compiled(p));
    CHECK(right(p));
    return since();
  };
  unload_all(options);
  const Fewer fewer(CodeCache::most_unused_libraries, 4);
  int number[6];
  for (int& k : number) k = fresh();
  const Program lives = program_of(fresh());
  const Since since;
  REQUIRE(CodeCache::get().request(lives, "lives", options));  // and code of unload_all() has no program
  for (int k = 0; k < 3; ++k) CHECK(ask(number[k]).loaded == 1);
  CHECK(ask(number[0]).memory_hits == 1);
  CHECK(ask(number[3]).loaded == 1);
  CHECK(since().unloaded == 0);
  CHECK(ask(number[4]).unloaded == 3);  // five are there before it is loaded
  CHECK(since().loaded == 6);
  CHECK(mentions(CodeCache::get().report(), "libraries were unloaded"));
  CHECK(is_compiled(lives));
  CHECK(right(lives));
  for (const int k : {0, 3, 4}) CHECK(ask(number[k]).memory_hits == 1);
  for (const int k : {1, 2}) CHECK(ask(number[k]).disk_hits == 1);
  CHECK(CodeCache::get().request(std::make_shared<tt::backend::TileProgram>(lives->plan()), "lives", options));
  CHECK(since().memory_hits == 5);
}

TEST_CASE("an object on disk with the kernels of several programs is one library") {
  const Folder cache, other, tools;
  const Script gate(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n" + calling_real());
  constexpr int programs = 8;
  const int number = fresh() + 2000;
  const auto ask_all = [&] {
    std::vector<Program> all;
    for (int k = 0; k < programs; ++k) {
      all.push_back(program_of(number + k));
      CodeCache::get().request(all.back(), "tiers", {.cache_dir = cache.path.c_str()});
    }
    write_text(tools / "open", "");
    CHECK(CodeCache::get().wait());
    for (const Program& p : all) {
      CHECK(is_compiled(p));
      CHECK(right(p));
    }
  };
  ask_all();
  const std::size_t objects = Folder::names(cache.path, ".so").size();
  REQUIRE(objects < programs);
  unload_all({.wait = true, .cache_dir = other.path.c_str()});
  const Since since;
  ask_all();
  CHECK(since().disk_hits == programs);
  CHECK(since().loaded == static_cast<int>(objects));
}

TEST_CASE("tier 0 asked for is tier 0") {
  const Since since;
  const Program p = program_of(fresh());
  CHECK_FALSE(CodeCache::get().request(p, "tiers", {.tier = 0, .wait = true}));
  CHECK(since().requests == 0);
  CHECK(p->compiled_kernels() == 0);
}

TEST_CASE("many column sums in one kernel share their memory on the stack") {  // 64 KiB each would be more than there is
  constexpr int sums = 36, rows = 40, cols = 70;
  tt::Graph g;
  for (int k = 0; k < sums; ++k) {
    const tt::Sym x{&g, g.input(tt::DType::f64, {tt::Extent::symbol(0), cols})};
    g.output(tt::sum(x * (k + 1), 0).id);
  }
  const Folder cache;
  const auto p = std::make_shared<tt::backend::TileProgram>(tt::compile_plan(g));
  CodeCache::get().request(p, "sums", {.wait = true, .cache_dir = cache.path.c_str()});
  REQUIRE(is_compiled(p));
  REQUIRE(p->plan().kernels.size() == 1);
  struct Job {
    Program program;
    std::vector<double> x = std::vector<double>(rows * cols), sum = std::vector<double>(sums * cols);
    void run() {
      void* external[2 * sums];
      for (int k = 0; k < sums; ++k) {
        external[k] = x.data();
        external[sums + k] = sum.data() + k * cols;
      }
      program->run(external, {{rows, 0}});
    }
  } job{p}, want{std::make_shared<tt::backend::TileProgram>(p->plan())};
  for (int i = 0; i < rows * cols; ++i) job.x[static_cast<std::size_t>(i)] = want.x[static_cast<std::size_t>(i)] = i % 17 / 3.0;
  want.run();
  pthread_attr_t small;
  REQUIRE(pthread_attr_init(&small) == 0);
  REQUIRE(pthread_attr_setstacksize(&small, 2 << 20) == 0);  // of which a sanitizer takes some
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &small, [](void* of) -> void* {
            static_cast<Job*>(of)->run();
            return nullptr;
          }, &job) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
  CHECK(job.sum == want.sum);
}

TEST_CASE("programs that wait are compiled in one text") {
  const Folder cache, tools;
  const Script gate(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n" + calling_real());
  const Since since;
  std::vector<Program> programs;
  for (int k = 0; k < 24; ++k) {
    // every third is one that waits already
    programs.push_back(k % 3 == 2 ? std::make_shared<tt::backend::TileProgram>(programs.back()->plan()) : program_of(fresh()));
    CodeCache::get().request(programs.back(), "tiers", {.cache_dir = cache.path.c_str()});
  }
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  for (const Program& p : programs) {
    CHECK(is_compiled(p));
    CHECK(right(p));
  }
  const Counters c = since();
  CHECK(c.compiled + c.memory_hits == 24);
  CHECK(c.compiler_calls >= 2);
  CHECK(c.compiler_calls <= 3);
  CHECK(Folder::names(cache.path, ".entry").size() == 16);
}

TEST_CASE("programs that are dropped before their turn are let go of") {
  const Folder cache, tools;
  const Script gate(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n" + calling_real());
  const Since since;
  constexpr int made = is_sanitized ? 300 : 1000;
  std::vector<std::weak_ptr<tt::backend::TileProgram>> programs;
  for (int k = 0; k < made; ++k) {
    const Program p = program_of(fresh());
    programs.push_back(p);
    CodeCache::get().request(p, "tiers", {.cache_dir = cache.path.c_str()});
  }
  const auto alive = [&] {
    int count = 0;
    for (const auto& p : programs) count += !p.expired();
    return count;
  };
  for (int waited = 0; alive() > made / 2 && waited < 60'000; ++waited) usleep(1000);
  CHECK(alive() <= made / 2);
  const Program kept = program_of(fresh());
  CodeCache::get().request(kept, "tiers", {.cache_dir = cache.path.c_str()});
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  CHECK(is_compiled(kept));
  CHECK(alive() == 0);
  const Counters c = since();
  CHECK(c.requests == made + 1);
  CHECK(c.compiled + c.abandoned == made + 1);
  CHECK(c.abandoned >= made / 2);
}

TEST_CASE("the next process finds kernels on disk") {
  const Folder cache;
  const Counters cold = in_child(cache, "1 3");
  CHECK(cold.compiled == 3);
  CHECK(cold.disk_hits == 0);
  const Counters warm = in_child(cache, "1 4");
  CHECK(warm.disk_hits == 3);
  CHECK(warm.compiled == 1);
  CHECK(warm.rejected == 0);
  {
    const Folder tools;
    const Script other(tools, calling_real());  // another compiler: other kernels
    CHECK(in_child(cache, "1 1").compiled == 1);
  }
  CHECK(in_child(cache, "1 4").disk_hits == 4);
}

TEST_CASE("kernels on disk are found while a compiler runs, by who did not ask to wait") {
  const Folder cache, tools;
  // One compiler for both: it waits while there is a gate.
  const Script gate(tools, "cd '" + tools.path + "'\nwhile [ -e closed ]; do : >waits; sleep 0.01; done\n" + calling_real());
  REQUIRE(in_child(cache, "1 1").compiled == 1);
  write_text(tools / "closed", "");
  const Program slow = program_of(fresh()), known = program_of(1);
  CHECK_FALSE(CodeCache::get().request(slow, "tiers", {.cache_dir = cache.path.c_str()}));
  for (int k = 0; k < 30'000 && access((tools / "waits").c_str(), F_OK) != 0; ++k) usleep(1000);
  CHECK_FALSE(CodeCache::get().request(known, "tiers", {.cache_dir = cache.path.c_str()}));
  for (int k = 0; k < 30'000 && !is_compiled(known); ++k) usleep(1000);
  CHECK(is_compiled(known));
  CHECK_FALSE(is_compiled(slow));
  unlink((tools / "closed").c_str());
  CHECK(CodeCache::get().wait());
  CHECK(is_compiled(slow));
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("where no thread can be started, who asks looks for kernels, and who waits compiles") {
  const Folder cache;
  CHECK(in_child(cache, "1 3 threadless").compiled == 3);
  CHECK(in_child(cache, "1 3 threadless and known").disk_hits == 3);
}
#endif

TEST_CASE("without a compiler programs stay on tier 0, and the failure is counted and named") {
  const Folder cache, empty;
  const auto fails = [&](const char* why) {
    const Since since;
    const Program p = compiled_program(fresh(), cache, 300'000);
    CHECK(p->compiled_kernels() == 0);
    CHECK(right(p));
    CHECK(p->calls().tier1 == 0);
    CHECK(since().failures == 1);
    CHECK(since().compiled == 0);
    CHECK(mentions(CodeCache::get().last_failure(), why));
    CHECK(mentions(CodeCache::get().report(), why));
  };
  {
    const Variable compiler("CC", "/no/such/compiler -O2");
    fails("'/no/such/compiler -O2' cannot be run");
  }
  {
    const Variable compiler("CC", " "), path("PATH", empty.path);
    fails("'cc' cannot be run");
  }
  {
    const Script fault(empty, "echo this is wrong >&2\nexit 3");
    fails("failed on emitted text: this is wrong");
  }
  {
    const Script garbage(empty, "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo garbage >\"$2\"; shift; done");
    fails("cannot be loaded");
  }
  {
    const Script nothing(empty, "exit 0");
    fails("left no object");
  }
  {
    const Script other(empty, "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && object=$2; shift; done\n"
                              "echo 'int x;' >'" + empty.path + "/x.c'\n"
                              "exec " + real_compiler() + " -shared -fPIC '" + empty.path + "/x.c' -o \"$object\"");
    fails("has no function tiers_");
  }
  {
    const Script crash(empty, "kill -SEGV $$");
    fails("failed on emitted text");
  }
  CHECK(Folder::names(cache.path).empty());
  const Program p = compiled_program(fresh(), cache);  // a compiler again
  CHECK(is_compiled(p));
}

TEST_CASE("a compiler that hangs is killed, with what it started") {
  const Folder cache, tools;
  const auto is_gone = [&](const std::string& file) {
    const int pid = std::atoi(read_text(tools / file).c_str());
    REQUIRE(pid > 0);
    for (int k = 0; k < 60'000; ++k) {  // a grandchild is reaped by whoever it is given to, or stays a zombie
      if (kill(pid, 0) != 0) return true;
      if (read_text("/proc/" + std::to_string(pid) + "/stat").find(") Z") != std::string::npos) return true;
      usleep(1000);
    }
    return false;
  };
  const Since since;
  {
    const Script hang(tools, "echo $$ >'" + tools.path + "/pid'\nsleep 10000 &\necho $! >'" + tools.path + "/inner'\nwait");
    // Long enough for the script to begin, on any machine that is not stuck.
    const Program p = compiled_program(fresh(), cache, 3000);
    CHECK(p->compiled_kernels() == 0);
    CHECK(right(p));
    CHECK(mentions(CodeCache::get().last_failure(), "took too long"));
    CHECK(is_gone("pid"));
    CHECK(is_gone("inner"));
  }
  {
    const Script chatter(tools, "while :; do echo garbage; done");
    const Program p = compiled_program(fresh(), cache, 500);
    CHECK(right(p));
    CHECK(mentions(CodeCache::get().last_failure(), "took too long and was stopped: garbage"));
    CHECK(CodeCache::get().last_failure().size() < 4000);
  }
  CHECK(since().failures == 2);
}

TEST_CASE("one program that cannot be compiled does not take others with it") {
  const Folder cache, tools;
  const Script picky(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n"
                            "for f in \"$@\"; do case $f in *.c) grep -q poison \"$f\" && exit 1;; esac; done\n" + calling_real());
  const Since since;
  std::vector<Program> programs;
  for (int k = 0; k < 5; ++k) {
    programs.push_back(program_of(fresh()));
    CodeCache::get().request(programs.back(), k == 2 ? "poison" : "tiers", {.cache_dir = cache.path.c_str()});
  }
  write_text(tools / "open", "");
  CHECK(CodeCache::get().wait());
  for (int k = 0; k < 5; ++k) {
    CHECK(is_compiled(programs[static_cast<std::size_t>(k)]) == (k != 2));
    CHECK(right(programs[static_cast<std::size_t>(k)]));
  }
  CHECK(since().compiled == 4);
  CHECK(since().failures == 1);
}

TEST_CASE("where SIGCHLD is ignored kernels are compiled all the same") {
  const Folder cache;
  const auto before = signal(SIGCHLD, SIG_IGN);
  CHECK(is_compiled(compiled_program(fresh(), cache)));
  signal(SIGCHLD, before);
}

TEST_CASE("a cache folder that others could write to is not used") {
  const Folder tools;
  const auto refused = [&](const std::string& path) {
    const Since since;
    const Program p = program_of(fresh());
    CHECK(CodeCache::get().request(p, "tiers", {.wait = true, .cache_dir = path.c_str()}));
    CHECK(is_compiled(p));
    CHECK(right(p));
    CHECK(since().compiled == 1);
    CHECK(mentions(CodeCache::get().report(), "nothing is kept on disk"));
    CHECK(Folder::names(path).empty());
  };
  const std::string open = tools / "open", outer = tools / "outer", inner = tools / "outer/inner", file = tools / "file",
                    link = tools / "link", real = tools / "real";
  mkdir(open.c_str(), 0700);
  for (const mode_t rights : {0770U, 0702U, 0777U}) {
    chmod(open.c_str(), rights);
    refused(open);
    CHECK(mentions(CodeCache::get().report(), "so that others can write to it"));
  }
  mkdir(outer.c_str(), 0700);
  mkdir(inner.c_str(), 0700);
  chmod(outer.c_str(), 0777);
  refused(inner);
  CHECK(mentions(CodeCache::get().report(), "outer, which others can write to"));
  write_text(file, "");
  refused(file + "/cache");  // cannot be made, whoever runs this
  mkdir(real.c_str(), 0700);
  REQUIRE(symlink(real.c_str(), link.c_str()) == 0);
  refused(link);
  CHECK(mentions(CodeCache::get().report(), "link is a link"));
  refused("relative/folder");
  if (geteuid() == 0) {
    const std::string foreign = tools / "foreign";
    mkdir(foreign.c_str(), 0700);
    REQUIRE(chown(foreign.c_str(), 12345, 12345) == 0);
    refused(foreign);
  } else {
    MESSAGE("not root: a folder of another user is not tried");
    const std::string closed = tools / "closed";
    mkdir(closed.c_str(), 0500);
    const Since since;
    const Program p = program_of(fresh());
    CHECK(CodeCache::get().request(p, "tiers", {.wait = true, .cache_dir = closed.c_str()}));
    CHECK(is_compiled(p));
    CHECK(since().unsaved == 1);
  }
}

TEST_CASE("a cache folder that others can read is used") {
  for (const mode_t rights : {0755U, 0750U, 0711U}) {
    const Folder cache;
    chmod(cache.path.c_str(), rights);
    CHECK(in_child(cache, "1 1").compiled == 1);
    CHECK(in_child(cache, "1 1").disk_hits == 1);
  }
}

TEST_CASE("the compiler has the priority of the program") {  // with less it starves beside a busy one
  const Folder cache, tools;
  const Script noting(tools, "cut -d' ' -f19 /proc/$$/stat > '" + tools.path + "/nice'; " + calling_real());
  CHECK(is_compiled(compiled_program(fresh(), cache)));
  CHECK(std::atoi(read_text(tools / "nice").c_str()) == getpriority(PRIO_PROCESS, 0));
}

TEST_CASE("on a full disk kernels are compiled, run and counted as not kept") {
  const Folder cache, tools, spacious;
  const Script without_limit(tools, "ulimit -S -f unlimited\n" + calling_real());
  REQUIRE(in_child(spacious, "1 1").compiled == 1);
  const std::size_t text = read_text(spacious.only(".c")).size();  // can be written, the object cannot
  REQUIRE(read_text(spacious.only(".so")).size() > text + 100);
  const Counters c = in_child(cache, "1 1 full" + std::to_string(text + 50));
  CHECK(c.compiled == 1);
  CHECK(c.unsaved == 1);
  CHECK(Folder::names(cache.path, ".so").empty());
  CHECK(Folder::names(cache.path, ".entry").empty());
}

TEST_CASE("torn, foreign and tampered entries are not loaded, and are replaced") {
  const Folder cache, other;
  REQUIRE(in_child(other, "2 2").compiled == 1);
  const auto replaced = [&](const char* what, const auto& harm) {
    INFO(what);
    REQUIRE(in_child(cache, "1 1").failures == 0);
    harm();
    const Counters c = in_child(cache, "1 1");
    CHECK(c.rejected == 1);
    CHECK(c.compiled == 1);
    CHECK(c.disk_hits == 0);
    CHECK(in_child(cache, "1 1").disk_hits == 1);
  };
  const auto change = [&](const char* ending, const auto& f) {
    const std::string path = cache.only(ending), text = read_text(path);
    unlink(path.c_str());
    write_text(path, f(text));
    chmod(path.c_str(), 0600);
  };
  const auto half = [](const std::string& s) { return s.substr(0, s.size() / 2); };
  const auto nothing = [](const std::string&) { return std::string(); };
  const auto flipped = [](std::string s) {
    s[s.size() / 2] = static_cast<char>(s[s.size() / 2] ^ 1);
    return s;
  };
  for (const char* file : {".entry", ".so"}) {
    INFO(file);
    replaced("torn", [&] { change(file, half); });
    replaced("empty", [&] { change(file, nothing); });
    replaced("a bit is another", [&] { change(file, flipped); });
    replaced("longer", [&] { change(file, [](const std::string& s) { return s + "x"; }); });
    replaced("of another program", [&] { change(file, [&](const std::string&) { return read_text(other.only(file)); }); });
    replaced("others can write to it", [&] { chmod(cache.only(file).c_str(), 0622); });
    replaced("a link", [&] {
      const std::string path = cache.only(file), elsewhere = other / "elsewhere";
      unlink(elsewhere.c_str());
      REQUIRE(rename(path.c_str(), elsewhere.c_str()) == 0);
      REQUIRE(symlink(elsewhere.c_str(), path.c_str()) == 0);
    });
    replaced("a folder with a file in it", [&] {
      const std::string path = cache.only(file);
      unlink(path.c_str());
      REQUIRE(mkdir(path.c_str(), 0700) == 0);
      write_text(path + "/anything", "");
    });
    replaced("an empty folder", [&] {
      const std::string path = cache.only(file);
      unlink(path.c_str());
      REQUIRE(mkdir(path.c_str(), 0700) == 0);
    });
    replaced("a pipe", [&] {
      const std::string path = cache.only(file);
      unlink(path.c_str());
      REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    });
  }
  unlink(cache.only(".so").c_str());  // as trim() does: that is no fault
  const Counters c = in_child(cache, "1 1");
  CHECK(c.rejected == 0);
  CHECK(c.compiled == 1);
}

TEST_CASE("several processes fill one cache") {
  const Folder cache, own;
  std::vector<Child> children;
  for (int k = 0; k < 3; ++k) children.emplace_back(cache, "1 5", own / std::to_string(k));
  for (const Child& c : children) {
    const Counters counted = c.counted();
    CHECK(counted.compiled + counted.disk_hits == 5);
    CHECK(counted.failures + counted.rejected + counted.unsaved == 0);
  }
  CHECK(in_child(cache, "1 5").disk_hits == 5);
  for (const std::string& name : Folder::names(cache.path)) CHECK(name.substr(0, 3) != "tmp");
}

TEST_CASE("a child of fork compiles what waits itself") {
#if defined(__SANITIZE_ADDRESS__)
  MESSAGE("not tried: g++ 12's address sanitizer may hold its own lock in a child of fork for ever");
  return;
#endif
  const Folder cache, tools;
  const Script gate(tools, "while [ ! -e '" + tools.path + "/open' ]; do sleep 0.01; done\n" + calling_real());
  const Program p = program_of(fresh()), q = program_of(fresh());
  for (const Program& x : {p, q}) CodeCache::get().request(x, "tiers", {.cache_dir = cache.path.c_str()});
  std::thread waiting([] { CodeCache::get().wait(); });
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool fine = right(p) && p->compiled_kernels() == 0;
    write_text(tools / "open", "");
#if defined(__SANITIZE_THREAD__)
    _exit(fine ? 0 : 1);  // this sanitizer lets no child of fork start a thread
#endif
    fine = fine && CodeCache::get().wait() && is_compiled(p) && is_compiled(q) && right(p) && right(q);
    fine = fine && is_compiled(compiled_program(fresh(), cache));
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(CodeCache::get().wait());
  waiting.join();
  CHECK(is_compiled(p));
  CHECK(is_compiled(q));
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // see above
TEST_CASE("fork while programs are looked up and loaded") {
  const Folder cache;
  REQUIRE(in_child(cache, "1 40").compiled == 40);
  for (int k = 0; k < 40; ++k) {
    const Program known = program_of(1 + k);
    CodeCache::get().request(known, "tiers", {.cache_dir = cache.path.c_str()});
    usleep(static_cast<useconds_t>(k * 10));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(CodeCache::get().wait(60'000) && is_compiled(known) && right(known) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(CodeCache::get().wait());
    CHECK(is_compiled(known));
  }
}
#endif

TEST_CASE("exit while a program is looked up") {
  const Folder cache, own;
  for (int k = 0; k < 20; ++k) {
    const Child child(cache, "leave " + std::to_string(100 * k), own / "result");
    int status = -1;
    waitpid(child.pid, &status, 0);
    CHECK(status == 0);
  }
}

TEST_CASE("compiled functions can be called by destructors of static and thread_local objects") {
  const Folder cache, own;
  const Child child(cache, "late", own / "result");
  int status = -1;
  waitpid(child.pid, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("exit ends a compiler that runs, and leaves nothing behind") {
  const Folder cache, tools, temporary;
  const Script hang(tools, "echo $$ >'" + tools.path + "/pid.new'\nmv '" + tools.path + "/pid.new' '" + tools.path +
                               "/pid'\nsleep 10000");
  const Variable folder("TMPDIR", temporary.path);
  const Child child(cache, "exit", tools / "pid");
  int status = -1;
  waitpid(child.pid, &status, 0);
  CHECK(status == 0);
  const int pid = std::atoi(read_text(tools / "pid").c_str());
  REQUIRE(pid > 0);
  CHECK(kill(pid, 0) != 0);
  CHECK(Folder::names(temporary.path).empty());
}

TEST_CASE("many threads ask at once") {
  const Folder cache;
  const Since since;
  std::vector<Program> programs;
  for (int k = 0; k < 40; ++k) programs.push_back(program_of(1 + k % 8 + 5000));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = t; k < 40; k += 4) {
        const Program& p = programs[static_cast<std::size_t>(k)];
        CodeCache::get().request(p, "many", {.wait = k % 8 == 0, .cache_dir = cache.path.c_str()});
        wrong += !right(p);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(CodeCache::get().wait());
  CHECK(wrong == 0);
  for (const Program& p : programs) CHECK(is_compiled(p));
  const Counters c = since();
  CHECK(c.compiled + c.memory_hits + c.disk_hits == 40);
  CHECK(c.failures == 0);
}

TEST_CASE("the folder keeps to its size, and what was used last") {
  const Folder folder;
  const tt::DiskCache disk(tt::Text(folder.path.c_str()), 100'000);
  REQUIRE(disk.why().empty());
  std::string object(20'000, 'x');
  for (int k = 0; k < 8; ++k) {
    object[0] = static_cast<char>('a' + k);
    tt::Text path = disk.keep_object(object.data(), static_cast<std::int64_t>(object.size()), tt::Text("/* text */"));
    REQUIRE(!path.empty());
    REQUIRE(disk.keep_entry({1, static_cast<std::uint64_t>(k)}, object.data(), static_cast<std::int64_t>(object.size())));
    const timespec old[] = {{1000 + k, 0}, {1000 + k, 0}};
    if (k < 7) utimensat(AT_FDCWD, path.c_str(), old, 0);
  }
  write_text(folder / "letter.txt", std::string(200'000, 'x'));  // the user's, and older than all
  const timespec oldest[] = {{1, 0}, {1, 0}};
  utimensat(AT_FDCWD, (folder / "letter.txt").c_str(), oldest, 0);
  disk.trim();
  CHECK(Folder::names(folder.path, "letter.txt").size() == 1);
  CHECK(Folder::names(folder.path, ".so").size() == 3);
  tt::Text path;
  CHECK(disk.find({1, 7}, path) == tt::DiskCache::Found::object);
  CHECK(disk.find({1, 0}, path) == tt::DiskCache::Found::nothing);
  CHECK(disk.find({2, 0}, path) == tt::DiskCache::Found::nothing);
}

// ---- threads at the first call of one compiled function

namespace {

using tt::Tensor;
constexpr int callers = 4;

/// Calls f(0), f(1) and so on, each in a thread of its own, all begun at the same moment.
template <class F>
void at_once(const F& f) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < callers; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < callers) {
      }
      f(t);
    });
  for (auto& t : threads) t.join();
}
constexpr auto layer = [](const Tensor& x, const Tensor& w, double by) {
  const Tensor h = tt::tanh(tt::matmul(x, w) * by);
  return std::pair<Tensor, Tensor>(tt::softmax(h, 1) * x, h);
};
constexpr auto broken_layer = [](const Tensor& x, const Tensor& w, double by) {
  Tensor h = tt::tanh(tt::matmul(x, w) * by);
  if (h.sum().item() > -1e6) h = h + x;
  return std::pair<Tensor, Tensor>(tt::softmax(h, 1) * x, h);
};
/// What a caller passes: of other elements in each thread.
struct Given {
  Tensor x, w;
  Given(int t, bool taped) : x(tt::randn({6, 8}, t + 1)), w(tt::randn({8, 8}, t + 100)) {
    if (!taped) return;
    x.requires_grad_();
    w.requires_grad_();
  }
};
/// Its results, and its gradients.
template <class F>
std::vector<Tensor> call_layer(const F& f, int t, bool taped, double by) {
  const Given g(t, taped);
  const auto [y, h] = f(g.x, g.w, by);
  if (!taped) return {y, h};
  ((y * y).sum() + h.sum()).backward();
  return {y, h, g.x.grad(), g.w.grad()};
}
bool equal_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k) same = same_bits(a[k], b[k]);
  return same;
}
/// Compiled functions nobody called before, each called by all threads at once, then once more: eager's bits.
template <class F>
void check_first_calls(const F& f, int rounds, bool taped, tt::CompileOptions options) {
  for (int round = 0; round < rounds; ++round) {
    const auto compiled = tt::compile(f, options);
    const double by = 1 + fresh() * 0x1p-10;  // a constant of the emitted text: another one than any before
    std::vector<Tensor> first[callers], next[callers];
    at_once([&](int t) {
      first[t] = call_layer(compiled, t, taped, by);
      next[t] = call_layer(compiled, t, taped, by);
    });
    for (int t = 0; t < callers; ++t) {
      const std::vector<Tensor> want = call_layer(f, t, taped, by);
      CHECK(equal_bits(first[t], want));
      CHECK(equal_bits(next[t], want));
    }
    CHECK(compiled.captures() == 1);
    if (!options.wait) continue;
    CHECK(compiled.calls().tier0 == 0);
    CHECK(compiled.calls().tier1 == 2 * callers * (compiled.segments() > 0 ? compiled.segments() : 1));
  }
  CHECK(CodeCache::get().wait());
}

}  // namespace

TEST_CASE("threads that make the first call of one compiled function get eager's bits") {
  const Folder cache;
  for (const bool taped : {false, true}) {
    CAPTURE(taped);
    check_first_calls(layer, 8, taped, {.name = "layer", .tier = 0});
    check_first_calls(layer, 8, taped, {.name = "layer", .cache_dir = cache.path.c_str()});
    check_first_calls(layer, 2, taped, {.name = "layer", .wait = true, .cache_dir = cache.path.c_str()});
  }
}

TEST_CASE("the same for functions with graph breaks") {
  const Folder cache;
  for (const bool taped : {false, true}) {
    CAPTURE(taped);
    check_first_calls(broken_layer, 4, taped, {.name = "broken", .cache_dir = cache.path.c_str()});
    check_first_calls(broken_layer, 2, taped, {.name = "broken", .wait = true, .cache_dir = cache.path.c_str()});
  }
}

TEST_CASE("threads that share a leaf, a compiled function and its first backward of a backward") {
  const auto layers = [](const Tensor& x, const Tensor& w) {  // saves a value that is no result
    return tt::matmul(tt::tanh(tt::matmul(x, w)), w);
  };
  const auto second = [](const auto& f, const Tensor& x, const Tensor& w) {
    const Tensor y = f(x, w);
    const std::vector<Tensor> d = tt::grad({(y * y).sum()}, {x, w}, {}, true, true);
    std::vector<Tensor> all = tt::grad({(d[0] * d[0]).sum() + (d[1] * d[1]).sum()}, {x, w});
    all.insert(all.end(), {d[0].detach(), d[1].detach()});
    return all;
  };
  const Tensor w = tt::randn({8, 8}, 7).requires_grad_();
  for (int round = 0; round < 6; ++round) {
    const auto compiled = tt::compile(layers, {.tier = 0}), alone = tt::compile(layers, {.tier = 0});
    std::vector<Tensor> got[callers];
    at_once([&](int t) { got[t] = second(compiled, Given(t, true).x, w); });
    for (int t = 0; t < callers; ++t) CHECK(equal_bits(got[t], second(alone, Given(t, true).x, w)));
    CHECK(mentions(compiled.explain(), "second backward, of "));
  }
}
