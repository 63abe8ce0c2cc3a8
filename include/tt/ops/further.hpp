// The umbrella of elementwise ops that no other op needs.
#pragma once
#include "tt/ops/math_binary.hpp"
#include "tt/ops/math_inverse_trig.hpp"
#include "tt/ops/math_special.hpp"
#include "tt/ops/more_activations.hpp"
