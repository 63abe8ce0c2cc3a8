// The half of tt/tt.hpp that has no Tensors: Arrays, expressions, fuse, grad, explain, printing, .npy files. It compiles in
// half the time.  #include <tt/arrays.hpp>
#pragma once
#include "tt/config.hpp"
#include "tt/core/array.hpp"
#include "tt/core/print.hpp"
#include "tt/expr/explain.hpp"
#include "tt/expr/expression.hpp"
#include "tt/expr/fuse.hpp"
#include "tt/expr/op.hpp"
#include "tt/expr/small_linalg.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/edit.hpp"
#include "tt/functional/composites.hpp"
#include "tt/functional/contractions.hpp"
#include "tt/functional/list.hpp"
#include "tt/io/npy.hpp"
#include "tt/ops/operators.hpp"
#include "tt/version.hpp"
