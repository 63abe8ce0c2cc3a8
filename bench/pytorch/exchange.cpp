// What exchange.py calls: Tensors through DLPack and .safetensors files, as a shared library of C functions.
#include <tt/io/dlpack.hpp>
#include <tt/io/safetensors.hpp>
#include <tt/tt.hpp>

using tt::dlpack::ManagedTensor;
using tt::dlpack::ManagedTensorVersioned;

extern "C" {

ManagedTensor* tt_arange(int dtype) { return tt::to_dlpack(tt::arange(6).to(static_cast<tt::DType>(dtype)).reshape({2, 3}).t()); }
ManagedTensorVersioned* tt_arange_versioned(int dtype) {
  return tt::to_dlpack<ManagedTensorVersioned>(tt::arange(6).to(static_cast<tt::DType>(dtype)).reshape({2, 3}).t());
}
/// Adds 1 to each element where they lie; -1: they had to be copied.
int tt_add_one(ManagedTensor* m) {
  try {
    tt::from_dlpack(m, false).add_(1);
  } catch (const tt::Error&) {
    return -1;
  }
  return 0;
}
int tt_add_one_versioned(ManagedTensorVersioned* m) {
  try {
    tt::from_dlpack(m, false).add_(1);
  } catch (const tt::Error&) {
    return -1;
  }
  return 0;
}
/// The sum, of a copy where elements lie backwards or are read-only.
double tt_sum(ManagedTensorVersioned* m) { return tt::from_dlpack(m).to(tt::DType::f64).sum().item(); }

/// Reads a file of Tensors and writes it again.
void tt_copy_file(const char* from, const char* to) {
  tt::safetensors::save_file(tt::safetensors::load_file(from), to, tt::safetensors::File(from).metadata());
}
}
