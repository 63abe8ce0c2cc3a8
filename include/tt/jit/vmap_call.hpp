// One call of a vmap: recorded in the graph as a function of batches inside a capture that records control flow, else run example by
// example; in chunks with chunk_size.
//   VmapCall call(body, options, at);   call.take(leaves_in(x));   std::vector<Tensor> results = call.run();
#pragma once
#include <algorithm>
#include <memory>
#include <string_view>

#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/random.hpp"
#include "tt/functional/view_ops.hpp"
#include "tt/jit/shared_arguments.hpp"

namespace tt {

/// The axis of an argument along which examples lie, or none: the argument is the same for all examples.
struct InDim {
  int dim = 0;
  bool mapped = true;
  constexpr InDim(int axis = 0) : dim(axis) {}
  constexpr InDim(NoneType) : mapped(false) {}
};
/// The axis of examples in the result, as the last template argument: tt::vmap<0, tt::none, tt::OutDim{1}>(f)(xs, w).
struct OutDim {
  int dim = 0;
};
/// The axis of examples in the results: one for all Tensors of the result, or one for each in turn.
struct OutDims {
  std::vector<int> dims;
  OutDims(int axis = 0) : dims{axis} {}
  OutDims(std::initializer_list<int> each) : dims(each) {}
};
struct VmapOptions {
  std::vector<InDim> in_dims{};         ///< of each argument, for all its Tensors; those that are not listed: 0
  OutDims out_dims = 0;
  std::string_view randomness = "error";  ///< "error": draws throw; "same", "different": random numbers for all examples, for each
  std::int64_t chunk_size = 0;          ///< so many examples at a time, in less memory; 0: all
};

namespace detail {

/// `t` with axis `from` moved to `to`.
inline Tensor moved_axis(const Tensor& t, int from, int to, const char* op, SourceLine at) {
  const int a = axis_of(t, from, op, at, t.dim()), b = axis_of(t, to, op, at, t.dim());
  if (a == b) return t;
  IntList axes;
  for (int k = 0; k < t.dim(); ++k)
    if (k != a) axes.push_back(k);
  IntList all;
  for (int k = 0, next = 0; k < t.dim(); ++k) all.push_back(k == b ? std::int64_t{a} : axes.value(next++));
  return t.permute(all, at);
}

/// A function from the Tensors of the arguments, in order, to those of the result, applied to all examples.
class VmapCall {
 public:
  using Body = CallableRef<std::vector<Tensor>(const std::vector<Tensor>&)>;
  VmapCall(Body f, const VmapOptions& options, SourceLine at) : f_(f), options_(options), at_(at) {}
  VmapCall(const VmapCall&) = delete;
  /// Takes the Tensors of the next argument, if it has any.
  TT_INLINE void take(const Leaves& argument);
  /// The results of all examples, along their out_dims.
  TT_INLINE std::vector<Tensor> run();

 private:
  Body f_;
  const VmapOptions& options_;
  SourceLine at_;
  int arguments_ = 0;
  std::vector<Tensor> given_;  ///< arguments; mapped ones with their examples along axis 0
  BitSet mapped_;              ///< indices in `given_`

  /// Sets example_run, the randomness of examples, while they run.
  struct Draws {
    ExampleRun own;
    Draws(std::string_view word, SourceLine at) : own{kind_of(word, at), example_run} { example_run = &own; }
    Draws(const Draws&) = delete;
    ~Draws() { example_run = own.outer; }
    void next_example() const {
      example_run->first = false;
      example_run->next = 0;
      example_run->examples.clear();
    }
    static ExampleRun::Kind kind_of(std::string_view word, SourceLine at) {
      if (word == "error") return ExampleRun::Kind::error;
      if (word == "same") return ExampleRun::Kind::same;
      if (word != "different") TT_THROW(Error(Text("tt::vmap: randomness is '") << std::string(word).c_str() << "'. One of error, same and different?" << at));
      return ExampleRun::Kind::different;
    }
  };
  const Tensor& first_example() const { return given_[static_cast<std::size_t>(*mapped_.begin())]; }
  TT_INLINE void check() const;
  TT_INLINE std::vector<Tensor> examples(CallableRef<Tensor(const Tensor&)> of_batch, CallableRef<Tensor(const Tensor&)> of_other) const;
  TT_INLINE SharedArguments shared_arguments() const;
  TT_INLINE void check_results(const std::vector<Tensor>& results) const;
  int out_dim(std::size_t result) const { return options_.out_dims.dims[options_.out_dims.dims.size() == 1 ? 0 : result]; }
  /// Results with axis 0 moved to their out_dims.
  TT_INLINE std::vector<Tensor> placed(std::vector<Tensor> results) const;
  TT_INLINE std::vector<Tensor> in_chunks();
  TT_INLINE std::vector<Tensor> recorded(Draws& draws);
  TT_INLINE std::vector<Tensor> record_body(const Tensor& seeds, bool in_graph);
  TT_INLINE std::vector<Tensor> one_by_one(const Draws& draws);
};

#if TT_DEFINES(jit)

TT_INLINE void VmapCall::take(const Leaves& argument) {
  const int k = arguments_++;
  const InDim in = k < static_cast<int>(options_.in_dims.size()) ? options_.in_dims[static_cast<std::size_t>(k)] : InDim(0);
  for (const Tensor* t : argument.tensor) {
    if (!in.mapped) {
      given_.push_back(*t);
      continue;
    }
    if (t->dim() == 0) TT_THROW(Error(Text("tt::vmap: argument ") << k << " has a Tensor without axes, and in_dims gives it one." << at_));
    mapped_.set(static_cast<int>(given_.size()));
    given_.push_back(moved_axis(*t, in.dim, 0, "vmap", at_));
  }
}
TT_INLINE void VmapCall::check() const {
  for (const int k : mapped_)
    if (given_[static_cast<std::size_t>(k)].impl().shape.code[0] != first_example().impl().shape.code[0])
      TT_THROW(Error(Text("tt::vmap: numbers of examples differ: ") << first_example().impl().shape[0] << " and " << given_[static_cast<std::size_t>(k)].impl().shape[0] << "." << at_));
  if (static_cast<int>(options_.in_dims.size()) > arguments_)
    TT_THROW(Error(Text("tt::vmap: ") << options_.in_dims.size() << " in_dims for " << arguments_ << (arguments_ == 1 ? " argument." : " arguments.") << at_));
  if (mapped_.empty()) TT_THROW(Error(Text("tt::vmap: no argument has examples. Give one of them an axis in in_dims?") << at_));
}
TT_INLINE std::vector<Tensor> VmapCall::run() {
  check();
  const std::int64_t chunk = options_.chunk_size;
  if (chunk < 0) TT_THROW(Error(Text("tt::vmap: chunk_size is negative: ") << chunk << "." << at_));
  if (chunk > 0 && first_example().size(0, at_) > chunk) return in_chunks();
  Draws draws(options_.randomness, at_);
  return records_control() ? recorded(draws) : one_by_one(draws);
}
/// The arguments with each Tensor replaced by of_batch(t) if it is mapped, else by of_other(t); undefined ones stay.
TT_INLINE std::vector<Tensor> VmapCall::examples(CallableRef<Tensor(const Tensor&)> of_batch, CallableRef<Tensor(const Tensor&)> of_other) const {
  std::vector<Tensor> all = given_;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].defined()) all[k] = mapped_.test(static_cast<int>(k)) ? of_batch(all[k]) : of_other(all[k]);
  return all;
}
TT_INLINE SharedArguments VmapCall::shared_arguments() const {
  SharedArguments shared;
  for (std::size_t k = 0; k < given_.size(); ++k)
    if (given_[k].defined() && !mapped_.test(static_cast<int>(k))) shared.add(given_[k]);
  return shared;
}
TT_INLINE void VmapCall::check_results(const std::vector<Tensor>& results) const {
  const std::size_t dims = options_.out_dims.dims.size();
  const auto defined = std::count_if(results.begin(), results.end(), [](const Tensor& t) { return t.defined(); });
  if (defined == 0) TT_THROW(Error(Text("tt::vmap: the function gives no Tensor.") << at_));
  if (static_cast<std::size_t>(defined) < results.size()) TT_THROW(Error(Text("tt::vmap: the function gives a Tensor that is undefined.") << at_));
  if (dims != 1 && dims != results.size()) TT_THROW(Error(Text("tt::vmap: ") << dims << " out_dims for " << results.size() << " results." << at_));
}
TT_INLINE std::vector<Tensor> VmapCall::placed(std::vector<Tensor> results) const {
  for (std::size_t k = 0; k < results.size(); ++k) results[k] = moved_axis(results[k], 0, out_dim(k), "vmap", at_);
  return results;
}
/// Joins the parts of each result by join(parts, index of the result).
inline std::vector<Tensor> join_parts(const std::vector<std::vector<Tensor>>& parts, CallableRef<Tensor(const std::vector<Tensor>&, std::size_t)> join) {
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < parts.size(); ++k) results.push_back(join(parts[k], k));
  return results;
}
inline void add_parts(std::vector<std::vector<Tensor>>& parts, const std::vector<Tensor>& results, SourceLine at) {
  if (parts.empty()) parts.resize(results.size());
  if (parts.size() != results.size())
    TT_THROW(Error(Text("tt::vmap: the function gives ") << parts.size() << " Tensors for one example, and " << results.size() << " for another." << at));
  for (std::size_t k = 0; k < results.size(); ++k) parts[k].push_back(results[k]);
}
TT_INLINE std::vector<Tensor> VmapCall::in_chunks() {
  const std::int64_t n = first_example().size(0, at_);
  VmapOptions own = options_;
  own.chunk_size = 0;
  std::vector<std::vector<Tensor>> parts;
  SharedArguments shared = shared_arguments();
  std::unique_ptr<Draws> draws;  // every chunk draws the same
  if (options_.randomness == "same") draws = std::make_unique<Draws>(options_.randomness, at_);
  for (std::int64_t begin = 0; begin < n; begin += options_.chunk_size) {
    const std::int64_t end = begin + options_.chunk_size < n ? begin + options_.chunk_size : n;
    VmapCall chunk(f_, own, at_);
    chunk.given_ = examples([&](const Tensor& t) { return t.slice(0, begin, end, 1, at_); }, [&](const Tensor& t) { return shared(t); });
    chunk.mapped_ = mapped_;
    chunk.arguments_ = arguments_;
    add_parts(parts, chunk.run(), at_);
    shared.check(at_);
    if (draws) draws->next_example();
  }
  return join_parts(parts, [&](const std::vector<Tensor>& list, std::size_t k) { return cat(list, out_dim(k), at_); });
}
/// Records the body once; twice if it draws: seeds are drawn before it, one for each draw, or one for each draw and example.
TT_INLINE std::vector<Tensor> VmapCall::recorded(Draws& draws) {
  const bool in_graph = !draws.own.outer && capture_mode->records_effects();
  std::size_t results = record_body({}, in_graph).size();
  std::vector<const Tensor*> operands;
  for (const int k : mapped_) operands.push_back(&given_[static_cast<std::size_t>(k)]);
  Tensor seeds;  // of the graph's draws
  if (in_graph && draws.own.next > 0) {
    const bool each = draws.own.kind == ExampleRun::Kind::different;
    const auto count = static_cast<std::int64_t>(draws.own.next);
    const Tensor places = each ? zeros({first_example().size(0, at_), count}, TensorOptions{}, at_) : zeros({count}, TensorOptions{}, at_);
    example_run = nullptr;
    seeds = call_with<DrawSeed<>>(at_, {}, places);
    example_run = &draws.own;
    if (each) operands.push_back(&seeds);
    draws.own.next = 0;
    results = record_body(seeds, true).size();
  }
  std::vector<Tensor> result(results);
  capture_mode->transform({TransformCall::vmap, operands.data(), static_cast<int>(operands.size()), result.data(), static_cast<int>(result.size()), at_});
  return placed(static_cast<std::vector<Tensor>&&>(result));
}
TT_INLINE std::vector<Tensor> VmapCall::record_body(const Tensor& seeds, bool in_graph) {
  RecordedRegion region;
  if (in_graph) example_run->region = DispatchState::of_this_thread().capture;
  const std::vector<Tensor> stand_ins = examples([](const Tensor& t) { return capture_mode->region_input(t, true); }, [](const Tensor& t) { return t; });
  if (seeds.defined()) example_run->recorded_seeds = example_run->kind == ExampleRun::Kind::different ? capture_mode->region_input(seeds, true) : seeds;
  const std::vector<Tensor> results = f_(stand_ins);
  check_results(results);
  region.close(results);
  return results;
}
TT_INLINE std::vector<Tensor> VmapCall::one_by_one(const Draws& draws) {
  const std::int64_t n = first_example().impl().shape.code[0];
  if (n == 0) TT_THROW(Error(Text("tt::vmap: there is no example.") << at_));
  std::vector<std::vector<Tensor>> parts;
  SharedArguments shared = n > 1 ? shared_arguments() : SharedArguments();
  for (std::int64_t row = 0; row < n; ++row) {
    const std::vector<Tensor> results = f_(examples([&](const Tensor& t) { return example_run->examples.emplace_back(t.select(0, static_cast<int>(row), at_)); },
                                                    [&](const Tensor& t) { return shared(t); }));
    check_results(results);
    shared.check(at_);
    add_parts(parts, results, at_);
    draws.next_example();
  }
  return placed(join_parts(parts, [&](const std::vector<Tensor>& list, std::size_t) { return stack(list, 0, at_); }));
}

#endif

}  // namespace detail
}  // namespace tt
