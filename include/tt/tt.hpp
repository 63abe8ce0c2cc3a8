// tt: arrays and Tensors, fusion at compile time and at run time, derivatives.  #include <tt/tt.hpp>
#pragma once
#include "tt/arrays.hpp"
#include "tt/autograd/checkpoint.hpp"
#include "tt/autograd/functional.hpp"
#include "tt/core/accessor.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/print.hpp"
#include "tt/dispatch/random.hpp"
#include "tt/jit/compile.hpp"
#include "tt/jit/jacobian.hpp"
#include "tt/jit/trace.hpp"
#include "tt/jit/transforms.hpp"
