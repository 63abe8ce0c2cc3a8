// Chooses who computes a kernel of a plan: a library, if settings, sizes and the kernel allow it, else own tiles.
#pragma once
#include "tt/backends/cuda/library_convolution.hpp"
#include "tt/backends/cuda/library_product.hpp"

namespace tt::cuda {

/// Null: own tiles; `refused` then says why, if a library was asked for.
template <class AnyPlan>
std::shared_ptr<const LibraryKernel> find_library(Device& device, const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols,
                                                  const LibrarySettings& settings, Text& refused) {
  if (k.kind != KernelKind::matmul || settings.are_own()) return nullptr;
  const MatmulSettings products = detail::unpack<MatmulSettings>(settings.products);
  const ConvSettings convolutions = detail::unpack<ConvSettings>(settings.convolutions);
  if (k.windows < 0)
    return products.library == BlasLibrary::own ? nullptr : LibraryProduct::make(device, describe_product(plan, k, symbols), products, refused);
  if (convolutions.library != ConvLibrary::own)
    return LibraryConvolution::make(device, describe_convolution(plan, k, symbols), convolutions, refused);
  refused = Text("set_conv_settings is for these");
  return nullptr;
}

}  // namespace tt::cuda
