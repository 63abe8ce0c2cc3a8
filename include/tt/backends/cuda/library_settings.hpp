// Which products and convolutions a library computes on a CUDA device. Own tiles have the bits of the CPU and are the
// default; libraries are for who prefers their speed, see docs/design/0009-cuda.md.
//   tt::cuda::set_matmul_settings({.library = tt::cuda::BlasLibrary::cublaslt});
//   tt::cuda::set_conv_settings({.library = tt::cuda::ConvLibrary::cudnn});
#pragma once
#include <atomic>
#include <cstdint>

namespace tt::cuda {

enum class BlasLibrary : unsigned char { own, cublaslt };
enum class ConvLibrary : unsigned char { own, cudnn };

template <class Library>
struct LibraryChoice {
  Library library = Library::own;
  /// A library gets what has so many multiply-adds and more: with fewer than 512^3, own tiles take about as
  /// long as a launch.
  std::int64_t smallest = std::int64_t{1} << 27;
  /// A library may round the elements of f32 factors to TF32, ten bits behind the point, for tensor cores.
  bool allow_tf32 = false;
};
using MatmulSettings = LibraryChoice<BlasLibrary>;
using ConvSettings = LibraryChoice<ConvLibrary>;

namespace detail {
/// Settings as one number, so that they change at once.
template <class Settings>
constexpr std::uint64_t pack(const Settings& s) {
  return static_cast<std::uint64_t>(s.smallest) << 2 | (s.allow_tf32 ? 2u : 0u) | static_cast<unsigned>(s.library);
}
template <class Settings>
constexpr Settings unpack(std::uint64_t packed) {
  return {static_cast<decltype(Settings::library)>(packed & 1), static_cast<std::int64_t>(packed >> 2), (packed & 2) != 0};
}
static_assert(unpack<MatmulSettings>(pack(MatmulSettings{BlasLibrary::cublaslt, 77, true})).smallest == 77);
template <class Settings>
inline std::atomic<std::uint64_t> packed_settings = pack(Settings{});
template <class Settings>
std::uint64_t packed_now() {
  return packed_settings<Settings>.load(std::memory_order_relaxed);
}
}  // namespace detail

/// Of the process, from the next call on; compiled functions, eager ops and static plans alike.
inline void set_matmul_settings(const MatmulSettings& s) { detail::packed_settings<MatmulSettings>.store(detail::pack(s), std::memory_order_relaxed); }
inline void set_conv_settings(const ConvSettings& s) { detail::packed_settings<ConvSettings>.store(detail::pack(s), std::memory_order_relaxed); }
inline MatmulSettings matmul_settings() { return detail::unpack<MatmulSettings>(detail::packed_now<MatmulSettings>()); }
inline ConvSettings conv_settings() { return detail::unpack<ConvSettings>(detail::packed_now<ConvSettings>()); }

/// All of them as they are set now, packed: what launches are planned for.
struct LibrarySettings {
  std::uint64_t products = detail::packed_now<MatmulSettings>(), convolutions = detail::packed_now<ConvSettings>();
  /// Do own tiles compute everything?
  bool are_own() const { return ((products | convolutions) & 1) == 0; }
  friend bool operator==(const LibrarySettings&, const LibrarySettings&) = default;
};

}  // namespace tt::cuda
