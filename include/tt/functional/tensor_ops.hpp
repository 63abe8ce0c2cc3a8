// The ops over graphs that every program includes; images and joins have headers of their own.
#pragma once
#include "tt/functional/like_ops.hpp"
#include "tt/functional/losses.hpp"
#include "tt/functional/matmul.hpp"
#include "tt/functional/normalization.hpp"
#include "tt/functional/random_ops.hpp"
#include "tt/functional/shape_ops.hpp"
