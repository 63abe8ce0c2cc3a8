// Node: one op of a graph; Ids: a list of node ids, such as operands; OpDef: how graphs know an op that is no primitive.
//   g[id].op, g[id].shape, g.operands(id), g.attributes<SliceAttribute>(id)
#pragma once
#include "tt/core/error.hpp"
#include "tt/graph/attributes.hpp"
#include "tt/ops/define.hpp"

namespace tt {

struct Graph;
struct OpDef;
class Operator;  // of the dispatcher: graphs only pass it on

/// Operands stored in the node itself. Graph::operands gives the operands of any node, however many.
inline constexpr int inline_operands = 4;

/// A list of nodes owned by something else: {a, b}, a Vec, or the operands of a node.
struct Ids {
  const int* first = nullptr;
  int count = 0;
  constexpr Ids() = default;
  constexpr Ids(const int* ids, int n) : first(ids), count(n) {}
  constexpr Ids(const Vec<int>& ids) : first(ids.items), count(ids.size()) {}
  constexpr Ids(std::initializer_list<int> ids) : first(begin_of(ids)), count(static_cast<int>(ids.size())) {}
  constexpr int operator[](int k) const { return first[k]; }
  constexpr int size() const { return count; }
  constexpr const int* begin() const { return first; }
  constexpr const int* end() const { return first + count; }

 private:
  static constexpr const int* begin_of(std::initializer_list<int> ids) { return ids.begin(); }  // arguments outlive the call: used there directly, g++ warns
};

/// A copy of operands, to keep while nodes are recorded: recording moves the lists of a graph.
constexpr Vec<int> copied(Ids operands) {
  Vec<int> to;
  to.append(operands.first, operands.count);
  return to;
}

struct Node {
  Op op = Op::input;
  DType dtype = DType::f32;
  int operand[inline_operands] = {-1, -1, -1, -1};  ///< the first ones; -1 where there is none
  int operand_count = 0;       ///< set by Graph::intern
  int more = -1;               ///< index of all operands in the graph's list, if they are more than inline_operands
  int attributes = -1;         ///< index of the words of the op's attribute struct in the graph's list
  int identity = 0;            ///< nodes of different identities are never merged, however equal; 0: no identity; negative: see is_step
  std::int64_t attribute = 0;  ///< one integer: the number of an input, an axis, a shift, a set of axes, the kind of a copy
  std::uint64_t bits = 0;      ///< a constant's value, see encode(); flags of a reduction; of an op with several results: the result's index
  const OpDef* def = nullptr;  ///< of Op::call
  std::uint64_t def_id = 0;    ///< of `def`: UBSan of g++ 12 rejects comparing addresses in constants
  Shape shape{};
  SourceLine where{};
};
/// Is the node a step of a program? See Graph::records_steps.
constexpr bool is_step(const Node& n) { return n.identity < 0; }

/// An option of an op over graphs, as a member of its Options; see functional/structured.hpp.
struct OptionField {
  enum class Kind : std::uint8_t { boolean, integer, real, size, dtype };
  const char* name = "";
  int name_size = 0;
  Kind kind = Kind::integer;
  int most = 1;                         ///< most elements of a list
  bool list = false, optional = false;  ///< as words: a list follows its length; an optional option follows a flag, whether it is given
};
struct OptionFields {
  const OptionField* first = nullptr;
  int count = 0;
  constexpr const OptionField* begin() const { return first; }
  constexpr const OptionField* end() const { return first + count; }
};

/// How an op with a kernel takes a batch of examples (graph/batch.hpp): not at all; with a new axis 0 of all operands and results; the same with its option
/// `dim` increased by 1; or like the latter, but with operand 1, an index, shared by all examples.
enum class Batching { none, in_front, along_dim, shared_index };

/// The definition of an op with a body or a kernel, as graphs know it: of C++ ops made once per op by op_def<F> in graph/sym.hpp.
struct OpDef {
  OpInfo info{};                       ///< arity of an op over graphs: optional operands included
  std::uint64_t id = 0;                ///< from the name of its type
  int code = -1;                       ///< index in OpaqueOps (intrinsics), or -1: inlined before scheduling
  int direct = -1;                     ///< index in DirectOps, or -1
  bool has_rule = false;               ///< `differentiate` is set (UBSan of g++ 12 rejects the comparison with null)
  bool has_integer_form = false;       ///< `of_integers` is set
  int (*record)(const OpDef&, Graph&, const int* operands) = nullptr;  ///< records the body on these operands
  /// From an adjoint of each result (-1: none; `node` is one of the results) to the adjoints of the operands.
  void (*differentiate)(Graph&, int node, const int* adjoints, int* contributions) = nullptr;
  void (*enlist)() = nullptr;  ///< of an intrinsic: see enlist()
  const OpDef& (*of_integers)() = nullptr;  ///< the op that replaces this one for integer operands
  const Graph* regions = nullptr;           ///< the body of an op parsed from text; the regions of control flow: see graph/control.hpp
  int region_count = 0;

  // ---- of an op over graphs, with a body or with a kernel; see graph/decompose.hpp
  bool is_named = false;               ///< the members below are set
  bool is_external = false;            ///< computed by its operator's kernel; `decompose` records values with the dtypes and shapes of its results
  const Operator& (*external)() = nullptr;  ///< if is_external: that operator
  Batching batching = Batching::none;
  Vec<std::int64_t> (*next_dim)(const std::int64_t* words) = nullptr;  ///< its options with `dim` increased by 1
  /// Of an op that takes elements of operand 0 along its option `dim` at indices in operand 1 (negative: from the end, if its option `wrap` says so): the op
  /// that checks the indices and gives them as i64, from the beginning; null where another kernel has replaced the op's. See plan/take_calls.hpp.
  const OpDef* (*check_places)() = nullptr;
  bool may_share = false;              ///< of an op with a kernel: its result may be one of its operands
  bool is_linear = false;              ///< of an op with a kernel: linear in all floating operands together. Its tangent is the op on their tangents
  /// Does a result depend on an operand, as far as derivatives go? Null: every result on every operand.
  bool (*flows)(const OpDef&, int result, int operand) = nullptr;
  int optional = 0, results = 1;       ///< how many of the last operands may be left out; how many results
  bool any_number = false;             ///< takes any number of operands, at least one
  void (*decompose)(const OpDef&, Graph&, Ids operands, const std::int64_t* words, int* results) = nullptr;  ///< records the body on these operands
  OptionFields (*options)() = nullptr;
};

/// The ops with a kernel that the program has called or registered, as a linked list.
struct ExternalOp {
  const OpDef* def = nullptr;
  const ExternalOp* next = nullptr;
};
namespace detail {
inline const ExternalOp* external_ops = nullptr;
inline void note_external(ExternalOp& op) {
  op.next = __atomic_load_n(&external_ops, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(&external_ops, &op.next, &op, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
}
}  // namespace detail

/// Run-time kernels are compiled only into programs that use them: a file that records an intrinsic, a product or a reduction outside of a constant
/// expression instantiates its kernels by these functions. Weak: a file that has no backend, or gets kernels from tt::compiled, needs no definition.
/// Defined in backends/cpu.
template <class F>
[[gnu::weak]] void enlist_op();
template <class = void>
[[gnu::weak]] void enlist_products();
template <Op K>
[[gnu::weak]] void enlist_reduction();

namespace detail {

inline constexpr int max_opaque_ops = 64;
inline const OpDef* enlisted_ops[max_opaque_ops] = {};
/// The number by which an instruction calls an op: its index in OpaqueOps, or max_opaque_ops + its index in DirectOps; -1: it has no loop of its own.
constexpr int call_code(const OpDef& op) { return op.code >= 0 ? op.code : op.direct >= 0 ? max_opaque_ops + op.direct : -1; }

inline void call_if_defined(void (*f)()) {
  void (*const volatile given)() = f;  // volatile: compilers assume that a function's address is not null
  if (auto* const defined = given) defined();
}
/// Notes that a graph of this program has this intrinsic, and instantiates its kernels.
inline void enlist(const OpDef& def) {
  if (def.code < 0) return;
  __atomic_store_n(&enlisted_ops[def.code], &def, __ATOMIC_RELEASE);
  call_if_defined(def.enlist);
}
/// Instantiates the kernels of nodes of this op if a program records them at run time. The functions that users record with call it; passes, which every
/// program has, do not, except for sums that gradients need.
template <Op K>
constexpr void enlist_kernels() {
  if (std::is_constant_evaluated()) return;
  if constexpr (K == Op::matmul) {
    call_if_defined(&enlist_products<>);
    call_if_defined(&enlist_reduction<Op::sum>);  // products with vectors
  } else {
    call_if_defined(&enlist_reduction<K>);
  }
}
[[noreturn]] inline void not_enlisted(const char* op) {
  TT_THROW(Error(Text("tt: this program has no code for ") << op << ": no file that includes tt/tt.hpp records it at run time. "
                 "Link tt::compiled, or record the graph in such a file?"));
}
inline void check_isa(const char* given, const char* own) {
  const char *a = given, *b = own;
  while (*a && *a == *b) ++a, ++b;
  if (*a != *b)
    TT_THROW(Error(Text("tt: files with Tensors are built for different CPUs, ") << given << " and " << own
                   << ". Build them with the same flags, or link tt::compiled?"));
}

}  // namespace detail

/// An integer as bits, also where a double would not hold it exactly: rounded once, as in C++.
constexpr std::uint64_t encode_integer(DType dtype, std::int64_t value);
/// A number in a dtype, as bits: floats as their pattern, integers and bool as themselves. A number of a narrow dtype has the bits of its compute dtype.
constexpr std::uint64_t encode(DType dtype, double value) {
  switch (dtype) {
    case DType::f16: return std::bit_cast<std::uint32_t>(float(float16(value)));
    case DType::bf16: return std::bit_cast<std::uint32_t>(float(bfloat16(value)));
    case DType::u8: case DType::i8: case DType::i16: return encode_integer(dtype, holds(DType::i64, value) ? static_cast<std::int64_t>(value) : INT64_MIN);
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<std::uint64_t>(value);
    case DType::i32: return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
    case DType::i64: return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    case DType::boolean: break;
  }
  return value != 0;
}
constexpr std::uint64_t encode_integer(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::f16: case DType::bf16: return encode(dtype, static_cast<double>(value));
    case DType::u8: return static_cast<std::uint8_t>(value);
    case DType::i8: return static_cast<std::uint64_t>(static_cast<std::int8_t>(value));
    case DType::i16: return static_cast<std::uint64_t>(static_cast<std::int16_t>(value));
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case DType::i32: return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
    case DType::i64: return static_cast<std::uint64_t>(value);
    case DType::boolean: break;
  }
  return value != 0;
}
/// The bits of the lowest value of a dtype; of floats -infinity.
constexpr std::uint64_t lowest_bits(DType dtype) {
  if (is_floating(dtype)) return encode(dtype, -__builtin_huge_val());
  return is_signed(dtype) ? encode_integer(dtype, INT64_MIN >> (64 - 8 * size_of(dtype))) : 0;
}
template <class T>
constexpr T decode(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, bool>) return bits != 0;
  else if constexpr (NarrowElement<T>) return static_cast<T>(decode<compute_t<T>>(bits));
  else return static_cast<T>(bits);
}
constexpr double decode(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f32: case DType::f16: case DType::bf16: return static_cast<double>(decode<float>(bits));
    case DType::f64: return decode<double>(bits);
    case DType::i32: case DType::u8: case DType::i8: case DType::i16: return static_cast<double>(decode<std::int32_t>(bits));
    case DType::i64: return static_cast<double>(decode<std::int64_t>(bits));
    default: return bits ? 1.0 : 0.0;
  }
}

/// Flags of amax and amin. gradient_to_first: the gradient goes to the first of equal elements, in row-major order, not evenly to all. gradient_to_nan: the
/// gradient of a NaN goes to the NaN, and is not NaN everywhere. reduced_further: the result is reduced again, and the outer reduction divides among the
/// equals of both.
inline constexpr std::uint64_t gradient_to_first = 1, gradient_to_nan = 4, reduced_further = 8;
/// Flag of a column reduction made by normalize: it replaces a row reduction of a transposed operand and sums in row order.
inline constexpr std::uint64_t in_row_order = 2;
/// Attributes of `copy`, besides 0. differentiated_by: a variable to differentiate by, removed before scheduling. materializing: materialises, in a kernel of its
/// own, an operand that is not contiguous along its reader's rows.
inline constexpr std::int64_t differentiated_by = 1, materializing = 2;
/// Attribute of a `detach` recorded under NoGrad: reverse mode ends there, forward mode does not (as in PyTorch).
inline constexpr std::int64_t under_no_grad = 1;
/// Bits of an input: see Graph::number_input.
inline constexpr std::uint64_t is_number_input = 1;
/// Attribute of a cast to a narrow dtype, of a scalar beside values of that dtype: ops that compute read the scalar before the cast, unrounded.
inline constexpr std::int64_t unrounded = 1;
/// Attribute of a broadcast that is read in place, from its operand's memory, through a reshape: made by normalize.
inline constexpr std::int64_t repeated_in_place = 1;
/// Attribute of a reshape of windows whose axes cannot be merged into one by strides; a matrix product reads them all the same.
inline constexpr std::int64_t read_as_windows = 1;
constexpr bool is_view(const Node& n) {
  return is_view(n.op) || (n.op == Op::broadcast && n.attribute == repeated_in_place);
}
/// Is this a result of an op over graphs, which has a node for each of its results?
constexpr bool is_named(const Node& n) { return n.op == Op::call && n.def->is_named; }
/// Is it computed by its operator's kernel, which no program contains?
constexpr bool is_external(const Node& n) { return is_named(n) && n.def->is_external; }
/// As far as derivatives go, does a node depend on its operand `k`?
constexpr bool flows_from(const Node& n, int k) { return n.op != Op::call || !n.def->flows || n.def->flows(*n.def, static_cast<int>(n.bits), k); }
/// Is it replaced by its body (decomposed)?
constexpr bool is_composite(const Node& n) { return is_named(n) && !n.def->is_external; }
}  // namespace tt
