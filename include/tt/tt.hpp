// tt: arrays and Tensors, fusion at compile time and at run time, derivatives.  #include <tt/tt.hpp>
#pragma once
// These first: mistakes with Arrays then show a short chain of includes.
#include "tt/expr/explain.hpp"
#include "tt/expr/expression.hpp"
#include "tt/expr/fuse.hpp"
#include "tt/expr/op.hpp"

#include "tt/autograd/functional.hpp"
#include "tt/config.hpp"
#include "tt/core/array.hpp"
#include "tt/core/print.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/dispatch/print.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/edit.hpp"
#include "tt/io/npy.hpp"
#include "tt/jit/compile.hpp"
#include "tt/jit/trace.hpp"
#include "tt/version.hpp"
