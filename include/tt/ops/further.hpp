// The elementwise ops that no other op's body needs: the umbrella of their files.
#pragma once
#include "tt/ops/math_bessel.hpp"
#include "tt/ops/math_binary.hpp"
#include "tt/ops/math_division.hpp"
#include "tt/ops/math_gamma.hpp"
#include "tt/ops/math_hyperbolic.hpp"
#include "tt/ops/math_inverse_trig.hpp"
#include "tt/ops/math_logs.hpp"
#include "tt/ops/math_special.hpp"
#include "tt/ops/more_activations.hpp"
