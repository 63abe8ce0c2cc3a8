// The umbrella of the mathematical functions.
#pragma once
#include "tt/ops/math_erf.hpp"
#include "tt/ops/math_exp.hpp"
#include "tt/ops/math_log.hpp"
#include "tt/ops/math_pow.hpp"
#include "tt/ops/math_trig.hpp"
