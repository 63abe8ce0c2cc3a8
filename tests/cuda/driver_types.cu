// The library's own prototypes of the driver, cuBLASLt and, where it is installed, cuDNN against NVIDIA's: compiled by nvcc,
// never run. Each argument must be of the same size and kind; structs, of the same layout.
#include <cublasLt.h>
#include <cuda.h>
#if __has_include(<cudnn.h>)
#pragma nv_diag_suppress 1444  // calls for single operations are deprecated
#include <cudnn.h>
#endif

#include <cstddef>
#include <type_traits>

#include "tt/backends/cuda/cublaslt.hpp"
#include "tt/backends/cuda/cudnn.hpp"

namespace {

using tt::cuda::Driver;
using tt::cuda::KernelNode;

template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                       std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class F, class G>
constexpr bool same_prototype = false;
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
constexpr bool same_prototype<R (*)(A...), S(B...)> = alike<R, S> && (alike<A, B> && ...);

static_assert(same_prototype<decltype(Driver::init), decltype(cuInit)>);
static_assert(same_prototype<decltype(Driver::version), decltype(cuDriverGetVersion)>);
static_assert(same_prototype<decltype(Driver::error_name), decltype(cuGetErrorName)>);
static_assert(same_prototype<decltype(Driver::error_string), decltype(cuGetErrorString)>);
static_assert(same_prototype<decltype(Driver::device_count), decltype(cuDeviceGetCount)>);
static_assert(same_prototype<decltype(Driver::device), decltype(cuDeviceGet)>);
static_assert(same_prototype<decltype(Driver::device_name), decltype(cuDeviceGetName)>);
static_assert(same_prototype<decltype(Driver::device_attribute), decltype(cuDeviceGetAttribute)>);
static_assert(same_prototype<decltype(Driver::retain_context), decltype(cuDevicePrimaryCtxRetain)>);
static_assert(same_prototype<decltype(Driver::set_context), decltype(cuCtxSetCurrent)>);
static_assert(same_prototype<decltype(Driver::synchronize), decltype(cuCtxSynchronize)>);
static_assert(same_prototype<decltype(Driver::memory_info), decltype(cuMemGetInfo)>);
static_assert(same_prototype<decltype(Driver::allocate), decltype(cuMemAlloc)>);
static_assert(same_prototype<decltype(Driver::free), decltype(cuMemFree)>);
static_assert(same_prototype<decltype(Driver::allocate_host), decltype(cuMemHostAlloc)>);
static_assert(same_prototype<decltype(Driver::free_host), decltype(cuMemFreeHost)>);
static_assert(same_prototype<decltype(Driver::to_device), decltype(cuMemcpyHtoDAsync)>);
static_assert(same_prototype<decltype(Driver::to_host), decltype(cuMemcpyDtoHAsync)>);
static_assert(same_prototype<decltype(Driver::copy), decltype(cuMemcpyDtoDAsync)>);
static_assert(same_prototype<decltype(Driver::copy_peer), decltype(cuMemcpyPeerAsync)>);
static_assert(same_prototype<decltype(Driver::create_stream), decltype(cuStreamCreate)>);
static_assert(same_prototype<decltype(Driver::destroy_stream), decltype(cuStreamDestroy)>);
static_assert(same_prototype<decltype(Driver::synchronize_stream), decltype(cuStreamSynchronize)>);
static_assert(same_prototype<decltype(Driver::wait_event), decltype(cuStreamWaitEvent)>);
static_assert(same_prototype<decltype(Driver::create_event), decltype(cuEventCreate)>);
static_assert(same_prototype<decltype(Driver::destroy_event), decltype(cuEventDestroy)>);
static_assert(same_prototype<decltype(Driver::record_event), decltype(cuEventRecord)>);
static_assert(same_prototype<decltype(Driver::synchronize_event), decltype(cuEventSynchronize)>);
static_assert(same_prototype<decltype(Driver::elapsed), decltype(cuEventElapsedTime)>);
static_assert(same_prototype<decltype(Driver::load_module), decltype(cuModuleLoadData)>);
static_assert(same_prototype<decltype(Driver::find_function), decltype(cuModuleGetFunction)>);
static_assert(same_prototype<decltype(Driver::launch), decltype(cuLaunchKernel)>);
static_assert(same_prototype<decltype(Driver::create_graph), decltype(cuGraphCreate)>);
static_assert(same_prototype<decltype(Driver::destroy_graph), decltype(cuGraphDestroy)>);
static_assert(same_prototype<decltype(Driver::add_kernel), decltype(cuGraphAddKernelNode)>);
static_assert(same_prototype<decltype(Driver::instantiate_graph), decltype(cuGraphInstantiateWithFlags)>);
static_assert(same_prototype<decltype(Driver::destroy_executable), decltype(cuGraphExecDestroy)>);
static_assert(same_prototype<decltype(Driver::set_kernel), decltype(cuGraphExecKernelNodeSetParams)>);
static_assert(same_prototype<decltype(Driver::launch_graph), decltype(cuGraphLaunch)>);

static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS));
static_assert(offsetof(KernelNode, function) == offsetof(CUDA_KERNEL_NODE_PARAMS, func));
static_assert(offsetof(KernelNode, grid_x) == offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX));
static_assert(offsetof(KernelNode, block_x) == offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX));
static_assert(offsetof(KernelNode, shared) == offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes));
static_assert(offsetof(KernelNode, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams));
static_assert(offsetof(KernelNode, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS, extra));
static_assert(offsetof(KernelNode, kernel) == offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
static_assert(offsetof(KernelNode, context) == offsetof(CUDA_KERNEL_NODE_PARAMS, ctx));

using tt::cuda::Attribute;
static_assert(static_cast<int>(Attribute::multiprocessors) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(static_cast<int>(Attribute::major) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(static_cast<int>(Attribute::minor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
using tt::cuda::CublasLt;
static_assert(same_prototype<decltype(CublasLt::create), decltype(cublasLtCreate)>);
static_assert(same_prototype<decltype(CublasLt::create_description), decltype(cublasLtMatmulDescCreate)>);
static_assert(same_prototype<decltype(CublasLt::destroy_description), decltype(cublasLtMatmulDescDestroy)>);
static_assert(same_prototype<decltype(CublasLt::set_description), decltype(cublasLtMatmulDescSetAttribute)>);
static_assert(same_prototype<decltype(CublasLt::create_layout), decltype(cublasLtMatrixLayoutCreate)>);
static_assert(same_prototype<decltype(CublasLt::destroy_layout), decltype(cublasLtMatrixLayoutDestroy)>);
static_assert(same_prototype<decltype(CublasLt::set_layout), decltype(cublasLtMatrixLayoutSetAttribute)>);
static_assert(same_prototype<decltype(CublasLt::create_preference), decltype(cublasLtMatmulPreferenceCreate)>);
static_assert(same_prototype<decltype(CublasLt::destroy_preference), decltype(cublasLtMatmulPreferenceDestroy)>);
static_assert(same_prototype<decltype(CublasLt::set_preference), decltype(cublasLtMatmulPreferenceSetAttribute)>);
static_assert(same_prototype<decltype(CublasLt::find_algorithm), decltype(cublasLtMatmulAlgoGetHeuristic)>);
static_assert(same_prototype<decltype(CublasLt::matmul), decltype(cublasLtMatmul)>);
static_assert(same_prototype<decltype(CublasLt::status_string), decltype(cublasLtGetStatusString)>);

using tt::cuda::CublasLtHeuristic;
static_assert(sizeof(CublasLtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(sizeof(CublasLtHeuristic::algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(offsetof(CublasLtHeuristic, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasLtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

template <class A, class B>
constexpr bool equal(A a, B b) {
  return static_cast<long long>(a) == static_cast<long long>(b);
}
static_assert(equal(CublasLt::f32, CUBLAS_COMPUTE_32F) && equal(CublasLt::f64, CUBLAS_COMPUTE_64F) &&
              equal(CublasLt::f32_by_tf32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(equal(CublasLt::real_f32, CUDA_R_32F) && equal(CublasLt::real_f64, CUDA_R_64F));
static_assert(equal(CublasLt::none, CUBLASLT_EPILOGUE_DEFAULT) && equal(CublasLt::relu, CUBLASLT_EPILOGUE_RELU) &&
              equal(CublasLt::bias, CUBLASLT_EPILOGUE_BIAS) && equal(CublasLt::relu | CublasLt::bias, CUBLASLT_EPILOGUE_RELU_BIAS));
static_assert(equal(CublasLt::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA) && equal(CublasLt::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB) &&
              equal(CublasLt::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE) && equal(CublasLt::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(equal(CUBLAS_OP_N, 0) && equal(CUBLAS_OP_T, 1));
static_assert(equal(CublasLt::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) &&
              equal(CublasLt::batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(equal(CublasLt::most_workspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) &&
              equal(CublasLt::alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) &&
              equal(CublasLt::alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES) &&
              equal(CublasLt::alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES) &&
              equal(CublasLt::alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));

#if defined(CUDNN_VERSION)
using tt::cuda::Cudnn;
static_assert(same_prototype<decltype(Cudnn::create), decltype(cudnnCreate)>);
static_assert(same_prototype<decltype(Cudnn::set_stream), decltype(cudnnSetStream)>);
static_assert(same_prototype<decltype(Cudnn::create_tensor), decltype(cudnnCreateTensorDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::destroy_tensor), decltype(cudnnDestroyTensorDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::set_tensor), decltype(cudnnSetTensor4dDescriptorEx)>);
static_assert(same_prototype<decltype(Cudnn::create_filter), decltype(cudnnCreateFilterDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::destroy_filter), decltype(cudnnDestroyFilterDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::set_filter), decltype(cudnnSetFilter4dDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::create_convolution), decltype(cudnnCreateConvolutionDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::destroy_convolution), decltype(cudnnDestroyConvolutionDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::set_convolution), decltype(cudnnSetConvolution2dDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::set_groups), decltype(cudnnSetConvolutionGroupCount)>);
static_assert(same_prototype<decltype(Cudnn::set_math), decltype(cudnnSetConvolutionMathType)>);
static_assert(same_prototype<decltype(Cudnn::create_activation), decltype(cudnnCreateActivationDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::destroy_activation), decltype(cudnnDestroyActivationDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::set_activation), decltype(cudnnSetActivationDescriptor)>);
static_assert(same_prototype<decltype(Cudnn::find_algorithms), decltype(cudnnGetConvolutionForwardAlgorithm_v7)>);
static_assert(same_prototype<decltype(Cudnn::convolve), decltype(cudnnConvolutionForward)>);
static_assert(same_prototype<decltype(Cudnn::convolve_bias_activate), decltype(cudnnConvolutionBiasActivationForward)>);
static_assert(same_prototype<decltype(Cudnn::add), decltype(cudnnAddTensor)>);
static_assert(same_prototype<decltype(Cudnn::activate), decltype(cudnnActivationForward)>);
static_assert(same_prototype<decltype(Cudnn::status_string), decltype(cudnnGetErrorString)>);

using tt::cuda::CudnnAlgorithm;
static_assert(sizeof(CudnnAlgorithm) == sizeof(cudnnConvolutionFwdAlgoPerf_t));
static_assert(offsetof(CudnnAlgorithm, algorithm) == offsetof(cudnnConvolutionFwdAlgoPerf_t, algo));
static_assert(offsetof(CudnnAlgorithm, state) == offsetof(cudnnConvolutionFwdAlgoPerf_t, status));
static_assert(offsetof(CudnnAlgorithm, workspace) == offsetof(cudnnConvolutionFwdAlgoPerf_t, memory));
static_assert(offsetof(CudnnAlgorithm, is_deterministic) == offsetof(cudnnConvolutionFwdAlgoPerf_t, determinism));
static_assert(equal(Cudnn::f32, CUDNN_DATA_FLOAT) && equal(Cudnn::f64, CUDNN_DATA_DOUBLE) && equal(Cudnn::nchw, CUDNN_TENSOR_NCHW));
static_assert(equal(Cudnn::cross_correlation, CUDNN_CROSS_CORRELATION) && equal(CUDNN_DETERMINISTIC, 1) && equal(CUDNN_STATUS_SUCCESS, 0));
static_assert(equal(Cudnn::any_math, CUDNN_DEFAULT_MATH) && equal(Cudnn::fma_math, CUDNN_FMA_MATH));
static_assert(equal(Cudnn::relu, CUDNN_ACTIVATION_RELU) && equal(Cudnn::propagate_nan, CUDNN_PROPAGATE_NAN));
#endif

static_assert(tt::cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);

}  // namespace
