// Graphs whose axes cannot be made fewer: axes exchanged, repeated, cut with steps and summed by turns.
#pragma once
#include "tt/functional/image_ops.hpp"
#include "tt/functional/tensor_ops.hpp"

/// Extents of `rank` axes, 2 each; those of `ones` are 1.
constexpr tt::Shape twos(int rank, unsigned ones = 0) {
  tt::Shape s;
  for (int k = 0; k < rank; ++k) s.push_back(ones >> k & 1 ? 1 : 2);
  return s;
}

/// x with its axes in reverse order, times what is repeated along every second axis, of which every second one is summed.
constexpr void turned_and_summed(tt::Graph& g, int rank) {
  const int x = g.input(tt::DType::f32, twos(rank)), y = g.input(tt::DType::f32, twos(rank, 0x5555)), z = g.input(tt::DType::f32, twos(rank, 0xaaaa));
  int axes[tt::max_rank] = {};
  for (int k = 0; k < rank; ++k) axes[k] = rank - 1 - k;
  const int all = g.add(g.mul(g.permute(x, axes), y), z);
  g.output(all);
  g.output(g.reduce(tt::Op::sum, all, 0x5555));
  for (int k = 0; k < rank; ++k) axes[k] = (7 * k + 3) % rank;
  if (rank % 7 != 0) g.output(g.permute(x, axes));
}
/// Products of matrices of 2 rows; their batches are repeated by turns.
constexpr void products(tt::Graph& g, int rank) {
  const unsigned batches = (1u << (rank - 2)) - 1;
  const int x = g.input(tt::DType::f32, twos(rank, 0x5555 & batches)), y = g.input(tt::DType::f32, twos(rank, 0xaaaa & batches));
  g.output(g.neg(g.matmul(x, y)));
}
/// Of each axis of 3 the first and the last element; and each axis backwards.
constexpr void cut(tt::Graph& g, int rank) {
  tt::Shape s;
  for (int k = 0; k < rank; ++k) s.push_back(k < 8 ? 3 : 2);
  int x = g.input(tt::DType::f32, s);
  for (int k = 0; k < 8 && k < rank; ++k) x = g.slice(x, k, 0, 2, 2);
  int y = x;
  for (int k = 0; k < rank; ++k) y = g.slice(y, k, 1, 2, -1);
  g.output(g.add(x, y));
}
