// libcuda and libnvrtc for machines without a GPU: memory is the host's, work is done at once, and a
// kernel's "machine code" is its text, compiled for the CPU behind the shim. Both libraries are this
// one file, built twice. What goes wrong is chosen by variables:
//   FAKE_CUDA_DEVICES      how many devices there are (1)
//   FAKE_CUDA_MEMORY       bytes a device has (1 GiB)
//   FAKE_CUDA_INIT         what cuInit answers
//   FAKE_CUDA_LAUNCH_FAILS the number of the launch from which on the device is lost
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
#include <sstream>
#include <string>

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
struct Fake {
  std::map<void*, std::size_t> blocks;
  std::size_t in_use = 0;
  long launches = 0;
  bool lost = false;
  std::map<std::string, Module*> modules;  // of equal text
};
Fake& fake() {
  static Fake f;
  return f;
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
    out << "extern \"C\" void call_" << kernel << "(void** p) { shim::call(&" << kernel << ", p); }\n";
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
  const std::string command = std::string(given ? given : "c++ -O1 -march=native") +
                              " -std=c++20 -ffp-contract=off -fno-math-errno -w -fPIC -shared -o " + object + " " + source;
  Module* m = nullptr;
  if (std::system(command.c_str()) == 0)
    if (void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL)) m = new Module{library};
  std::remove(source.c_str());
  std::remove(object.c_str());
  rmdir(folder);
  return fake().modules[text] = m;
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
  *v = a == 16 ? 4 : a == 75 ? 9 : 0;  // four multiprocessors: small problems take every kind of launch
  return success;
}
Result cuDevicePrimaryCtxRetain(void** c, int d) { *c = pointer(static_cast<unsigned long long>(d) + 1); return success; }
Result cuCtxSetCurrent(void*) { return success; }
Result cuCtxSynchronize() { return fake().lost ? launch_failed : success; }
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { *total = memory(); *free = *total - fake().in_use; return success; }
Result cuMemAlloc_v2(unsigned long long* p, std::size_t bytes) {
  if (fake().in_use + bytes > memory()) return out_of_memory;
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(block, 0xcd, bytes);
  fake().blocks[block] = bytes;
  fake().in_use += bytes;
  *p = reinterpret_cast<unsigned long long>(block);
  return success;
}
Result cuMemFree_v2(unsigned long long p) {
  const auto known = fake().blocks.find(pointer(p));
  if (known == fake().blocks.end()) return invalid_value;
  fake().in_use -= known->second;
  fake().blocks.erase(known);
  std::free(pointer(p));
  return success;
}
Result cuMemHostAlloc(void** p, std::size_t bytes, unsigned) { *p = std::malloc(bytes); return *p ? success : out_of_memory; }
Result cuMemFreeHost(void* p) { std::free(p); return success; }
Result cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t n, void*) { return copy(pointer(to), from, n); }
Result cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t n, void*) { return copy(to, pointer(from), n); }
Result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t n, void*) { return copy(pointer(to), pointer(from), n); }
Result cuMemcpyPeerAsync(unsigned long long to, void*, unsigned long long from, void*, std::size_t n, void*) { return copy(pointer(to), pointer(from), n); }
Result cuStreamCreate(void** s, unsigned) { *s = new char; return success; }
Result cuStreamDestroy_v2(void* s) { delete static_cast<char*>(s); return success; }
Result cuStreamSynchronize(void*) { return fake().lost ? launch_failed : success; }
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
  Module* loaded = compile(static_cast<const char*>(image));
  *m = loaded;
  return loaded ? success : invalid_image;
}
Result cuModuleGetFunction(void** f, void* m, const char* name) {
  struct Function {
    Module* module;
    void (*call)(void**);
  };
  Module* module = static_cast<Module*>(m);
  const auto call = reinterpret_cast<void (*)(void**)>(dlsym(module->library, (std::string("call_") + name).c_str()));
  if (!call) return not_found;
  static std::deque<Function> functions;  // live as long as their modules
  *f = &functions.emplace_back(Function{module, call});
  return success;
}
Result cuLaunchKernel(void* f, unsigned x, unsigned, unsigned, unsigned block, unsigned, unsigned, unsigned shared, void*, void** parameters, void**) {
  struct Function {
    Module* module;
    void (*call)(void**);
  };
  const long fails = number("FAKE_CUDA_LAUNCH_FAILS", 0);
  ++fake().launches;
  if (fails > 0 && fake().launches >= fails) fake().lost = true;
  if (fake().lost) return launch_failed;
  if (x == 0 || block == 0 || block > 1024 || shared > 48 * 1024) return invalid_value;
  const auto run = reinterpret_cast<void (*)(void (*)(void**), unsigned, unsigned, void**)>(dlsym(static_cast<Function*>(f)->module->library, "shim_launch"));
  run(static_cast<Function*>(f)->call, x, block, parameters);
  return success;
}
// ---- NVRTC: the code is the text
struct FakeProgram {
  std::string text, log;
};
Result nvrtcVersion(int* major, int* minor) { *major = 0; *minor = 1; return success; }  // no cache takes it for a real one
Result nvrtcCreateProgram(void** p, const char* text, const char*, int, const char* const*, const char* const*) {
  *p = new FakeProgram{text, ""};
  return success;
}
Result nvrtcCompileProgram(void* p, int, const char* const*) {
  auto* program = static_cast<FakeProgram*>(p);
  if (std::getenv("FAKE_NVRTC_FAILS")) {
    program->log = "kernels.cu(1): error: chosen by FAKE_NVRTC_FAILS";
    return 6;
  }
  return success;
}
Result nvrtcGetProgramLogSize(void* p, std::size_t* n) { *n = static_cast<FakeProgram*>(p)->log.size() + 1; return success; }
Result nvrtcGetProgramLog(void* p, char* s) { std::strcpy(s, static_cast<FakeProgram*>(p)->log.c_str()); return success; }
Result nvrtcGetCUBINSize(void* p, std::size_t* n) { *n = static_cast<FakeProgram*>(p)->text.size() + 1; return success; }
Result nvrtcGetCUBIN(void* p, char* s) { std::strcpy(s, static_cast<FakeProgram*>(p)->text.c_str()); return success; }
Result nvrtcDestroyProgram(void** p) { delete static_cast<FakeProgram*>(*p); *p = nullptr; return success; }
const char* nvrtcGetErrorString(Result r) { return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS"; }

}
