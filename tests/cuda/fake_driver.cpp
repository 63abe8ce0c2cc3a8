// libcuda and libnvrtc for machines without a GPU: memory is the host's, work is done at once, and a
// kernel's "machine code" is its text, compiled for the CPU behind the shim. Both libraries are this
// one file, built twice. Threads get in one at a time. What goes wrong is chosen by variables:
//   FAKE_CUDA_DEVICES      how many devices there are (1)
//   FAKE_CUDA_CAPABILITY   of the devices (90);  FAKE_NVRTC_VERSION  what follows "0." (1)
//   FAKE_CUDA_MEMORY       bytes a device has (1 GiB)
//   FAKE_CUDA_INIT         what cuInit answers
//   FAKE_CUDA_LAUNCH_FAILS the number of the launch from which on the device is lost
//   FAKE_CUDA_GRAPH_FAILS  the call that makes or changes a graph and answers that there is no memory, cuGraphCreate, say
//   FAKE_CUDA_SHIM         the file shim.hpp;  FAKE_CUDA_CXX  the compiler and its flags
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Result = int;
constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, invalid_device = 101, invalid_image = 200,
                 not_found = 500, launch_failed = 719;

long number(const char* name, long otherwise) {
  const char* given = std::getenv(name);
  return given ? std::atol(given) : otherwise;
}

struct Module {
  void* library = nullptr;
};
struct Function {
  Module* module = nullptr;
  void (*call)(void**) = nullptr;
  std::size_t parameter_bytes = 0;
};
struct KernelNodeParameters {  // CUDA_KERNEL_NODE_PARAMS_v2
  Function* function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void **parameters, **extra;
  void *kernel, *context;
};
struct Node {
  KernelNodeParameters kernel{};
  std::vector<char> parameters;  // copied, as a driver does
};
struct Graph {
  std::deque<Node> nodes;  // each after those that it depends on
};
struct Executable {
  Graph* of = nullptr;
  std::vector<Node> nodes;
};
struct Fake {
  std::map<void*, std::size_t> blocks;
  std::size_t in_use = 0;
  long launches = 0, graph_launches = 0, kernel_updates = 0, copies_to_device = 0, refusals = 0;
  bool lost = false;
  std::map<void*, long> graph_launches_on;  // by stream
  std::set<void*> streams;
  std::set<Graph*> graphs;
  std::set<Executable*> executables;
  std::map<std::string, Module*> modules;  // of equal text
};
Fake& fake() {
  static Fake f;
  return f;
}
/// While it lives no other thread gets in.
struct Entry {
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  const std::lock_guard<std::mutex> lock{mutex()};
};
/// Does this call answer that there is no memory?
[[maybe_unused]] bool refuses(const char* call) {
  const char* chosen = std::getenv("FAKE_CUDA_GRAPH_FAILS");
  if (!chosen || std::strcmp(chosen, call) != 0) return false;
  ++fake().refusals;
  return true;
}
std::size_t memory() { return static_cast<std::size_t>(number("FAKE_CUDA_MEMORY", 1L << 30)); }

/// A wrapper for each kernel, so that a launch needs no types.
std::string wrappers(const std::string& text) {
  const std::string begin = "extern \"C\" __global__ void ";
  std::ostringstream out;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    std::size_t name = at;
    if (text.compare(name, 17, "__launch_bounds__") == 0) name = text.find(' ', name) + 1;
    const std::string kernel = text.substr(name, text.find('(', name) - name);
    out << "extern \"C\" void call_" << kernel << "(void** p) { shim::call(&" << kernel << ", p); }\n"
        << "extern \"C\" unsigned long size_" << kernel << "() { return shim::parameter_bytes(&" << kernel << "); }\n";
  }
  return out.str();
}
Module* compile(const std::string& text) {
  if (Module* known = fake().modules[text]) return known;
  char folder[] = "/tmp/tt-fake-XXXXXX";
  if (!mkdtemp(folder)) return nullptr;
  const std::string source = std::string(folder) + "/kernels.cpp", object = std::string(folder) + "/kernels.so";
  const char* shim = std::getenv("FAKE_CUDA_SHIM");
  std::ofstream(source) << "#include \"" << (shim ? shim : "shim.hpp") << "\"\n" << text << wrappers(text);
  const char* given = std::getenv("FAKE_CUDA_CXX");
  const std::string command = std::string(given ? given : "c++ -O0 -march=native") +
                              " -std=c++20 -ffp-contract=off -fno-math-errno -w -fPIC -shared -o " + object + " " + source;
  Module* m = nullptr;
  if (std::system(command.c_str()) == 0)
    if (void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL)) m = new Module{library};
  std::remove(source.c_str());
  std::remove(object.c_str());
  rmdir(folder);
  return fake().modules[text] = m;
}
[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "fake driver: %s\n", why);
  std::abort();
}
Result launch(const Function* f, unsigned grid, unsigned block, unsigned shared, void** parameters) {
  if (grid == 0 || block == 0 || block > 1024 || shared > 48 * 1024) return invalid_value;
  const auto run = reinterpret_cast<void (*)(void (*)(void**), unsigned, unsigned, void**)>(dlsym(f->module->library, "shim_launch"));
  run(f->call, grid, block, parameters);
  return success;
}
/// One more piece of work: is the device lost by it?
bool loses() {
  const long fails = number("FAKE_CUDA_LAUNCH_FAILS", 0);
  ++fake().launches;
  if (fails > 0 && fake().launches >= fails) fake().lost = true;
  return fake().lost;
}
Node node_of(const KernelNodeParameters* k) {
  if (!k->function || !k->parameters || !k->parameters[0] || k->extra || k->kernel) stop("a kernel node without a function or with other parameters than one block");
  if (k->grid_x == 0 || k->grid_y != 1 || k->grid_z != 1 || k->block_x == 0 || k->block_y != 1 || k->block_z != 1) stop("a kernel node of no threads");
  Node n{*k, {}};
  const char* block = static_cast<const char*>(k->parameters[0]);
  n.parameters.assign(block, block + k->function->parameter_bytes);
  return n;
}
Result copy(void* to, const void* from, std::size_t bytes) {
  if (fake().lost) return launch_failed;
  std::memmove(to, from, bytes);
  return success;
}
void* pointer(unsigned long long p) { return reinterpret_cast<void*>(p); }

}  // namespace

extern "C" {

// ---- driver
Result cuInit(unsigned) { return static_cast<Result>(number("FAKE_CUDA_INIT", 0)); }
Result cuDriverGetVersion(int* v) { *v = 13000; return success; }
Result cuGetErrorName(Result r, const char** s) {
  *s = r == launch_failed ? "CUDA_ERROR_LAUNCH_FAILED" : r == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
  return success;
}
Result cuGetErrorString(Result r, const char** s) {
  *s = r == 100 ? "no CUDA-capable device is detected" : r == launch_failed ? "unspecified launch failure" : "a fake error";
  return success;
}
Result cuDeviceGetCount(int* n) { *n = static_cast<int>(number("FAKE_CUDA_DEVICES", 1)); return success; }
Result cuDeviceGet(int* d, int i) { *d = i; return i < number("FAKE_CUDA_DEVICES", 1) ? success : invalid_device; }
Result cuDeviceGetName(char* s, int n, int) { std::snprintf(s, static_cast<std::size_t>(n), "fake device on the CPU"); return success; }
Result cuDeviceGetAttribute(int* v, int a, int) {
  const auto capability = static_cast<int>(number("FAKE_CUDA_CAPABILITY", 90));
  *v = a == 16 ? 4 : a == 75 ? capability / 10 : a == 76 ? capability % 10 : 0;  // four multiprocessors: small problems take every kind of launch
  return success;
}
Result cuDevicePrimaryCtxRetain(void** c, int d) { *c = pointer(static_cast<unsigned long long>(d) + 1); return success; }
Result cuCtxSetCurrent(void*) { return success; }
Result cuCtxSynchronize() { const Entry entry; return fake().lost ? launch_failed : success; }
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { const Entry entry; *total = memory(); *free = *total - fake().in_use; return success; }
Result cuMemAlloc_v2(unsigned long long* p, std::size_t bytes) {
  const Entry entry;
  if (fake().in_use + bytes > memory()) return out_of_memory;
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(block, 0xcd, bytes);
  fake().blocks[block] = bytes;
  fake().in_use += bytes;
  *p = reinterpret_cast<unsigned long long>(block);
  return success;
}
Result cuMemFree_v2(unsigned long long p) {
  const Entry entry;
  const auto known = fake().blocks.find(pointer(p));
  if (known == fake().blocks.end()) return invalid_value;
  fake().in_use -= known->second;
  fake().blocks.erase(known);
  std::free(pointer(p));
  return success;
}
Result cuMemHostAlloc(void** p, std::size_t bytes, unsigned) { *p = std::malloc(bytes); return *p ? success : out_of_memory; }
Result cuMemFreeHost(void* p) { std::free(p); return success; }
Result cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t n, void*) {
  const Entry entry;
  ++fake().copies_to_device;
  return copy(pointer(to), from, n);
}
Result cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t n, void*) { const Entry entry; return copy(to, pointer(from), n); }
Result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t n, void*) { const Entry entry; return copy(pointer(to), pointer(from), n); }
Result cuMemcpyPeerAsync(unsigned long long to, void*, unsigned long long from, void*, std::size_t n, void*) { const Entry entry; return copy(pointer(to), pointer(from), n); }
Result cuStreamCreate(void** s, unsigned) { const Entry entry; fake().streams.insert(*s = new char); return success; }
Result cuStreamDestroy_v2(void* s) { const Entry entry; fake().streams.erase(s); delete static_cast<char*>(s); return success; }
Result cuStreamSynchronize(void*) { const Entry entry; return fake().lost ? launch_failed : success; }
Result cuStreamWaitEvent(void*, void*, unsigned) { return success; }
Result cuEventCreate(void** e, unsigned) { *e = new std::chrono::steady_clock::time_point; return success; }
Result cuEventDestroy_v2(void* e) { delete static_cast<std::chrono::steady_clock::time_point*>(e); return success; }
Result cuEventRecord(void* e, void*) { *static_cast<std::chrono::steady_clock::time_point*>(e) = std::chrono::steady_clock::now(); return success; }
Result cuEventSynchronize(void*) { return success; }
Result cuEventElapsedTime(float* ms, void* a, void* b) {
  const auto at = [](void* e) { return *static_cast<std::chrono::steady_clock::time_point*>(e); };
  *ms = std::chrono::duration<float, std::milli>(at(b) - at(a)).count();
  return success;
}
Result cuModuleLoadData(void** m, const void* image) {
  const Entry entry;
  Module* loaded = compile(static_cast<const char*>(image));
  *m = loaded;
  return loaded ? success : invalid_image;
}
Result cuModuleGetFunction(void** f, void* m, const char* name) {
  const Entry entry;
  Module* module = static_cast<Module*>(m);
  const auto symbol = [&](const char* prefix) { return dlsym(module->library, (std::string(prefix) + name).c_str()); };
  const auto call = reinterpret_cast<void (*)(void**)>(symbol("call_"));
  if (!call) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    return not_found;
  }
  static std::deque<Function> functions;  // live as long as their modules
  *f = &functions.emplace_back(Function{module, call, reinterpret_cast<unsigned long (*)()>(symbol("size_"))()});
  return success;
}
Result cuLaunchKernel(void* f, unsigned x, unsigned, unsigned, unsigned block, unsigned, unsigned, unsigned shared, void*, void** parameters, void**) {
  const Entry entry;
  if (loses()) return launch_failed;
  return launch(static_cast<Function*>(f), x, block, shared, parameters);
}
/// For tests: how often something was done, or what is alive.
long fake_cuda_count(const char* what) {
  const Entry entry;
  const std::string w(what);
  return w == "launches" ? fake().launches : w == "graph launches" ? fake().graph_launches : w == "kernel updates" ? fake().kernel_updates
       : w == "copies to device" ? fake().copies_to_device : w == "graphs" ? static_cast<long>(fake().graphs.size() + fake().executables.size()) : w == "refusals" ? fake().refusals : -1;
}
/// How often a graph was launched on a stream.
long fake_cuda_graph_launches_on(void* stream) {
  const Entry entry;
  return fake().graph_launches_on[stream];
}
#ifndef FAKE_WITHOUT_GRAPHS
Result cuGraphCreate(void** g, unsigned) {
  const Entry entry;
  if (refuses("cuGraphCreate")) return out_of_memory;
  auto* fresh = new Graph;
  fake().graphs.insert(fresh);
  *g = fresh;
  return success;
}
Result cuGraphDestroy(void* g) {
  const Entry entry;
  if (!fake().graphs.erase(static_cast<Graph*>(g))) stop("a graph that is not alive is destroyed");
  for (const Executable* e : fake().executables)
    if (e->of == g) stop("a graph ends before what was made from it");
  delete static_cast<Graph*>(g);
  return success;
}
Result cuGraphAddKernelNode_v2(void** node, void* g, void* const* after, std::size_t count, const KernelNodeParameters* k) {
  const Entry entry;
  if (refuses("cuGraphAddKernelNode")) return out_of_memory;
  auto* graph = static_cast<Graph*>(g);
  if (!fake().graphs.count(graph)) stop("a kernel for a graph that is not alive");
  // one behind the other: work that reads what the kernel before it wrote would else run beside it
  if (count != (graph->nodes.empty() ? 0 : 1) || (count == 1 && *after != &graph->nodes.back())) stop("a kernel that does not wait for the one before it");
  *node = &graph->nodes.emplace_back(node_of(k));
  return success;
}
Result cuGraphInstantiateWithFlags(void** e, void* g, unsigned long long) {
  const Entry entry;
  if (refuses("cuGraphInstantiate")) return out_of_memory;
  auto* graph = static_cast<Graph*>(g);
  if (!fake().graphs.count(graph)) stop("a graph that is not alive is instantiated");
  auto* fresh = new Executable{graph, {graph->nodes.begin(), graph->nodes.end()}};
  fake().executables.insert(fresh);
  *e = fresh;
  return success;
}
Result cuGraphExecDestroy(void* e) {
  const Entry entry;
  if (!fake().executables.erase(static_cast<Executable*>(e))) stop("an executable graph that is not alive is destroyed");
  delete static_cast<Executable*>(e);
  return success;
}
Result cuGraphExecKernelNodeSetParams_v2(void* e, void* node, const KernelNodeParameters* k) {
  const Entry entry;
  if (refuses("cuGraphExecKernelNodeSetParams")) return out_of_memory;
  auto* executable = static_cast<Executable*>(e);
  if (!fake().executables.count(executable)) stop("a change in an executable graph that is not alive");
  for (std::size_t i = 0; i < executable->nodes.size(); ++i) {
    if (&executable->of->nodes[i] != node) continue;
    const KernelNodeParameters& before = executable->nodes[i].kernel;
    if (k->function != before.function || k->grid_x != before.grid_x || k->block_x != before.block_x || k->shared != before.shared)
      stop("a kernel of a graph becomes another one");  // the library changes addresses only
    executable->nodes[i] = node_of(k);
    ++fake().kernel_updates;
    return success;
  }
  stop("a change of a node that is not of this graph");
}
Result cuGraphLaunch(void* e, void* stream) {
  const Entry entry;
  auto* executable = static_cast<Executable*>(e);
  if (!fake().executables.count(executable)) stop("an executable graph that is not alive is launched");
  if (!fake().streams.count(stream)) stop("a graph is launched on a stream that is not there");
  if (loses()) return launch_failed;
  ++fake().graph_launches;
  ++fake().graph_launches_on[stream];
  for (Node& n : executable->nodes) {
    void* parameters[] = {n.parameters.data()};
    if (const Result r = launch(n.kernel.function, n.kernel.grid_x, n.kernel.block_x, n.kernel.shared, parameters)) return r;
  }
  return success;
}
#endif
// ---- NVRTC: the code is the text
struct FakeProgram {
  std::string text, log;
  bool for_one_device = false;  // machine code, and no PTX
};
Result nvrtcVersion(int* major, int* minor) { *major = 0; *minor = static_cast<int>(number("FAKE_NVRTC_VERSION", 1)); return success; }  // no cache takes it for a real one
Result nvrtcCreateProgram(void** p, const char* text, const char*, int, const char* const*, const char* const*) {
  *p = new FakeProgram{text, "", false};
  return success;
}
Result nvrtcGetNumSupportedArchs(int* n) { *n = 3; return success; }
Result nvrtcGetSupportedArchs(int* known) {
  for (const int a : {75, 90, 80}) *known++ = a;
  return success;
}
Result nvrtcCompileProgram(void* p, int count, const char* const* options) {
  auto* program = static_cast<FakeProgram*>(p);
  for (int k = 0; k < count; ++k) {
    const std::string option = options[k];
    program->for_one_device = program->for_one_device || option == "--gpu-architecture=sm_90";
    if (option.starts_with("--gpu-architecture=") && option.substr(19) != "sm_90" && option.substr(19) != "compute_90") return 3;
  }
  if (std::getenv("FAKE_NVRTC_FAILS")) {
    program->log = "kernels.cu(1): error: chosen by FAKE_NVRTC_FAILS";
    return 6;
  }
  return success;
}
Result nvrtcGetProgramLogSize(void* p, std::size_t* n) { *n = static_cast<FakeProgram*>(p)->log.size() + 1; return success; }
Result nvrtcGetProgramLog(void* p, char* s) { std::strcpy(s, static_cast<FakeProgram*>(p)->log.c_str()); return success; }
Result code_size(void* p, std::size_t* n, bool for_one_device) {
  const auto* program = static_cast<FakeProgram*>(p);
  *n = program->for_one_device == for_one_device ? program->text.size() + 1 : 0;
  return success;
}
Result code(void* p, char* s, bool for_one_device) {
  const auto* program = static_cast<FakeProgram*>(p);
  if (program->for_one_device != for_one_device) return 3;
  std::strcpy(s, program->text.c_str());
  return success;
}
Result nvrtcGetCUBINSize(void* p, std::size_t* n) { return code_size(p, n, true); }
Result nvrtcGetCUBIN(void* p, char* s) { return code(p, s, true); }
Result nvrtcGetPTXSize(void* p, std::size_t* n) { return code_size(p, n, false); }
Result nvrtcGetPTX(void* p, char* s) { return code(p, s, false); }
Result nvrtcDestroyProgram(void** p) { delete static_cast<FakeProgram*>(*p); *p = nullptr; return success; }
const char* nvrtcGetErrorString(Result r) { return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS"; }

}
