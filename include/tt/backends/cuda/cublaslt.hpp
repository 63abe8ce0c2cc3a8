// cuBLASLt, opened when the first product is to use it: the file that TT_CUBLASLT names, else libcublasLt.so, of no later version than
// the driver. Own prototypes, compared with the toolkit's in tests/cuda/driver_types.cu; the numbers and types are those of version 12
// and later.
//   const CublasLt& lt = CublasLt::get();   if (lt.why_not().empty()) lt.matmul(...)
#pragma once
#include "tt/backends/cuda/device.hpp"

namespace tt::cuda {

/// cublasLtMatmulHeuristicResult_t
struct CublasLtHeuristic {
  std::uint64_t algorithm[8] = {};
  std::size_t workspace = 0;
  Result state = 0;
  float waves = 0;
  int reserved[4] = {};
};

struct CublasLt {
  enum Compute : int { f32 = 68, f32_by_tf32 = 77, f64 = 70 };
  enum Type : int { real_f32 = 0, real_f64 = 1 };
  enum Epilogue : std::uint32_t { relu = 2, bias = 4, none = 1 };
  enum DescriptionAttribute : int { transpose_a = 3, transpose_b = 4, epilogue = 7, bias_pointer = 8 };
  enum LayoutAttribute : int { batch_count = 5, batch_stride = 6 };
  enum PreferenceAttribute : int { most_workspace = 1, alignment_a = 5, alignment_b = 6, alignment_c = 7, alignment_d = 8 };

  Result (*create)(Handle*) = nullptr;
  Result (*create_description)(Handle*, Compute, Type scale) = nullptr;
  Result (*destroy_description)(Handle) = nullptr;
  Result (*set_description)(Handle, DescriptionAttribute, const void*, std::size_t) = nullptr;
  Result (*create_layout)(Handle*, Type, std::uint64_t rows, std::uint64_t cols, std::int64_t leading) = nullptr;
  Result (*destroy_layout)(Handle) = nullptr;
  Result (*set_layout)(Handle, LayoutAttribute, const void*, std::size_t) = nullptr;
  Result (*create_preference)(Handle*) = nullptr;
  Result (*destroy_preference)(Handle) = nullptr;
  Result (*set_preference)(Handle, PreferenceAttribute, const void*, std::size_t) = nullptr;
  Result (*find_algorithm)(Handle, Handle description, Handle a, Handle b, Handle c, Handle d, Handle preference, int most,
                           CublasLtHeuristic*, int* found) = nullptr;
  Result (*matmul)(Handle, Handle description, const void* alpha, const void* a, Handle a_layout, const void* b, Handle b_layout,
                   const void* beta, const void* c, Handle c_layout, void* d, Handle d_layout, const void* algorithm,
                   void* workspace, std::size_t bytes, Handle stream) = nullptr;
  const char* (*status_string)(Result) = nullptr;

  /// The process's instance. Never throws: see why_not().
  static const CublasLt& get();
  /// An instance from the first of these files that can be opened.
  static CublasLt open(const char* const* names, int count);
  /// Why the library cannot be used; empty if it can.
  const Text& why_not() const { return why_not_; }
  /// The handle for a device, created on first use; null if the library returns none.
  Handle handle(Device& device) const;
  void check(Result r, const char* what) const {
    if (r != success) TT_THROW(Error(Text("tt::cuda: ") << what << " failed: " << status_string(r) << '.'));
  }

 private:
  Text why_not_;
};

#if TT_DEFINES(cuda)
TT_INLINE CublasLt CublasLt::open(const char* const* names, int count) {
  CublasLt c;
  DriverLibrary library;
  if (!library.open(names, count)) {
    c.why_not_ << "cuBLASLt cannot be opened: " << library.why();
    return c;
  }
  library.find("cublasLtCreate", c.create);
  library.find("cublasLtMatmulDescCreate", c.create_description);
  library.find("cublasLtMatmulDescDestroy", c.destroy_description);
  library.find("cublasLtMatmulDescSetAttribute", c.set_description);
  library.find("cublasLtMatrixLayoutCreate", c.create_layout);
  library.find("cublasLtMatrixLayoutDestroy", c.destroy_layout);
  library.find("cublasLtMatrixLayoutSetAttribute", c.set_layout);
  library.find("cublasLtMatmulPreferenceCreate", c.create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", c.destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", c.set_preference);
  library.find("cublasLtMatmulAlgoGetHeuristic", c.find_algorithm);
  library.find("cublasLtMatmul", c.matmul);
  library.find("cublasLtGetStatusString", c.status_string);
  if (library.missing()) c.why_not_ << "this cuBLASLt is too old: it has no " << library.missing();
  return c;
}

TT_INLINE const CublasLt& CublasLt::get() {
  static const CublasLt& library = *[] {  // never destroyed: programs in static objects end late
    const ToolkitNames names("TT_CUBLASLT", "libcublasLt.so");
    return new CublasLt(open(names.begin(), names.count()));
  }();
  return library;
}

TT_INLINE Handle CublasLt::handle(Device& device) const {
  static tt::detail::BusyFlag busy;
  static Handle handles[Device::most_devices];  // live as long as the process, like their devices
  const tt::detail::FlagLock lock(busy);
  Handle& h = handles[device.index()];
  if (!h && create(&h) != success) h = nullptr;
  return h;
}
#endif

}  // namespace tt::cuda
