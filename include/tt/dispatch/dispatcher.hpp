// The dispatcher: a table of operators, each with a kernel for every dispatch key. A call takes the
// keys of its arguments and of the thread, and runs the kernel of the highest key that has one; that
// kernel may call the next one below (redispatch). Kernels, operators and whole backends may be
// registered from outside:
//   tt::Operator& op = tt::Dispatcher::get().find("silu");
//   op.set_kernel(tt::DispatchKey::private_use1, my_silu);
#pragma once
#include <cstring>
#include <span>
#include <string_view>

#include "tt/core/bit_set.hpp"
#include "tt/core/kept_text.hpp"
#include "tt/core/small_vec.hpp"
#include "tt/core/tensor.hpp"
#include "tt/dispatch/name_table.hpp"
#include "tt/graph/graph.hpp"

namespace tt {

/// Calls with up to this many Tensors and results allocate no memory.
inline constexpr int few_arguments = 8, few_results = 16;

/// The arguments of a call that are not Tensors, in the order of the operator's schema. Floating
/// numbers are kept as their bits.
struct Attributes {
  SmallVec<std::int64_t, 12> value;
  Vec<Extent> expression;  ///< of values that are symbolic sizes of a capture; 0, or past the end, for others
  int size() const { return value.size(); }
  template <std::integral T>
  void push(T v) { value.push_back(static_cast<std::int64_t>(v)); }
  void push(const Size& s) {
    value.push_back(s.hint());
    if (s.is_expression()) [[unlikely]] express(size() - 1, s.extent());
  }
  void push(const IntList& list) {  // its length, then the numbers
    push(list.size());
    for (std::int64_t v : list.hints()) push(v);
    for (int k = 0; list.has_expressions() && k < list.size(); ++k)
      if (list.is_expression(k)) express(size() - list.size() + k, list.extent(k));
  }
  void express(int at, Extent e) {
    while (expression.size() <= at) expression.push_back(0);
    expression[at] = e;
  }
  mutable BitSet heeded;  ///< values that the op has read by extent(), so that it records their expressions
  bool is_expression(int at) const { return at < expression.size() && !expression[at].is_constant(); }
  /// A value that is a size, as it is recorded. (Clamped, as codes of expressions are numbers that no size can be.)
  Extent extent(int at) const {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    heeded.set(at);
    if (is_expression(at)) return expression[at];
    return value[at] > most ? most : value[at] < -most ? -most : value[at];
  }
  /// The extents of a list.
  Shape extents(int at) const {
    Shape s;
    for (int k = 0; k < value[at]; ++k) s.push_back(extent(at + 1 + k));
    return s;
  }
  IntList list(int at) const {
    return IntList(std::span<const std::int64_t>(value.data() + at + 1, static_cast<std::size_t>(value[at])));
  }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.size() == b.size() &&
           std::memcmp(a.value.data(), b.value.data(), sizeof(std::int64_t) * static_cast<std::size_t>(a.size())) == 0 &&
           a.expression == b.expression;
  }
};
inline const Attributes no_attributes{};

class Operator;

namespace detail {

/// The number of letters inserted, left out or changed between two words (Levenshtein).
inline int edit_distance(const char* a, const char* b) {
  const int n = static_cast<int>(std::strlen(b));
  Vec<int> row(n + 1, 0);
  for (int j = 0; j <= n; ++j) row[j] = j;
  for (int i = 1; *a; ++a, ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; ++j) {
      int best = diagonal + (*a != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[n];
}

/// Reads the arguments of an operator's schema in turn, in PyTorch's schema language; a Scalar is a number or a Tensor, a number is never a Tensor:
/// "Tensor input, Scalar alpha=1, Tensor? weight=None, int[2] stride=1, int[] dim=[], float eps=1e-05, bool keepdim=False".
struct SchemaReader {
  std::string_view rest;
  std::string_view type{}, name{};
  std::string_view left_out{};  ///< the default; empty: the argument must be given
  bool is_operand() const { return type.starts_with("Tensor") || type == "Scalar" || type == "number"; }
  bool next() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',')) rest.remove_prefix(1);
    if (rest.empty()) return false;
    std::size_t end = 0;
    for (bool in_list = false; end < rest.size() && (in_list || rest[end] != ','); ++end) in_list = rest[end] == '[' || (in_list && rest[end] != ']');
    const std::size_t space = rest.find(' ');
    type = rest.substr(0, space);
    name = rest.substr(space + 1, end - space - 1);
    const std::size_t equals = name.find('=');
    left_out = equals == std::string_view::npos ? std::string_view{} : name.substr(equals + 1);
    name = name.substr(0, equals);
    rest = rest.substr(end);
    return true;
  }
};
/// The name of an operand in a schema; its number if it is in a list, or the schema does not name it.
inline Text operand_name(const char* schema, int number) {
  SchemaReader r{schema};
  for (int k = 0; r.next();) {
    if (!r.is_operand()) continue;
    if (r.type.starts_with("Tensor[")) break;
    if (k++ < number) continue;
    Text t;
    for (const char c : r.name) t << c;
    return t;
  }
  return Text() << number;
}
/// The schema of an op of `tensors` Tensors, named input, other, argument2 ..., followed by the arguments of `rest`.
inline const char* schema_of(int tensors, std::string_view rest) {
  Text t;
  for (int k = 0; k < tensors; ++k) {
    t << (k ? ", " : "") << "Tensor ";
    if (k < 2) t << (k ? "other" : "input");
    else t << "argument" << k;
  }
  if (tensors > 0 && !rest.empty()) t << ", ";
  for (char c : rest) t << c;
  return keep_text(t.begin(), static_cast<std::size_t>(t.size()));
}

}  // namespace detail

/// One call: arguments in, results out. Lives on the caller's stack; nothing is counted or copied.
struct Call {
  const Operator* op = nullptr;
  const Tensor* const* argument = nullptr;
  int arguments = 0;
  const Attributes* attributes = &no_attributes;
  Tensor* result = nullptr;
  SourceLine at{};
  KeySet keys{};  ///< left for this kernel and those below it
  const Tensor* into = nullptr;  ///< of an op in place or with `out`: a kernel may write its result there, and return this Tensor as the result

  const Tensor& operator[](int i) const { return *argument[i]; }
  /// Tensor number k of the schema; null if it was left out.
  inline const Tensor* optional(int k) const;
  const Attributes& attrs() const { return *attributes; }
};

using OpKernel = void (*)(Call&, void* context);

/// A step of backward through an operator without a graph. Floating arguments and results are Meta Tensors (dtypes and
/// shapes only), unless the op has `static constexpr bool keeps_values = true`; integer and bool ones keep their elements, which say
/// where elements went.
struct DerivativeStep {
  const Operator* op = nullptr;
  const Attributes* attributes = &no_attributes;
  const Tensor *argument = nullptr, *result = nullptr;
  int arguments = 0;
  const Tensor* gradient = nullptr;  ///< of the results; undefined: zero
  OutGradients<Tensor> out{};        ///< gradients of the arguments; undefined: none
  SourceLine at{};                   ///< of the call
  int only = -1;                     ///< of a variadic op: the one argument whose gradient is wanted, in out[0]; shapes of all are known

  /// The index among `argument` and `out` of Tensor number k of the op's `arguments`; -1 if it was left out.
  inline int place(int k) const;
};
/// Calls ops, so it can be differentiated itself.
using OpDerivative = void (*)(const DerivativeStep&);

/// Records an operator in a graph: gets the nodes of the arguments, and sets the nodes of the results.
using RecordFunction = void (*)(Graph&, const Operator&, std::span<const int> arguments, const Attributes&, int* results);

/// The C++ function of an operator's name, on the arguments of a call: it may check them before the kernel runs.
using OpFront = void (*)(Call&);

class Operator {
 public:
  explicit Operator(const char* name, const void* definition = nullptr) : name_(copy_of(name)), definition_(definition) {}
  Operator(const Operator&) = delete;

  const char* name() const { return name_; }
  int arguments = 1, results = 1;
  int optional = 0;                  ///< number of arguments, the last ones, that may be left out: the first attribute is then the set of those given
  bool variadic = false;             ///< takes any number of Tensors, at least one
  const char* schema = "Tensor input";  ///< see detail::SchemaReader
  RecordFunction record = nullptr;        ///< null: cannot be part of a graph
  RecordFunction record_named = nullptr;  ///< of an op with options: as one node, see graph/decompose.hpp
  OpDerivative derivative = nullptr;      ///< of an op without a graph
  OpFront front = nullptr;                ///< run by calls by name; null: they run the kernel directly
  bool keeps_values = false;         ///< its derivative reads elements of floating arguments and results, so the tape keeps them
  bool is_view = false;              ///< the CPU kernel makes a view of argument 0
  bool cuts_history = false;         ///< its result has no gradient
  bool numbers_are_elements = false; ///< numbers among its Tensors are elements of the first one: its dtype has to hold them
  bool elementwise = false;          ///< an element of a result depends on the elements of the broadcast operands at the same index
  bool materializes = false;             ///< its result has the elements of argument 0, contiguous
  Op primitive = Op::input;          ///< the primitive, if it is one
  const OpDef* body = nullptr;       ///< of an op with a body
  const OpDef* external = nullptr;   ///< of an op with a kernel that can be a node of a graph

  struct Slot {
    std::atomic<OpKernel> kernel{nullptr};
    void* context = nullptr;
    bool fall_through = false;
  };
  /// Sets the arguments, in PyTorch's schema language. The caller keeps the text alive.
  void set_schema(const char* text) {
    schema = text;
    arguments = optional = 0;
    for (detail::SchemaReader s{text}; s.next();) {
      arguments += s.is_operand();
      optional += s.type == "Tensor?";
      variadic = variadic || s.type == "Tensor[]";
    }
  }
  /// Sets the kernel for a key, in place of an earlier one.
  void set_kernel(DispatchKey k, OpKernel kernel, void* context = nullptr) { set(slot_for(k), kernel, context); }
  /// Sets the kernel of every backend: of the named ones, and of registered ones (now or later) that have no kernel of their own.
  void set_backend_kernel(OpKernel kernel, void* context = nullptr) {
    for (int k = 0; k < named_devices; ++k) set(slot_[k], kernel, context);
    set(every_device_, kernel, context);
  }
  /// Calls with this key go on to the next key below.
  void set_fall_through(DispatchKey k) { slot_for(k).fall_through = true; }
  const Slot& slot(DispatchKey k) const {
    const int i = static_cast<int>(k);
    if (i < named_devices) return slot_[i];
    if (i >= most_devices) return slot_[i - most_devices + named_devices];
    if (const Slot* own = devices_.load(std::memory_order_acquire)) {
      const Slot& s = own[i - named_devices];
      if (s.fall_through || s.kernel.load(std::memory_order_acquire)) return s;
    }
    return every_device_;
  }
  /// The address of the op definition, or of the function, that it was made from.
  const void* definition() const { return definition_; }
  /// Cached by autograd: the arguments (of these dtypes) and results that the derivative reads if the arguments in `required` have gradients.
  struct ReadArguments {
    SmallVec<DType, 4> dtype;
    BitSet required, read, results;
    const ReadArguments* next = nullptr;  ///< an earlier entry
  };
  mutable std::atomic<const ReadArguments*> read_arguments{nullptr};

 private:
  const char* name_;
  const void* definition_;
  Slot slot_[named_devices + dispatch_key_count - most_devices];  ///< of named devices, then of the keys above all devices
  Slot every_device_;                                             ///< of registered devices that have no kernel of their own
  std::atomic<Slot*> devices_{nullptr};                           ///< of each registered device, once one has a kernel; never freed, as operators

  Slot& slot_for(DispatchKey k) {
    const int i = static_cast<int>(k);
    if (i < named_devices) return slot_[i];
    if (i >= most_devices) return slot_[i - most_devices + named_devices];
    Slot* all = devices_.load(std::memory_order_acquire);
    if (!all) {
      Slot* const fresh = new Slot[most_devices - named_devices];
      if (devices_.compare_exchange_strong(all, fresh, std::memory_order_acq_rel)) all = fresh;
      else delete[] fresh;
    }
    return all[i - named_devices];
  }
  static void set(Slot& s, OpKernel kernel, void* context) {
    s.context = context;
    s.fall_through = false;
    s.kernel.store(kernel, std::memory_order_release);
  }
  static const char* copy_of(const char* name) {
    const std::size_t n = std::strlen(name) + 1;
    char* copy = new char[n];
    std::memcpy(copy, name, n);
    return copy;
  }
};

inline const Tensor* Call::optional(int k) const {
  const int place = place_of_argument(op->optional > 0 ? attributes->value[0] : -1, k, arguments);
  return place < 0 ? nullptr : argument[place];
}
inline int DerivativeStep::place(int k) const { return place_of_argument(op->optional > 0 ? attributes->value[0] : -1, k, arguments); }

/// This thread's changes to every key set: keys added, and keys left out.
struct DispatchState {
  KeySet include, exclude;
  bool grad_enabled = true, inference = false;
  std::uint64_t capture = 0;  ///< the number of the running capture
  detail::InPlace* in_place = nullptr;  ///< the method whose elementwise op comes next
  static DispatchState& of_this_thread() {
    thread_local DispatchState state;
    return state;
  }
};
/// Adds keys while it lives.
class IncludeKeys {
 public:
  explicit IncludeKeys(KeySet k) : before_(DispatchState::of_this_thread().include) {
    DispatchState::of_this_thread().include = before_ | k;
  }
  IncludeKeys(const IncludeKeys&) = delete;
  ~IncludeKeys() { DispatchState::of_this_thread().include = before_; }

 private:
  KeySet before_;
};
/// Leaves keys out while it lives.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(KeySet k) : before_(DispatchState::of_this_thread().exclude) {
    DispatchState::of_this_thread().exclude = before_ | k;
  }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ~ExcludeKeys() { DispatchState::of_this_thread().exclude = before_; }

 private:
  KeySet before_;
};

namespace detail {

/// Is this on the host, and are ops on it neither recorded nor differentiated nor batched? Then its elements may be read.
inline bool is_plain(const Tensor& x) {
  return !capture_mode && x.keys() == KeySet(DispatchKey::cpu) && DispatchState::of_this_thread().include.empty();
}

/// While it lives ops are computed at once, though a capture runs.
class PauseCapture {
 public:
  PauseCapture() : mode_(capture_mode), include_(DispatchState::of_this_thread().include) {
    capture_mode = nullptr;
    DispatchState::of_this_thread().include = include_.without(DispatchKey::trace);
  }
  PauseCapture(const PauseCapture&) = delete;
  ~PauseCapture() {
    capture_mode = mode_;
    DispatchState::of_this_thread().include = include_;
  }

 private:
  CaptureMode* mode_;
  KeySet include_;
};
/// Marks a Tensor as made in the running capture, from no Tensor outside it.
inline void stamp(const Tensor& t) { t.impl().capture = DispatchState::of_this_thread().capture; }

}  // namespace detail

class Dispatcher {
 public:
  static Dispatcher& get() {
    static Dispatcher* const dispatcher = new Dispatcher;
    return *dispatcher;
  }

  /// The operator of this name; throws Error, which suggests the most similar name, if there is none.
  Operator& find(const char* name) {
    if (Operator* op = lookup(name)) return *op;
    const char* alike = nullptr;
    int least = 3;
    each([&](const Operator& op) {
      if (const int d = detail::edit_distance(name, op.name()); d < least) {
        least = d;
        alike = op.name();
      }
    });
    Text t = Text("tt::Dispatcher: no operator is called '") << name << "'.";
    if (alike) t << " Did you mean '" << alike << "'?";
    else t << " Define it, or call tt::register_all_ops(), of <tt/dispatch/all_ops.hpp>, if it is one of the library?";
    TT_THROW(Error(t));
  }
  Operator* lookup(const char* name) {
    Node* n = nodes_.first(name);
    return n ? &n->op : nullptr;
  }
  /// The operator of this name, made if there is none: fill(op) sets it up before other threads see it. Its
  /// address never changes. Throws Error when another definition has the name.
  template <class Fill>
  Operator& define(const char* name, const void* definition, const Fill& fill) {
    const detail::FlagLock lock(busy_);
    Operator* op = lookup(name);
    if (!op) {
      Node* fresh = new Node(name, definition);
      fill(fresh->op);
      nodes_.add(fresh);
      op = &fresh->op;
    }
    if (op->definition() != definition)
      TT_THROW(Error(Text("tt: two ops are called '") << name << "'. Rename one of them."));
    return *op;
  }
  /// An operator without schema and kernels; the existing one, if it was defined in this way too.
  Operator& define(const char* name) {
    return define(name, nullptr, [](Operator&) {});
  }
  /// Sets the kernel for a key of operators that have none of their own for it.
  void set_fallback(DispatchKey k, OpKernel kernel, void* context = nullptr) {
    fallback_[static_cast<int>(k)].context = context;
    fallback_[static_cast<int>(k)].kernel.store(kernel, std::memory_order_release);
  }
  bool has_fallback(DispatchKey k) const { return fallback_[static_cast<int>(k)].kernel.load(std::memory_order_acquire); }

  /// Runs the kernel of the highest key of the arguments; throws Unavailable if there is none.
  void call(Call& c) {
    const DispatchState& state = DispatchState::of_this_thread();
    KeySet keys = state.include;
    for (int i = 0; i < c.arguments; ++i) {
      if (!c.argument[i]->defined()) undefined(*c.op, i, c.at);
      keys = keys | c.argument[i]->impl().keys;
    }
    c.keys = keys.without(state.exclude);
    redispatch(c);
  }
  /// Runs the kernel of the highest key left in `c.keys`.
  void redispatch(Call& c) {
    for (KeySet k = c.keys; !k.empty();) {
      const DispatchKey key = k.highest();
      k = k.below(key);
      const Operator::Slot& own = c.op->slot(key);
      if (own.fall_through) continue;
      const Operator::Slot* s = &own;
      OpKernel kernel = own.kernel.load(std::memory_order_acquire);
      if (!kernel) {
        s = &fallback_[static_cast<int>(key)];
        kernel = s->kernel.load(std::memory_order_acquire);
      }
      if (!kernel) {
        if (backend_keys.contains(key)) break;  // no other backend can read these Tensors
        continue;
      }
      if (backend_keys.contains(key) && !(k & backend_keys).empty()) check_devices(c);
      c.keys = k;
      count_dispatch();
      kernel(c, s->context);
      return;
    }
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no kernel for these Tensors" << in_words(c) << "." << c.at));
  }
  [[noreturn]] TT_NOINLINE static void undefined(const Operator& op, int argument, SourceLine at) {
    TT_THROW(Error(Text("tt::") << op.name() << ": argument " << detail::operand_name(op.schema, argument) << " is an undefined Tensor." << at));
  }
  /// How many kernels this thread has run so far: tests read it to know which path they took.
  static std::int64_t dispatches() { return dispatch_count(); }

  /// Every operator, in no order.
  template <class F>
  void each(const F& f) {
    nodes_.each([&](Node& n) { f(n.op); });
  }

 private:
  struct Node {
    Operator op;
    const char* name;
    Node* behind = nullptr;
    Node(const char* n, const void* definition) : op(n, definition), name(op.name()) {}
  };
  detail::NameTable<Node> nodes_;
  detail::BusyFlag busy_;
  Operator::Slot fallback_[dispatch_key_count];

  Dispatcher() = default;
  static std::int64_t& dispatch_count() {
    thread_local std::int64_t count = 0;
    return count;
  }
  /// Tensors of rank 0 may be on any device; all others must be on one.
  TT_NOINLINE static void check_devices(const Call& c) {
    const Tensor* first = nullptr;
    for (int i = 0; i < c.arguments; ++i) {
      if (c[i].dim() == 0) continue;
      if (!first) first = &c[i];
      if (!(c[i].device() == first->device()))
        TT_THROW(Error(Text("tt::") << c.op->name() << ": Tensors on different devices: " << to_text(first->device())
                       << " and " << to_text(c[i].device()) << "." << c.at));
    }
  }
  static void count_dispatch() { ++dispatch_count(); }
  static Text in_words(const Call& c) {
    Text t;
    for (int i = 0; i < c.arguments; ++i)
      t << (i ? ", " : ": ") << tt::name(c[i].dtype()) << ' ' << c[i].shape() << " on " << tt::name(c[i].device().type);
    return t;
  }
};

}  // namespace tt
