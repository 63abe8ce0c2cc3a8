// Tier 1, synchronously: a plan whose kernels are compiled by the system's C compiler.
//   NativeProgram program(plan, "softmax");   program.run(external, symbols);
#pragma once
#include "tt/backends/compiler.hpp"
#include "tt/backends/runtime.hpp"

namespace tt {

class NativeProgram {
 public:
  /// Throws Unavailable when no compiler can be run.
  explicit NativeProgram(const Plan& plan, const char* name = "tt")
      : library_(backend::compile_c(emit_c(plan, name))), program_(plan) {
    for (int k = 0; k < plan.kernels.size(); ++k) {
      if (plan.kernels[k].code != k) continue;
      Text symbol(name);
      symbol << '_' << k;
      void* function = library_.find(symbol.c_str());
      if (!function)
        TT_THROW(InternalError(Text("the compiled text has no function ") << symbol));
      program_.replace_kernel(k, function);
    }
  }
  void run(void* const* external, const SymbolValues& symbols) const {
    program_.run(external, symbols);
  }

 private:
  backend::Library library_;
  backend::TileProgram program_;
};

}  // namespace tt
