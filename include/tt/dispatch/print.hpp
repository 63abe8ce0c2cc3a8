// Prints Tensors as PyTorch does: four digits behind the point, or scientific notation where numbers differ by more than a factor of 1000; columns aligned,
// lines of at most 80 characters, large Tensors abbreviated to the ends of their axes.
//   std::cout << t;   tensor([[1.0000, 2.5000],
//                             [3.0000, 4.2500]], requires_grad=True)
// The rules are those of torch/_tensor_str.py; dtypes have tt's names.   tt::set_printoptions({.precision = 8, .sci_mode = false});
#pragma once
#include "tt/core/print.hpp"
#include "tt/dispatch/to_device.hpp"
#include "tt/functional/options.hpp"

namespace tt {

/// The options of torch.set_printoptions.
struct PrintOptions {
  int precision = 4;               ///< digits behind the point, 0 to 40
  std::int64_t threshold = 1000;   ///< larger Tensors show only the ends of each axis,
  std::int64_t edgeitems = 3;      ///< so many elements each
  int linewidth = 80;              ///< characters in a line
  Optional<bool> sci_mode{};       ///< numbers as 1.0000e+00; if not given, chosen by their sizes
};
namespace detail {
inline PrintOptions print_options;
}
/// Sets how Tensors are printed; members left out get their defaults. Must not run while another thread prints. Throws Error for an option out of range.
inline void set_printoptions(const PrintOptions& o) {
  if (o.precision < 0 || o.precision > 40 || o.threshold < 0 || o.edgeitems < 1 || o.linewidth < 1)
    TT_THROW(Error(Text("tt::set_printoptions: precision ") << o.precision << ", threshold " << o.threshold << ", edgeitems " << o.edgeitems << ", linewidth " << o.linewidth
                                                            << ". From 0 to 40, from 0, from 1, from 1?"));
  detail::print_options = o;
}
inline const PrintOptions& get_printoptions() { return detail::print_options; }

/// A Tensor as PyTorch prints it; elements on a device are copied to the host first.
TT_INLINE Text to_string(const Tensor& t);

template <CharStream Stream>
Stream& operator<<(Stream& stream, const Tensor& t) {
  return stream << to_string(t);
}

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/print_inl.hpp"
#endif
