// Who computes a kernel of a plan: a library, if settings, sizes and the kernel allow, else own tiles.
#pragma once
#include "tt/backends/cuda/library_convolution.hpp"
#include "tt/backends/cuda/library_product.hpp"

namespace tt::cuda {

/// What libraries are to compute, as it is set now.
struct LibrarySettings {
  std::uint64_t products = detail::packed_matmul_settings.load(std::memory_order_relaxed),
                convolutions = detail::packed_conv_settings.load(std::memory_order_relaxed);
  /// Do own tiles compute everything?
  bool are_own() const { return ((products | convolutions) & 1) == 0; }
  friend bool operator==(const LibrarySettings&, const LibrarySettings&) = default;
};

/// Null: own tiles; `refused` then says why, if a library was asked for.
template <class AnyPlan>
std::shared_ptr<const LibraryKernel> find_library(Device& device, const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols,
                                                  const LibrarySettings& settings, Text& refused) {
  if (k.kind != KernelKind::matmul) return nullptr;
  if (k.windows >= 0) {
    const ConvSettings s = detail::unpack<ConvSettings>(settings.convolutions);
    if (s.library == ConvLibrary::own) {
      if (settings.products & 1) refused = Text("set_conv_settings is for these");
      return nullptr;
    }
    return LibraryConvolution::make(device, describe_convolution(plan, k, symbols), s, refused);
  }
  const MatmulSettings s = detail::unpack<MatmulSettings>(settings.products);
  if (s.library == BlasLibrary::own) return nullptr;
  return LibraryProduct::make(device, describe_product(plan, k, symbols), s, refused);
}

}  // namespace tt::cuda
