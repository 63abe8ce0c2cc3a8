// NVRTC: CUDA C++ text to machine code inside the process, without nvcc. Opened on first use: the file that TT_NVRTC names, else
// libnvrtc.so, of no later version than the driver.
//   Vec<char> code = Nvrtc::get().compile(text, "softmax", 9, 0);
// Throws Unavailable without the library, Error when the text does not compile: the text is then kept in a file that the message names.
#pragma once
#include "tt/backends/private_folder.hpp"
#include "tt/backends/cuda/driver.hpp"

namespace tt::cuda {

/// Flags under which emitted text gives the same bits: no contraction to fma, division and root are exact.
inline constexpr const char* nvrtc_flags[] = {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                              "--ftz=false", "--extra-device-vectorization"};

class Nvrtc {
 public:
  static const Nvrtc& get();
  static Nvrtc open(const char* const* names, int count);

  /// The code for a device of this compute capability: machine code or, where the device is newer than the library, PTX, which its driver
  /// compiles. Throws Unavailable for a device that is too old.
  Vec<char> compile(Text text, const char* name, int major, int minor) const;
  /// The library's version: part of the key under which compiled code is cached.
  Text version() const;

 private:
  using Program = void*;
  Result (*version_)(int*, int*) = nullptr;
  Result (*create_)(Program*, const char* text, const char* name, int headers, const char* const*, const char* const*) = nullptr;
  Result (*compile_)(Program, int count, const char* const* options) = nullptr;
  Result (*log_size_)(Program, std::size_t*) = nullptr;
  Result (*log_)(Program, char*) = nullptr;
  Result (*code_size_)(Program, std::size_t*) = nullptr;
  Result (*code_)(Program, char*) = nullptr;
  Result (*ptx_size_)(Program, std::size_t*) = nullptr;
  Result (*ptx_)(Program, char*) = nullptr;
  Result (*architecture_count_)(int*) = nullptr;
  Result (*architectures_)(int*) = nullptr;
  Result (*destroy_)(Program*) = nullptr;
  const char* (*error_string_)(Result) = nullptr;

  int newest_architecture(int wanted) const;
};

#if TT_DEFINES(cuda)
TT_INLINE Nvrtc Nvrtc::open(const char* const* names, int count) {
  DriverLibrary library;
  if (!library.open(names, count))
    TT_THROW(Unavailable(Text("tt::cuda: kernels are compiled by NVRTC, and it cannot be opened: ")
                         << library.why() << ". Install the CUDA toolkit's NVRTC, or name the file in TT_NVRTC?"));
  Nvrtc n;
  library.find("nvrtcVersion", n.version_);
  library.find("nvrtcCreateProgram", n.create_);
  library.find("nvrtcCompileProgram", n.compile_);
  library.find("nvrtcGetProgramLogSize", n.log_size_);
  library.find("nvrtcGetProgramLog", n.log_);
  library.find("nvrtcGetCUBINSize", n.code_size_);
  library.find("nvrtcGetCUBIN", n.code_);
  library.find("nvrtcGetPTXSize", n.ptx_size_);
  library.find("nvrtcGetPTX", n.ptx_);
  library.find("nvrtcGetNumSupportedArchs", n.architecture_count_);
  library.find("nvrtcGetSupportedArchs", n.architectures_);
  library.find("nvrtcDestroyProgram", n.destroy_);
  library.find("nvrtcGetErrorString", n.error_string_);
  if (library.missing())
    TT_THROW(Unavailable(Text("tt::cuda: this NVRTC is too old: it has no ") << library.missing() << ". Install version 12 or later?"));
  return n;
}

TT_INLINE const Nvrtc& Nvrtc::get() {
  static const Nvrtc nvrtc = [] {
    const ToolkitNames names("TT_NVRTC", "libnvrtc.so");
    return open(names.begin(), names.count());
  }();
  return nvrtc;
}

TT_INLINE Text Nvrtc::version() const {
  int major = 0, minor = 0;
  version_(&major, &minor);
  return Text("nvrtc ") << major << '.' << minor;
}

/// The newest architecture of the library whose code runs on a device of architecture `wanted`. Throws Unavailable if there is none.
TT_INLINE int Nvrtc::newest_architecture(int wanted) const {
  int count = 0, newest = 0, oldest = 0;
  architecture_count_(&count);
  Vec<int> known(count, 0);
  architectures_(known.begin());
  for (const int a : known) {
    if (a <= wanted && a > newest) newest = a;
    if (oldest == 0 || a < oldest) oldest = a;
  }
  if (newest == 0)
    TT_THROW(Unavailable(Text("tt::cuda: ") << version() << " makes no code for a device of architecture sm_" << wanted << ", only from sm_"
                         << oldest << " on. Name the file of an older one in TT_NVRTC?"));
  return newest;
}

TT_INLINE Vec<char> Nvrtc::compile(Text text, const char* name, int major, int minor) const {
  const int wanted = 10 * major + minor, known = newest_architecture(wanted);
  const bool ptx = known != wanted;
  Text file(name);
  file << ".cu";
  Program program = nullptr;
  if (const Result r = create_(&program, text.c_str(), file.c_str(), 0, nullptr, nullptr); r != 0)
    TT_THROW(Error(Text("tt::cuda: nvrtcCreateProgram failed: ") << error_string_(r) << '.'));
  Text architecture = Text("--gpu-architecture=") << (ptx ? "compute_" : "sm_") << known;
  constexpr int flags = sizeof nvrtc_flags / sizeof *nvrtc_flags;
  const char* options[flags + 1];
  for (int k = 0; k < flags; ++k) options[k] = nvrtc_flags[k];
  options[flags] = architecture.c_str();
  const Result r = compile_(program, flags + 1, options);
  std::size_t size = 0;
  if (r != 0) {
    log_size_(program, &size);
    Vec<char> log(static_cast<int>(size) + 1, '\0');
    log_(program, log.begin());
    destroy_(&program);
    backend::TemporaryFolder folder;
    folder.keep();
    Text path = Text(folder.path()) << '/' << file;
    const bool kept = backend::write_new_file(path.c_str(), text.begin(), static_cast<std::size_t>(text.size()));
    TT_THROW(Error(Text("tt::cuda: NVRTC does not compile the kernels of '") << name << "' for sm_" << major << minor << ": "
                   << error_string_(r) << ".\n" << log.begin() << (kept ? "Their text is in " : "Their text could not be kept in ") << path << '.'));
  }
  (ptx ? ptx_size_ : code_size_)(program, &size);
  Vec<char> code(static_cast<int>(size), '\0');
  const Result got = (ptx ? ptx_ : code_)(program, code.begin());
  destroy_(&program);
  if (got != 0 || size == 0)
    TT_THROW(Error(Text("tt::cuda: NVRTC gives no code for sm_") << major << minor << ": " << error_string_(got) << '.'));
  return code;
}
#endif

}  // namespace tt::cuda
