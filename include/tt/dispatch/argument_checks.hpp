// Argument errors of Tensor functions. (For symbols: functional/checks.hpp, and need_same_dtype in functional/reductions.hpp.)
//   detail::need_same_dtype("cross", a, b, at)     tt::cross: dtypes differ: f32 and f64. Cast one?
#pragma once
#include "tt/core/tensor.hpp"

namespace tt::detail {

[[noreturn]] inline void refuse(const char* op, const char* what, const Tensor& x, SourceLine at) {
  TT_THROW(Error(Text("tt::") << op << ": " << what << ": shape " << x.shape() << "." << at));
}
/// An undefined b is accepted.
inline void need_same_dtype(const char* op, const Tensor& a, const Tensor& b, SourceLine at) {
  if (b.defined() && a.dtype() != b.dtype()) TT_THROW(Error(Text("tt::") << op << ": dtypes differ: " << name(a.dtype()) << " and " << name(b.dtype()) << ". Cast one?" << at));
}
inline void need_dtype(bool fits, const char* op, DType d, SourceLine at) {
  if (!fits) TT_THROW(Error(Text("tt::") << op << ": dtype is not accepted: " << name(d) << ". Cast it first?" << at));
}
inline void need_floating(const char* op, const Tensor& x, SourceLine at) { need_dtype(is_floating(x.dtype()), op, x.dtype(), at); }
inline void need_index_dtype(bool fits, const char* op, DType d, const char* wanted, SourceLine at) {
  if (!fits) TT_THROW(Error(Text("tt::") << op << ": indices are " << name(d) << ". " << wanted << '?' << at));
}

}  // namespace tt::detail
