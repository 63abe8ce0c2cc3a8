// The library's own prototypes of the driver against the toolkit's: compiled by nvcc, never run. Each argument
// must be of the same size and kind; structs, of the same layout.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "tt/backends/cuda/driver.hpp"

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
static_assert(tt::cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);

}  // namespace
