// tt: arrays, fusion at compile time, derivatives.  #include <tt/tt.hpp>
#pragma once
#include "tt/config.hpp"
#include "tt/core/array.hpp"
#include "tt/core/print.hpp"
#include "tt/expr/explain.hpp"
#include "tt/expr/expression.hpp"
#include "tt/expr/fuse.hpp"
#include "tt/expr/op.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/edit.hpp"
#include "tt/io/npy.hpp"
#include "tt/version.hpp"
