// Definition of einsum (linear_algebra.hpp): letters of each operand, whose sums of products are matrix products, two operands after the other.
#pragma once
#include <string>
#include <vector>

#include "tt/dispatch/linear_algebra.hpp"
#include "tt/dispatch/reduction_functions_inl.hpp"

namespace tt {
namespace detail {

/// The letters of one operand, axis by axis; letters of an ellipsis are numbers beyond all letters, from the right.
struct EinsumTerm {
  std::vector<int> letter;
};
inline constexpr int first_of_ellipsis = 1000;
template <class = void>
EinsumTerm einsum_term(std::string_view text, int rank, SourceLine at) {
  EinsumTerm t;
  int named = 0, dots = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '.') {
      if (text.substr(k, 3) != "..." || dots++) TT_THROW(Error(Text("tt::einsum: dots that are no single ellipsis.") << at));
      k += 2;
    } else {
      ++named;
    }
  }
  const int hidden = rank - named;
  if (hidden < 0 || (hidden > 0 && dots == 0)) TT_THROW(Error(Text("tt::einsum: ") << named << " letters for a Tensor of rank " << rank << "." << at));
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '.') {
      for (int j = hidden; j > 0; --j) t.letter.push_back(first_of_ellipsis + j);
      k += 2;
      continue;
    }
    if (!((text[k] >= 'a' && text[k] <= 'z') || (text[k] >= 'A' && text[k] <= 'Z'))) TT_THROW(Error(Text("tt::einsum: '") << text[k] << "' is no letter." << at));
    t.letter.push_back(text[k]);
  }
  return t;
}
inline int place_of_letter(const EinsumTerm& t, int letter) {
  for (std::size_t k = 0; k < t.letter.size(); ++k)
    if (t.letter[k] == letter) return static_cast<int>(k);
  return -1;
}
/// Letters that are there twice become the diagonal of their axes.
template <class = void>
void take_diagonals(Tensor& x, EinsumTerm& t, SourceLine at) {
  for (std::size_t i = 0; i < t.letter.size(); ++i)
    for (std::size_t j = i + 1; j < t.letter.size(); ++j)
      if (t.letter[i] == t.letter[j]) {
        if (x.size(static_cast<int>(i), at) != x.size(static_cast<int>(j), at)) TT_THROW(Error(Text("tt::einsum: a letter has two sizes in shape ") << x.shape() << "." << at));
        x = diagonal(x, 0, static_cast<int>(i), static_cast<int>(j), at);
        const int letter = t.letter[i];
        t.letter.erase(t.letter.begin() + static_cast<std::ptrdiff_t>(j));
        t.letter.erase(t.letter.begin() + static_cast<std::ptrdiff_t>(i));
        t.letter.push_back(letter);
        return take_diagonals(x, t, at);
      }
}
/// Sums over axes whose letters nobody else has.
template <class F>
void sum_away(Tensor& x, EinsumTerm& t, const F& is_needed, SourceLine at) {
  IntList axes;
  EinsumTerm rest;
  for (std::size_t k = 0; k < t.letter.size(); ++k)
    if (is_needed(t.letter[k])) rest.letter.push_back(t.letter[k]);
    else axes.push_back(static_cast<int>(k));
  if (axes.size() == 0) return;
  x = x.sum(axes, false, at);
  t = rest;
}
template <class = void>
Tensor in_order(const Tensor& x, const EinsumTerm& from, const std::vector<int>& to, SourceLine at) {
  IntList order;
  for (const int letter : to) order.push_back(place_of_letter(from, letter));
  return x.dim() ? x.permute(order, at) : x;
}
/// Two operands as a batch of products: (shared and kept, own of a, summed) times (shared and kept, summed, own of b).
template <class F>
Tensor einsum_pair(Tensor a, EinsumTerm& ta, Tensor b, EinsumTerm tb, const F& is_kept, SourceLine at) {
  std::vector<int> both, summed, own_a, own_b;
  Size n_batch(1), n_sum(1), n_a(1), n_b(1);
  IntList to;
  for (std::size_t k = 0; k < ta.letter.size(); ++k) {
    const int letter = ta.letter[k], j = place_of_letter(tb, letter);
    const Size size_a = a.size(static_cast<int>(k), at);
    if (j < 0) {
      own_a.push_back(letter);
      n_a *= size_a;
      continue;
    }
    const Size size_b = b.size(j, at);
    if (size_a != size_b) {  // one of them is 1 and is repeated
      if (!(size_a == 1) && !(size_b == 1)) TT_THROW(Error(Text("tt::einsum: a letter has two sizes: shapes ") << a.shape() << " and " << b.shape() << "." << at));
      Tensor& shorter = size_a == 1 ? a : b;
      IntList wide = shorter.shape(at);
      wide[size_a == 1 ? static_cast<int>(k) : j] = size_a == 1 ? size_b : size_a;
      shorter = shorter.expand(wide, at);
    }
    const Size size = size_a == 1 ? size_b : size_a;
    (is_kept(letter) ? both : summed).push_back(letter);
    (is_kept(letter) ? n_batch : n_sum) *= size;
  }
  for (std::size_t k = 0; k < tb.letter.size(); ++k)
    if (place_of_letter(ta, tb.letter[k]) < 0) {
      own_b.push_back(tb.letter[k]);
      n_b *= b.size(static_cast<int>(k), at);
    }
  const auto joined = [](std::vector<int> x, const std::vector<int>& y, const std::vector<int>& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const Tensor left = in_order(a, ta, joined(both, own_a, summed), at), right = in_order(b, tb, joined(both, summed, own_b), at);
  IntList shape;
  for (int k = 0; k < static_cast<int>(both.size() + own_a.size()); ++k) shape.push_back(left.size(k, at));
  for (int k = static_cast<int>(both.size() + summed.size()); k < right.dim(); ++k) shape.push_back(right.size(k, at));
  const Tensor product = summed.empty() ? left.reshape({n_batch, n_a, 1}, at) * right.reshape({n_batch, 1, n_b}, at)
                                        : tt::matmul(left.reshape({n_batch, n_a, n_sum}, at), right.reshape({n_batch, n_sum, n_b}, at), at);
  ta.letter = joined(both, own_a, own_b);
  return product.reshape(shape, at);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor einsum(std::string_view equation, TensorSpan operands, SourceLine at) {
  std::string text;
  for (const char c : equation)
    if (c != ' ') text.push_back(c);
  const std::size_t arrow = text.find("->");
  std::vector<std::string> parts(1);
  for (std::size_t k = 0; k < (arrow == std::string::npos ? text.size() : arrow); ++k)
    if (text[k] == ',') parts.emplace_back();
    else parts.back().push_back(text[k]);
  if (parts.size() != operands.size()) TT_THROW(Error(Text("tt::einsum: ") << static_cast<std::int64_t>(parts.size()) << " terms for " << static_cast<std::int64_t>(operands.size()) << " Tensors." << at));
  std::vector<detail::EinsumTerm> term;
  TensorList x(operands.begin(), operands.end());
  int widest = 0, count[128] = {};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    term.push_back(detail::einsum_term(parts[k], x[k].dim(), at));
    for (const int letter : term[k].letter)
      if (letter > detail::first_of_ellipsis) widest = letter - detail::first_of_ellipsis > widest ? letter - detail::first_of_ellipsis : widest;
      else ++count[letter];
  }
  std::vector<int> result;
  if (arrow != std::string::npos) {
    const std::string to = text.substr(arrow + 2);
    result = detail::einsum_term(to, static_cast<int>(to.size()) - (to.find('.') == std::string::npos ? 0 : 3 - widest), at).letter;
  } else {  // the ellipsis, then letters that are there once, in their order
    for (int j = widest; j > 0; --j) result.push_back(detail::first_of_ellipsis + j);
    for (int letter = 'A'; letter <= 'z'; ++letter)
      if (count[letter] == 1) result.push_back(letter);
  }
  const detail::EinsumTerm wanted{result};
  for (const int letter : result) {
    bool there = false;
    for (const detail::EinsumTerm& t : term) there = there || detail::place_of_letter(t, letter) >= 0;
    if (!there) TT_THROW(Error(Text("tt::einsum: the result has a letter that no Tensor has.") << at));
  }
  for (std::size_t k = 0; k < x.size(); ++k) detail::take_diagonals(x[k], term[k], at);
  const auto needed_beyond = [&](std::size_t from) {
    return [&, from](int letter) {
      if (detail::place_of_letter(wanted, letter) >= 0) return true;
      for (std::size_t j = from; j < term.size(); ++j)
        if (detail::place_of_letter(term[j], letter) >= 0) return true;
      return false;
    };
  };
  Tensor r = x[0];
  detail::EinsumTerm t = term[0];
  detail::sum_away(r, t, needed_beyond(1), at);
  for (std::size_t k = 1; k < x.size(); ++k) {
    detail::EinsumTerm own = term[k];
    detail::sum_away(x[k], own, [&](int letter) { return needed_beyond(k + 1)(letter) || detail::place_of_letter(t, letter) >= 0; }, at);
    r = detail::einsum_pair(r, t, x[k], own, needed_beyond(k + 1), at);
  }
  detail::sum_away(r, t, needed_beyond(x.size()), at);
  return detail::in_order(r, t, result, at);
}

}  // namespace tt
