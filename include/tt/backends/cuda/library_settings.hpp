// The choice of products and convolutions that a library computes on a CUDA device. Own tiles have the bits of the CPU and are the
// default; libraries are for users who prefer their speed, see docs/design/0009-cuda.md.
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
  /// A library computes operations with at least this many multiply-adds: with fewer than 512^3, own tiles take about as long as a
  /// launch.
  std::int64_t smallest = std::int64_t{1} << 27;
  /// Allows a library to round the elements of f32 factors to TF32 (ten fraction bits) for tensor cores.
  bool allow_tf32 = false;
};
using MatmulSettings = LibraryChoice<BlasLibrary>;
using ConvSettings = LibraryChoice<ConvLibrary>;

namespace detail {
/// Settings packed into one integer, so that they change atomically.
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

/// Settings of the process, from the next call on, for compiled functions, eager ops and static plans.
inline void set_matmul_settings(const MatmulSettings& s) { detail::packed_settings<MatmulSettings>.store(detail::pack(s), std::memory_order_relaxed); }
inline void set_conv_settings(const ConvSettings& s) { detail::packed_settings<ConvSettings>.store(detail::pack(s), std::memory_order_relaxed); }
inline MatmulSettings matmul_settings() { return detail::unpack<MatmulSettings>(detail::packed_now<MatmulSettings>()); }
inline ConvSettings conv_settings() { return detail::unpack<ConvSettings>(detail::packed_now<ConvSettings>()); }

/// The present settings of both kinds, packed: launches are planned for them.
struct LibrarySettings {
  std::uint64_t products = detail::packed_now<MatmulSettings>(), convolutions = detail::packed_now<ConvSettings>();
  /// Do own tiles compute everything?
  bool are_own() const { return ((products | convolutions) & 1) == 0; }
  friend bool operator==(const LibrarySettings&, const LibrarySettings&) = default;
};

}  // namespace tt::cuda
