// Definition of einsum (linear_algebra.hpp): the equation is parsed, and each of its steps is a call of one op, Contraction
// (functional/contractions.hpp).
#pragma once
#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/functional/contractions.hpp"

namespace tt {
namespace detail {

/// The message for a fault of the equation.
inline Text words_of(const Equation& e, std::string_view text, TensorSpan operands) {
  Text t("tt::einsum: ");
  const char letter[] = {static_cast<char>(e.at), '\0'};
  switch (e.fault) {
    case EquationFault::not_a_letter: return t << '\'' << letter << "' is no letter.";
    case EquationFault::dots: return t << "dots that are no single ellipsis.";
    case EquationFault::too_many: return t << "more than " << max_rank << " letters for one Tensor.";
    case EquationFault::rank: return t << Equation(text).operand[e.at].count << " letters for Tensor " << e.at << " of shape " << operands[static_cast<std::size_t>(e.at)].shape() << '.';
    case EquationFault::unknown_letter: return t << "the result has a letter that no Tensor has.";
    case EquationFault::letter_twice: return t << "the result has letter '" << letter << "' twice.";
    case EquationFault::none: break;
  }
  return t << e.operand.size() << " terms for " << static_cast<std::int64_t>(operands.size()) << " Tensors.";
}

inline bool sums_nothing(const Letters& own, const Letters& result) {
  for (int k = 0; k < own.count; ++k)
    if (!result.has(own.letter[k])) return false;
  return true;
}
/// Is a letter summed that only one operand has? That is a sum, which gives i64 for integers and booleans.
inline bool sums_alone(const Equation& e) {
  for (const Letters& own : e.operand)
    for (int k = 0; k < own.count; ++k) {
      int users = 0;
      for (const Letters& other : e.operand) users += other.has(own.letter[k]);
      if (users == 1 && !e.result.has(own.letter[k])) return true;
    }
  return false;
}
/// A view of an operand of which nothing is summed: diagonals for letters that occur twice, the axes in the result's order.
inline Tensor lettered_view(Tensor x, Letters own, const Letters& result, SourceLine at) {
  for (int k = 0; k < own.count; ++k)
    for (int j = k + 1; j < own.count; ++j) {
      if (own.letter[k] != own.letter[j]) continue;
      if (x.size(k, at) != x.size(j, at)) TT_THROW(Error(Text("tt::einsum: a letter has two sizes in shape ") << x.shape() << '.' << at));
      x = diagonal(x, 0, k, j, at);  // the diagonal is the last axis
      Letters rest;
      for (int i = 0; i < own.count; ++i)
        if (i != k && i != j) rest.add(own.letter[i]);
      rest.add(own.letter[k]);
      own = rest;
      k = -1;
      break;
    }
  IntList order;
  for (int k = 0; k < result.count; ++k) order.push_back(own.place(result.letter[k]));
  return x.dim() ? x.permute(order, at) : x;
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor einsum(std::string_view equation, TensorSpan operands, SourceLine at) {
  Vec<int> rank;
  for (const Tensor& x : operands) rank.push_back(x.dim());
  const detail::Equation e(equation, rank.begin(), rank.size());
  if (e.fault != detail::EquationFault::none || e.operand.size() != rank.size()) TT_THROW(Error(detail::words_of(e, equation, operands) << at));
  for (const Tensor& x : operands) detail::need_same_dtype("einsum", operands[0], x, at);
  const auto operand = [&](int k) {
    const Tensor& x = operands[static_cast<std::size_t>(k)];
    return is_floating(x.dtype()) || !detail::sums_alone(e) ? x : x.to(DType::i64, at);
  };
  Tensor r = operand(0);
  if (rank.size() == 1 && detail::sums_nothing(e.operand[0], e.result)) return detail::lettered_view(r, e.operand[0], e.result, at);
  e.each_step<Contraction::Options>([&](int k, const Contraction::Options& o) { r = k == 0 ? call_with<Contraction>(at, o, r) : call_with<Contraction>(at, o, r, operand(k)); });
  return r;
}

}  // namespace tt
