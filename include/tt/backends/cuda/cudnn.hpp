// cuDNN, opened when the first convolution is to use it: the file that TT_CUDNN names, else libcudnn.so.9. Own prototypes, compared with
// NVIDIA's in tests/cuda/driver_types.cu where these are installed. Uses the interface for single operations: version 9 recommends
// graphs of operations, which need ten times as many attributes for one convolution.
//   const Cudnn& dnn = Cudnn::get();   if (dnn.why_not().empty()) dnn.convolve(...)
#pragma once
#include "tt/backends/cuda/device.hpp"

namespace tt::cuda {

/// cudnnConvolutionFwdAlgoPerf_t
struct CudnnAlgorithm {
  int algorithm = 0;
  Result state = 0;
  float time = 0;
  std::size_t workspace = 0;
  int is_deterministic = 0, math = 0;
  int reserved[3] = {};
};

struct Cudnn {
  enum Type : int { f32 = 0, f64 = 1 };
  enum Format : int { nchw = 0 };
  enum Mode : int { cross_correlation = 1 };
  enum Math : int { any_math = 0, fma_math = 3 };
  enum Activation : int { relu = 1 };
  enum Nan : int { propagate_nan = 1 };

  Result (*create)(Handle*) = nullptr;
  Result (*set_stream)(Handle, Handle stream) = nullptr;
  Result (*create_tensor)(Handle*) = nullptr;
  Result (*destroy_tensor)(Handle) = nullptr;
  Result (*set_tensor)(Handle, Type, int n, int c, int h, int w, int n_stride, int c_stride, int h_stride, int w_stride) = nullptr;
  Result (*create_filter)(Handle*) = nullptr;
  Result (*destroy_filter)(Handle) = nullptr;
  Result (*set_filter)(Handle, Type, Format, int k, int c, int h, int w) = nullptr;
  Result (*create_convolution)(Handle*) = nullptr;
  Result (*destroy_convolution)(Handle) = nullptr;
  Result (*set_convolution)(Handle, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, Mode, Type) = nullptr;
  Result (*set_groups)(Handle, int) = nullptr;
  Result (*set_math)(Handle, Math) = nullptr;
  Result (*create_activation)(Handle*) = nullptr;
  Result (*destroy_activation)(Handle) = nullptr;
  Result (*set_activation)(Handle, Activation, Nan, double coefficient) = nullptr;
  Result (*find_algorithms)(Handle, Handle x, Handle w, Handle convolution, Handle y, int most, int* found, CudnnAlgorithm*) = nullptr;
  Result (*convolve)(Handle, const void* alpha, Handle x_layout, const void* x, Handle w_layout, const void* w, Handle convolution, int algorithm,
                     void* workspace, std::size_t bytes, const void* beta, Handle y_layout, void* y) = nullptr;
  Result (*convolve_bias_activate)(Handle, const void* alpha, Handle x_layout, const void* x, Handle w_layout, const void* w, Handle convolution,
                                   int algorithm, void* workspace, std::size_t bytes, const void* beta, Handle z_layout, const void* z,
                                   Handle bias_layout, const void* bias, Handle activation, Handle y_layout, void* y) = nullptr;
  Result (*add)(Handle, const void* alpha, Handle a_layout, const void* a, const void* beta, Handle c_layout, void* c) = nullptr;
  Result (*activate)(Handle, Handle activation, const void* alpha, Handle x_layout, const void* x, const void* beta, Handle y_layout, void* y) = nullptr;
  const char* (*status_string)(Result) = nullptr;

  /// The process's instance. Never throws: see why_not().
  static const Cudnn& get();
  /// An instance from the first of these files that can be opened.
  static Cudnn open(const char* const* names, int count);
  /// Why the library cannot be used; empty if it can.
  const Text& why_not() const { return why_not_; }
  void check(Result r, const char* what) const {
    if (r != success) TT_THROW(Error(Text("tt::cuda: ") << what << " failed: " << status_string(r) << '.'));
  }

  /// Exclusive use of the library's handle for a device during its lifetime; work goes to the thread's stream.
  class Session {
   public:
    Session(const Cudnn& library, Device& device);
    /// Null if the library returns none.
    Handle handle() const { return handle_; }

   private:
    struct Slot {
      tt::detail::BusyFlag busy;
      Handle handle = nullptr;  // lives as long as the process, like its device
    };
    static Slot& slot(int device) {
      static Slot slots[Device::most_devices];
      return slots[device];
    }
    tt::detail::FlagLock lock_;
    Handle handle_;
  };

 private:
  Text why_not_;
};

#if TT_DEFINES(cuda)
TT_INLINE Cudnn Cudnn::open(const char* const* names, int count) {
  Cudnn c;
  DriverLibrary library;
  if (!library.open(names, count)) {
    c.why_not_ << "cuDNN cannot be opened: " << library.why();
    return c;
  }
  library.find("cudnnCreate", c.create);
  library.find("cudnnSetStream", c.set_stream);
  library.find("cudnnCreateTensorDescriptor", c.create_tensor);
  library.find("cudnnDestroyTensorDescriptor", c.destroy_tensor);
  library.find("cudnnSetTensor4dDescriptorEx", c.set_tensor);
  library.find("cudnnCreateFilterDescriptor", c.create_filter);
  library.find("cudnnDestroyFilterDescriptor", c.destroy_filter);
  library.find("cudnnSetFilter4dDescriptor", c.set_filter);
  library.find("cudnnCreateConvolutionDescriptor", c.create_convolution);
  library.find("cudnnDestroyConvolutionDescriptor", c.destroy_convolution);
  library.find("cudnnSetConvolution2dDescriptor", c.set_convolution);
  library.find("cudnnSetConvolutionGroupCount", c.set_groups);
  library.find("cudnnSetConvolutionMathType", c.set_math);
  library.find("cudnnCreateActivationDescriptor", c.create_activation);
  library.find("cudnnDestroyActivationDescriptor", c.destroy_activation);
  library.find("cudnnSetActivationDescriptor", c.set_activation);
  library.find("cudnnGetConvolutionForwardAlgorithm_v7", c.find_algorithms);
  library.find("cudnnConvolutionForward", c.convolve);
  library.find("cudnnConvolutionBiasActivationForward", c.convolve_bias_activate);
  library.find("cudnnAddTensor", c.add);
  library.find("cudnnActivationForward", c.activate);
  library.find("cudnnGetErrorString", c.status_string);
  if (library.missing()) c.why_not_ << "this cuDNN does not fit: it has no " << library.missing();
  return c;
}

TT_INLINE const Cudnn& Cudnn::get() {
  static const Cudnn& library = *[] {  // never destroyed: programs in static objects end late
    const ToolkitNames names("TT_CUDNN", "libcudnn.so", "9");
    return new Cudnn(open(names.begin(), names.count()));
  }();
  return library;
}

TT_INLINE Cudnn::Session::Session(const Cudnn& library, Device& device) : lock_(slot(device.index()).busy) {
  Handle& h = slot(device.index()).handle;
  if (!h && library.create(&h) != success) h = nullptr;
  if (h) library.check(library.set_stream(h, device.stream()), "cudnnSetStream");
  handle_ = h;
}
#endif

}  // namespace tt::cuda
