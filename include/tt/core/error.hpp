// Errors: the exceptions, and the wording that compile time and run time share.
//   tt::Error          the caller's mistake: shape, dtype, axis, index, argument
//   tt::Unavailable    not built, or no device
//   tt::InternalError  the library's mistake; asks for a report
// A message names the op, the mistake, both facts, and a remedy:
//   tt::matmul: inner extents differ: 3 in (2, 3), 4 in (4, 5). Transpose one side?
#pragma once
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tt/config.hpp"
#include "tt/core/dtype.hpp"
#include "tt/core/shape.hpp"
#include "tt/core/text.hpp"

namespace tt {

namespace detail {
/// Per thread: a capture compares it to see whether the function caught an exception.
inline constinit thread_local std::uint64_t exceptions_made = 0;
}  // namespace detail

class Exception : public std::exception {
 public:
  explicit Exception(Text message) : message_(static_cast<Text&&>(message)) {
    ++detail::exceptions_made;
    message_ << '\0';  // part of the text, so that copies end too
  }
  const char* what() const noexcept override { return message_.begin(); }

 private:
  Text message_;
};

class Error : public Exception {
  using Exception::Exception;
};
class Unavailable : public Exception {
  using Exception::Exception;
};
class InternalError : public Exception {
 public:
  explicit InternalError(const Text& message)
      : Exception(Text("tt: internal error, please report it: ") << message) {}
};

/// TT_THROW in a program built without exceptions.
[[noreturn]] inline void abort_with(const char* message) {
  std::fputs(message, stderr);
  std::fputc('\n', stderr);
  std::abort();
}

/// A line of the program's source, as far as it is known.
struct SourceLine {
  const char* file = "";
  int line = 0;
};
/// The caller's file and line, as a default argument.
constexpr SourceLine here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {file, line};
}
/// A line as the last parameter of a function whose other overloads take lists: braces do not convert to it.
struct CallLine {
  SourceLine line;
  constexpr CallLine(SourceLine at) : line(at) {}
  constexpr operator SourceLine() const { return line; }
};
constexpr Text& operator<<(Text& out, SourceLine at) {
  if (at.line) out << "\n  at " << at.file << ':' << at.line;
  return out;
}
constexpr Text& operator<<(Text&& out, SourceLine at) { return out << at; }

enum class Mistake : std::uint8_t {
  none,
  shapes_do_not_broadcast,
  inner_extents_differ,
  batch_extents_differ,
  rank_too_low,
  rank_too_high,
  axis_out_of_range,
  axis_given_twice,
  no_elements,
  extents_beside_axis_differ,
  extent_along_axis_is_not_constant,
  sizes_differ,
  last_sizes_differ,
  size_cannot_be_checked,
  dtype_not_accepted,
  dtypes_differ,
  condition_is_not_bool,
  slice_out_of_range,
  slice_cannot_be_checked,
  window_does_not_fit,
  windows_out_of_range,
  pooling_out_of_range,
  padding_not_in_pairs,
  padding_out_of_range,
  negative_power,
  channels_differ,
  extents_are_not_constant,
  not_a_permutation,
  not_differentiable,
  gradient_of_non_scalar,
  number_out_of_range,
  too_many_elements,
  too_many_symbols,
  too_many_outputs,
  too_many_nodes,
  parameter_changes_shape,
  option_out_of_range,
  rank_not_accepted,
  shapes_differ,
};

/// Results that one static program may have, including parameters updated in place.
inline constexpr int max_outputs = 128;

/// A mistake found while a graph is recorded: kept as a value, since a constant expression cannot report it. The front
/// end turns it into a static_assert or a tt::Error with the same words.
struct Failure {
  Mistake mistake = Mistake::none;
  const char* op = "";
  Shape a{}, b{};
  DType dtype = DType::f32, other_dtype = DType::f32;
  std::int64_t number = 0;
  SourceLine where{};
  const char *option = "", *bounds = "";  ///< of an option: its name, and its bounds
  double real = 0;

  constexpr explicit operator bool() const { return mistake != Mistake::none; }
};

constexpr const char* words(Mistake m) {
  switch (m) {
    case Mistake::shapes_do_not_broadcast: return "shapes do not broadcast";
    case Mistake::inner_extents_differ: return "inner extents differ";
    case Mistake::batch_extents_differ: return "batch extents differ";
    case Mistake::rank_too_low: return "rank is too low";
    case Mistake::rank_too_high: return "rank is too high";
    case Mistake::axis_out_of_range: return "axis is out of range";
    case Mistake::axis_given_twice: return "axis is given twice";
    case Mistake::no_elements: return "no elements to choose from";
    case Mistake::extents_beside_axis_differ: return "extents beside the axis differ";
    case Mistake::extent_along_axis_is_not_constant: return "the extent along the axis is known at run time only";
    case Mistake::sizes_differ: return "numbers of elements differ";
    case Mistake::last_sizes_differ: return "the last sizes are not those given";
    case Mistake::size_cannot_be_checked: return "the number of elements is a product of run-time extents";
    case Mistake::dtype_not_accepted: return "dtype is not accepted";
    case Mistake::dtypes_differ: return "dtypes differ";
    case Mistake::condition_is_not_bool: return "condition is not bool";
    case Mistake::slice_out_of_range: return "slice is out of range";
    case Mistake::slice_cannot_be_checked: return "slice cannot be checked";
    case Mistake::window_does_not_fit: return "window does not fit";
    case Mistake::windows_out_of_range: return "stride, padding or dilation is out of range";
    case Mistake::pooling_out_of_range: return "stride or padding is out of range";
    case Mistake::padding_not_in_pairs: return "sizes come in pairs";
    case Mistake::padding_out_of_range: return "padding is out of range";
    case Mistake::negative_power: return "integers have no negative powers";
    case Mistake::channels_differ: return "channels differ";
    case Mistake::extents_are_not_constant: return "extents are known at run time only";
    case Mistake::not_a_permutation: return "axes are not a permutation";
    case Mistake::not_differentiable: return "has no derivative";
    case Mistake::gradient_of_non_scalar: return "gradient of something that is not a scalar";
    case Mistake::number_out_of_range: return "number is out of range";
    case Mistake::too_many_elements: return "too many elements";
    case Mistake::too_many_symbols: return "too many run-time extents";
    case Mistake::too_many_outputs: return "too many results";
    case Mistake::too_many_nodes: return "too many nodes for a static program";
    case Mistake::parameter_changes_shape: return "a parameter changes its shape or dtype";
    case Mistake::shapes_differ: return "shapes differ";
    case Mistake::rank_not_accepted: return "rank is not accepted";
    case Mistake::option_out_of_range: return "option is out of range";
    case Mistake::none: break;
  }
  return "";
}

namespace detail {
/// At most six digits after the point; also in constant expressions.
constexpr void write_number(Text& t, double v) {
  if (v != v) return static_cast<void>(t << "nan");
  if (v < 0) t << '-', v = -v;
  if (v > 1e15) return static_cast<void>(t << "more than 1e15");
  auto whole = static_cast<std::int64_t>(v);
  auto rest = static_cast<std::int64_t>((v - static_cast<double>(whole)) * 1e6 + 0.5);
  if (rest >= 1000000) ++whole, rest -= 1000000;
  t << whole;
  if (rest > 0) t << '.';
  for (std::int64_t digit = 100000; rest > 0; digit /= 10) {
    t << rest / digit;
    rest %= digit;
  }
}
}  // namespace detail

constexpr Text describe(const Failure& f) {
  Text t;
  t << "tt::" << f.op + (f.op[0] == '_') << ": " << words(f.mistake) << ": ";  // the name of an op that only functions call begins with '_'
  switch (f.mistake) {
    case Mistake::shapes_do_not_broadcast:
      t << f.a << " and " << f.b << ". Reshape one side, or insert an axis of extent 1?";
      break;
    case Mistake::inner_extents_differ:
      t << f.a.from_right(0) << " in " << f.a << ", "
        << (f.b.rank > 1 ? f.b.from_right(1) : f.b.from_right(0)) << " in " << f.b
        << ". Transpose one side?";
      break;
    case Mistake::batch_extents_differ: t << f.a << " and " << f.b << "."; break;
    case Mistake::rank_too_low:
      t << f.a << " has rank " << f.a.rank << ", needed is " << f.number << ".";
      break;
    case Mistake::rank_too_high:
      t << f.a << " would have rank " << f.number << ", at most is " << max_rank << ".";
      break;
    case Mistake::axis_given_twice: t << f.number << " for shape " << f.a << "."; break;
    case Mistake::no_elements: t << "axis " << f.number << " of shape " << f.a << "."; break;
    case Mistake::axis_out_of_range:
      t << f.number << " for shape " << f.a << " of rank " << f.a.rank << ".";
      break;
    case Mistake::extents_beside_axis_differ: t << f.a << " and " << f.b << ", along axis " << f.number << "."; break;
    case Mistake::extent_along_axis_is_not_constant:
      t << f.a << ", axis " << f.number << ". Give it a constant extent?";
      break;
    case Mistake::last_sizes_differ: case Mistake::sizes_differ: case Mistake::shapes_differ: t << f.a << " and " << f.b << "."; break;
    case Mistake::size_cannot_be_checked: t << f.a << " and " << f.b << ". Give one extent as -1?"; break;
    case Mistake::dtype_not_accepted: t << name(f.dtype) << ". Cast it first?"; break;
    case Mistake::dtypes_differ: t << name(f.dtype) << " and " << name(f.other_dtype) << ". Cast one?"; break;
    case Mistake::condition_is_not_bool: t << name(f.dtype) << ". Compare it with something?"; break;
    case Mistake::slice_out_of_range: t << f.number << " in shape " << f.a << "."; break;
    case Mistake::slice_cannot_be_checked:
      t << f.a[0] << " must be at least " << f.number
        << ", and is a product of run-time extents. Slice before reshaping?";
      break;
    case Mistake::window_does_not_fit:
      t << f.number << " in " << f.a << ". Pad the input, or take a smaller window?";
      break;
    case Mistake::windows_out_of_range: t << f.a << ". Strides and dilations are at least 1, padding at least 0, all are below 2^30."; break;
    case Mistake::pooling_out_of_range: t << f.a << ". Neither is negative, strides are below 2^30, and padding is at most half of the kernel."; break;
    case Mistake::padding_not_in_pairs:
      t << f.number << " for " << f.a << ". Give what comes before and after the last axis, then the one before it?";
      break;
    case Mistake::padding_out_of_range:
      t << f.number << " for " << f.a << ". A negative size cuts off at most what is there?";
      break;
    case Mistake::negative_power: t << f.number << ". Cast the base to f32?"; break;
    case Mistake::channels_differ:
      t << f.a << " in " << f.number << (f.number == 1 ? " group" : " groups") << ", weights " << f.b
        << ". Weights have the channels of one group, and as many results for each?";
      break;
    case Mistake::extents_are_not_constant:
      t << f.a << ". Only the first may be; give the others as constants?";
      break;
    case Mistake::not_a_permutation: t << "of shape " << f.a << "."; break;
    case Mistake::not_differentiable: t << "detach it, or ask for other gradients."; break;
    case Mistake::gradient_of_non_scalar:
      t << "shape " << f.a << ". Take its sum or mean first.";
      break;
    case Mistake::number_out_of_range:
      if (f.dtype == DType::i64) t << static_cast<std::uint64_t>(f.number);
      else t << f.number;
      t << " beside " << name(f.dtype) << ". Cast the operand to "
        << (f.dtype == DType::i64 ? "f64" : "i64") << '?';
      break;
    case Mistake::too_many_elements:
      t << f.a << " is more than memory can hold. Broadcast less at once?";
      break;
    case Mistake::too_many_symbols:
      t << f.number << ", at most are " << max_symbols
        << ". Give some of them constants, or split the function.";
      break;
    case Mistake::too_many_outputs:
      t << f.number << ", at most are " << max_outputs << ". Split the function.";
      break;
    case Mistake::too_many_nodes:
      t << f.number << ". Raise TT_MAX_STATIC_NODES, or split the function.";
      break;
    case Mistake::parameter_changes_shape: t << f.a << " became " << f.b << "."; break;
    case Mistake::rank_not_accepted: t << f.a << " has rank " << f.a.rank << ", at most is " << f.number << "."; break;
    case Mistake::option_out_of_range:
      t << f.option << " is ";
      detail::write_number(t, f.real);
      t << ", has to be " << f.bounds << '.';
      break;
    case Mistake::none: break;
  }
  return t << f.where;
}

}  // namespace tt
