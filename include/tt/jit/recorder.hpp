// Recording mode: how a compiled function with graph breaks runs. Its ops are not run but listed; their
// results are Tensors with sizes and without elements. Where elements are asked for, what was listed runs as
// one segment (segments.hpp), those results that are still referenced get their elements, and the function
// goes on. Unlike a Tracer, which records once for all sizes, this happens at every call: so a step costs
// fractions of a microsecond and builds no graph.
//   Recorder r(store, arguments);   result = f(...);   r.finish("f", at);
#pragma once
#include "tt/jit/capture.hpp"

namespace tt {
namespace jit {

class SegmentStore;

class Recorder final : public detail::CaptureMode {
 public:
  enum class Kind : std::uint8_t { call, view, variable, gradients };
  struct Step {
    const Operator* op = nullptr;  ///< null: variable, gradients
    Kind kind = Kind::call;
    bool detached = false, grad_enabled = true;
    int operand = 0, operands = 0;  ///< places in operands()
    int result = 0, results = 1;    ///< values
    int word = 0, words = 0;        ///< attributes: places in words()
    SourceLine at{};
  };
  /// What a step reads or makes. Holds one reference: what has more is still in use.
  struct Value {
    Tensor tensor;
    Tensor real;            ///< of a view, where a later segment reads it
    int step = -1;          ///< that makes it; -1: it is there already
    int last_use = -1;      ///< the last step that reads it
    bool constant = false;  ///< a number of the program's text, or a fresh fill
    bool needed = false;    ///< once the segment has run
  };
  /// A Tensor that will be written when the segment has run.
  struct Update {
    int target = -1, value = -1;
  };

  TT_INLINE Recorder(SegmentStore& store, const Arguments& arguments, bool holds);
  Recorder(const Recorder&) = delete;
  TT_INLINE ~Recorder();
  /// The arguments as the function left them, in order; nothing is left of what was assigned to one.
  TT_INLINE void left(Tensor& t, bool constant);
  /// Arguments become what was assigned to them, all at once; then what is left runs.
  TT_INLINE void finish(const char* name, SourceLine at);

  TT_INLINE void record(Call& c) override;
  TT_INLINE void need(const Tensor& t, const char* op, SourceLine at) override;
  TT_INLINE bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) override;
  TT_INLINE void finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) override;
  void may_be_written(const Tensor& t) override { exposed_.push_back(t.impl().storage); }
  Device device() const override { return {}; }  // recorded Tensors are where they will be
  void open_gradient() override { marks_.push_back({}); }
  void close_gradient() override { marks_.pop_back(); }
  TT_INLINE Tensor variable(const Tensor& t) override;
  TT_INLINE bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) override;

  // ---- for segments
  const std::vector<Step>& steps() const { return lists_->steps; }
  std::vector<Value>& values() { return lists_->values; }
  const std::vector<int>& operands() const { return lists_->operands; }
  const std::vector<std::int64_t>& words() const { return lists_->words; }
  const std::vector<Update>& updates() const { return lists_->updates; }
  Attributes attributes(const Step& s) const {
    Attributes a;
    a.value.append(words().data() + s.word, s.words);
    return a;
  }
  /// The Tensor that holds a value once it has been computed.
  const Tensor& real(int value) const {
    const Value& v = lists_->values[static_cast<std::size_t>(value)];
    return v.real.defined() ? v.real : v.tensor;
  }
  /// Runs one step through the dispatcher.
  TT_INLINE void run_step(int step);
  /// Updates come last: until then their values are kept.
  void keep_updates() {
    for (const Update& u : updates()) values()[static_cast<std::size_t>(u.value)].last_use = static_cast<int>(steps().size());
  }
  /// Writes the updates whose values were made by steps [begin, end).
  TT_INLINE void write_updates(int begin, int end);
  /// A recorded Tensor gets the elements and the history of another one.
  TT_INLINE static void adopt(const Tensor& recorded, Tensor& from);

 private:
  struct Mark {
    int first = -1, count = 0;  ///< steps that made the variables of a gradient that is still to come
  };
  struct View {
    int value = -1, base = -1;
    const detail::TensorImpl* base_impl = nullptr;
    const detail::TensorImpl* root = nullptr;
  };
  /// Kept from call to call, so that a call allocates nothing here.
  struct Lists {
    std::vector<Step> steps;
    std::vector<Value> values;
    std::vector<int> operands;
    std::vector<std::int64_t> words;
    std::vector<Update> updates;
    std::vector<View> views;
    std::vector<std::pair<const detail::TensorImpl*, int>> table;  ///< Tensors that are there to values, by address
    int in_table = 0;
    std::vector<const void*> own;  ///< the handles and storages of arguments: a hash table, of a power of two
    TT_INLINE void clear();
  };
  static tt::detail::Spare<Lists>& spare() {
    thread_local constinit tt::detail::Spare<Lists> lists;
    return lists;
  }

  /// Has the function a pointer to elements of this Tensor? Then they may change after any of its lines.
  bool is_exposed(const Tensor& t) const {
    if (t.impl().trace_id >= 0) return false;
    for (const Storage* s : exposed_)
      if (s == t.impl().storage) return true;
    return false;
  }

  SegmentStore& store_;
  const Arguments& arguments_;
  const bool holds_;
  int left_ = 0, place_ = 0;
  std::vector<std::pair<Tensor, Tensor>> assigned_;  ///< arguments, and what was assigned to them
  std::vector<std::pair<const Tensor*, Tensor>> defined_;  ///< undefined ones
  std::unique_ptr<Lists> lists_;
  std::vector<Mark> marks_;
  std::vector<const Storage*> exposed_;  ///< some may have ended
  detail::CaptureMode* mode_before_;
  DispatchState state_before_;
  std::uint64_t number_ = 0;

  TT_INLINE bool is_recorded(const Tensor& t, SourceLine at) const;
  TT_INLINE int value_of(const Tensor& t, SourceLine at);
  TT_INLINE int add_input(const Tensor& t, SourceLine at);
  TT_INLINE int& place(const detail::TensorImpl* impl);
  TT_INLINE int find(const detail::TensorImpl* impl) const;
  TT_INLINE Tensor make(DType d, const Shape& s, const std::int64_t* strides, Device device, int step);
  TT_INLINE Step& add_step(const Operator* op, Kind kind, SourceLine at);
  TT_INLINE void add_operand(Step& s, int value);
  TT_INLINE void record_view(Call& c);
  static constexpr const char* exposed_in_words = ", to whose elements the function has a pointer";
  TT_INLINE void run_at_once(Call& c, const char* why);
  TT_INLINE bool is_foreign(const Tensor& t) const;
  TT_INLINE void note_arguments();
  TT_INLINE const void*& own_place(const void* p) const;
  bool is_own(const void* p) const { return own_place(p) != nullptr; }
  TT_INLINE bool conflicts(const Tensor& t) const;
  TT_INLINE bool has_views(const detail::TensorImpl& target) const;
  TT_INLINE const detail::TensorImpl* root_of(const detail::TensorImpl* impl) const;
  bool in_use(int value) const {
    return lists_->values[static_cast<std::size_t>(value)].tensor.impl().uses.load(std::memory_order_relaxed) > 1;
  }
  TT_INLINE void break_at(const Tensor& t, const char* op, SourceLine at, const char* why = "");
  TT_INLINE void flush();
  TT_INLINE void mark_needed();
  TT_INLINE void make_variables(const Mark& m);
  TT_INLINE void make_views();
};

}  // namespace jit
}  // namespace tt
