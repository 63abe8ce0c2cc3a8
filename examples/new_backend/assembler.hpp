// The assembler of a simulated NPU: a graph of the library's, node by node, as kernels of its instruction set. Elementwise ops become
// instructions of the kernel that needs them, views become steps of the address unit, and a value gets memory of its own only where
// it must: reductions, products, what they and views read, and results.
//   if (Assembler::accepts(graph)) Assembly code = Assembler(graph, sizes).assemble();
#pragma once
#include <unordered_map>

#include "isa.hpp"

namespace npu {

/// Ops with bodies written out, down to the primitives; convolutions as products.
inline tt::Graph written_out(const tt::Graph& from) {
  tt::Graph g = tt::inline_bodies(from, true);
  for (;;) {
    bool any = false;
    for (const tt::Node& n : g.nodes) any = any || (n.op == tt::Op::call && !tt::is_external(n));
    if (!any) return g;
    tt::Graph r = tt::Graph::like(g);
    tt::Vec<int> map(g.size(), -1);
    for (const int i : g.inputs) map[i] = r.input_like(g, i);
    for (int i = 0; i < g.size(); ++i) {
      if (map[i] >= 0) continue;
      const tt::Vec<int> operands = tt::mapped(g.operands(i), map);
      const bool body = g[i].op == tt::Op::call && !tt::is_external(g[i]);
      map[i] = body ? r.broadcast_to(g[i].def->record(*g[i].def, r, operands.begin()), g[i].shape) : tt::again(r, g, g[i], operands);
    }
    for (int k = 0; k < g.outputs.size(); ++k) r.output(map[g.outputs[k]], g.donated[k]);
    g = tt::inline_bodies(r, true);
  }
}

class Assembler {
 public:
  Assembler(const tt::Graph& g, const tt::SymbolValues& sizes)
      : g_(g), sizes_(sizes), stored_(static_cast<std::size_t>(g.size())), operand_(stored_.size(), -1) {}

  // [accepts]
  /// The chip has no f64, no narrow types, and no ops that have a kernel instead of a body.
  static bool accepts(const tt::Graph& g) {
    if (g.failure) return false;
    for (const tt::Node& n : g.nodes) {
      if (n.dtype != tt::DType::f32 && n.dtype != tt::DType::i32 && n.dtype != tt::DType::i64 && n.dtype != tt::DType::boolean) return false;
      if (n.op == tt::Op::call || n.op == tt::Op::conv) return false;
    }
    for (int k = 0; k < g.outputs.size(); ++k)  // into an argument's memory: only what was computed, and only where that is dense
      if (const int into = g.donated[k]; into >= 0 && (g.is_strided(g.inputs[into]) || g[g.outputs[k]].op == tt::Op::input)) return false;
    return true;
  }
  // [/accepts]

  // [assemble]
  Assembly assemble() {
    find_stored();
    place_operands();
    for (int i = 0; i < g_.size(); ++i)
      if (stored_[at(i)] && g_[i].op != tt::Op::input) write(i, operand_[at(i)]);
    for (const bool donated : {false, true})  // what takes over an argument's memory comes last: nothing reads that any more
      for (int k = 0; k < g_.outputs.size(); ++k)
        if ((g_.donated[k] >= 0) == donated && written_[at(k)] < 0) copy(k);
    return std::move(code_);
  }
  // [/assemble]

 private:
  const tt::Graph& g_;
  const tt::SymbolValues& sizes_;
  std::vector<char> stored_;   ///< has memory of its own
  std::vector<int> operand_;   ///< then: which
  std::vector<int> written_;   ///< of each output: the node that writes it; -1: a copy does
  Assembly code_;
  // of the kernel that is written
  Kernel kernel_;
  int target_ = -1;
  std::unordered_map<int, int> register_of_;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  Sizes sizes_of(const tt::Shape& shape) const {
    Sizes s;
    for (int k = 0; k < shape.rank; ++k) s.push_back(shape[k].value(sizes_));
    return s;
  }
  /// Is the value what a place of its operand holds?
  static bool is_mapped(tt::Op op) { return tt::is_view(op) || op == tt::Op::broadcast; }
  /// What views of views are views of.
  int base_of(int i) const {
    while (is_mapped(g_[i].op)) i = g_[i].operand[0];
    return i;
  }

  // [stored]
  void find_stored() {
    for (int i = 0; i < g_.size(); ++i) {
      const tt::Node& n = g_[i];
      if (n.op == tt::Op::input || n.op == tt::Op::pad || tt::is_reduction(n.op) || n.op == tt::Op::matmul) stored_[at(i)] = 1;
      if (tt::is_view(n.op)) stored_[at(base_of(i))] = 1;
      if (n.op == tt::Op::pad) stored_[at(base_of(n.operand[0]))] = 1;
      if (n.op == tt::Op::slice_scatter) stored_[at(base_of(n.operand[1]))] = 1;
      for (const int o : g_.operands(n))
        if (n.op == tt::Op::matmul) stored_[at(base_of(o))] = 1;
    }
    for (int k = 0; k < g_.outputs.size(); ++k) stored_[at(g_.outputs[k])] = 1;
  }
  // [/stored]
  /// Inputs, then outputs that take over no argument's memory, then scratch memory.
  void place_operands() {
    const int inputs = g_.inputs.size();
    int next = inputs;
    for (int k = 0; k < inputs; ++k) operand_[at(g_.inputs[k])] = k;
    written_.assign(at(g_.outputs.size()), -1);
    for (int k = 0; k < g_.outputs.size(); ++k) {
      if (g_.donated[k] >= 0) continue;
      if (int& o = operand_[at(g_.outputs[k])]; o < 0) {
        o = next;
        written_[at(k)] = g_.outputs[k];
      }
      ++next;
    }
    for (int i = 0; i < g_.size(); ++i)
      if (stored_[at(i)] && operand_[at(i)] < 0) operand_[at(i)] = next++, reserve(g_[i]);
  }
  void reserve(const tt::Node& n) {
    code_.scratch.push_back(code_.scratch_bytes);
    code_.scratch_bytes += (at(static_cast<int>(count_of(sizes_of(n.shape)))) * static_cast<std::size_t>(tt::size_of(n.dtype)) + 63) / 64 * 64;
  }
  /// Of an output k that no kernel wrote where it is wanted.
  void copy(int k) {
    const int i = g_.outputs[k];
    int to = g_.donated[k];
    if (to < 0) {
      to = g_.inputs.size();
      for (int j = 0; j < k; ++j) to += g_.donated[j] < 0;
    }
    begin(sizes_of(g_[i].shape), -1, g_[i].dtype, to);
    end(value(i));
  }

  void begin(Sizes grid, int target, tt::DType type, int to) {
    kernel_ = {};
    kernel_.grid = std::move(grid);
    kernel_.type = type;
    kernel_.to = to;
    target_ = target;
    register_of_.clear();
  }
  void end(int result) {
    kernel_.result = result;
    code_.kernels.push_back(std::move(kernel_));
  }

  // [write]
  void write(int i, int to) {
    const tt::Node& n = g_[i];
    if (n.op == tt::Op::matmul) {
      begin(sizes_of(n.shape), i, n.dtype, to);
      kernel_.kind = Kernel::product;
      kernel_.a_shape = sizes_of(g_[n.operand[0]].shape);
      kernel_.b_shape = sizes_of(g_[n.operand[1]].shape);
      kernel_.places = {place_of(n.operand[0], kernel_.a_shape), place_of(n.operand[1], kernel_.b_shape)};
      return end(-1);
    }
    if (tt::is_reduction(n.op)) {
      const int a = n.operand[0], rank = g_[a].shape.rank;
      begin(sizes_of(g_[a].shape), i, n.dtype, to);
      kernel_.kind = Kernel::reduction;
      kernel_.reduce = n.op;
      kernel_.axes = static_cast<unsigned>(n.attribute);
      kernel_.row_order = (n.attribute >> (rank - 1) & 1) || (n.bits & tt::in_row_order);
      return end(value(a));
    }
    begin(sizes_of(n.shape), i, n.dtype, to);
    end(value(i));
  }
  // [/write]

  int emit(Instruction i) {
    i.to = kernel_.registers++;
    kernel_.code.push_back(i);
    return i.to;
  }
  int number(tt::DType type, std::uint64_t bits) { return emit({.code = Code::immediate, .type = type, .to_type = type, .bits = bits}); }

  /// The register that has the value at a place of the grid.
  int value(int i) {
    if (const auto known = register_of_.find(i); known != register_of_.end()) return known->second;
    const int r = compute(i);
    register_of_.emplace(i, r);
    return r;
  }
  // [node]
  int compute(int i) {
    const tt::Node& n = g_[i];
    if (stored_[at(i)] && i != target_) return load(i);
    switch (n.op) {
      case tt::Op::constant: return number(n.dtype, n.bits);
      case tt::Op::extent: return number(n.dtype, tt::encode_integer(n.dtype, tt::Extent::from_code(n.attribute).value(sizes_)));
      case tt::Op::iota: {
        if (n.shape[static_cast<int>(n.attribute)].value(sizes_) == 1) return number(n.dtype, 0);
        const auto axis = static_cast<std::int64_t>(kernel_.grid.size()) - n.shape.rank + n.attribute;
        return emit({.code = Code::index, .type = n.dtype, .to_type = n.dtype, .bits = static_cast<std::uint64_t>(axis)});
      }
      case tt::Op::broadcast: return stored_[at(base_of(i))] ? load(i) : value(n.operand[0]);
      case tt::Op::detach: return value(n.operand[0]);
      case tt::Op::slice_scatter: return load_part(i, n.operand[1], value(n.operand[0]));
      case tt::Op::reshape: case tt::Op::permute: case tt::Op::slice: case tt::Op::window: case tt::Op::pad: return load(i);
      default: return calculate(n);
    }
  }
  // [/node]
  int calculate(const tt::Node& n) {
    Instruction x{.code = code_of(n.op), .type = g_[n.operand[n.op == tt::Op::where ? 1 : 0]].dtype, .to_type = n.dtype};
    x.bits = static_cast<std::uint64_t>(n.attribute);
    const tt::Ids operands = g_.operands(n);
    int* const into[] = {&x.a, &x.b, &x.c};
    for (int k = 0; k < operands.size(); ++k) *into[k] = value(operands[k]);
    return emit(x);
  }
  static Code code_of(tt::Op op) {
    using enum tt::Op;
    switch (op) {
      case add: return Code::add;
      case sub: return Code::sub;
      case mul: return Code::mul;
      case div: return Code::div;
      case min: return Code::min;
      case max: return Code::max;
      case fma: return Code::fma;
      case neg: return Code::neg;
      case abs: return Code::abs;
      case sqrt: return Code::sqrt;
      case floor: return Code::floor;
      case ceil: return Code::ceil;
      case round: return Code::round;
      case trunc: return Code::trunc;
      case bit_and: case logical_and: return Code::bit_and;
      case bit_or: case logical_or: return Code::bit_or;
      case bit_xor: return Code::bit_xor;
      case logical_not: return Code::bit_not;
      case shift_left: return Code::shift_left;
      case shift_right: return Code::shift_right;
      case shift_right_logical: return Code::shift_right_logical;
      case lt: return Code::less;
      case le: return Code::less_equal;
      case eq: return Code::equal;
      case ne: return Code::not_equal;
      case where: return Code::select;
      case cast: return Code::convert;
      case copy: case bitcast: return Code::move;
      default: throw tt::Error(tt::Text("npu: no instruction for ") << tt::name(op) << '.');
    }
  }

  /// The steps of the address unit from a grid to the memory behind a chain of views.
  Place place_of(int i, const Sizes& grid) {
    Place p;
    if (const Sizes own = sizes_of(g_[i].shape); own != grid) p.steps.push_back({.kind = Step::align, .shape = own});
    while (!stored_[at(i)] || i == target_) {
      p.steps.push_back(step_of(i));
      i = g_[i].operand[0];
    }
    p.operand = operand_[at(i)];
    p.shape = sizes_of(g_[i].shape);
    if (g_.is_strided(i)) p.strides = sizes_of(g_.input_strides[static_cast<int>(g_[i].attribute)]);
    else p.strides = dense_strides(p.shape);
    p.dense = p.steps.empty() && !g_.is_strided(i);
    return p;
  }
  static Sizes dense_strides(const Sizes& shape) {
    Sizes s(shape.size(), 1);
    for (std::size_t k = shape.size(); k-- > 1;) s[k - 1] = s[k] * shape[k];
    return s;
  }
  Step step_of(int i) const {
    const tt::Node& n = g_[i];
    Step s{.shape = sizes_of(g_[n.operand[0]].shape)};
    switch (n.op) {
      case tt::Op::broadcast: s.kind = Step::align; break;
      case tt::Op::reshape: s.kind = Step::reshape, s.from = sizes_of(n.shape); break;
      case tt::Op::permute:
        s.kind = Step::permute;
        for (int k = 0; k < n.shape.rank; ++k) s.axes.push_back(g_.permuted_axis(n, k));
        break;
      case tt::Op::slice: {
        const auto a = g_.attributes<tt::SliceAttribute>(n);
        s.kind = Step::slice, s.axis = a.axis, s.start = a.start.value(sizes_), s.times = a.step;
        break;
      }
      case tt::Op::window: {
        const auto a = g_.attributes<tt::WindowAttribute>(n);
        s.kind = Step::window, s.axis = a.axis, s.start = a.dilation, s.times = a.step;
        break;
      }
      default: s = pad_step(i, n.operand[0]);
    }
    return s;
  }
  /// From where a value stands in a larger one to the value.
  Step pad_step(int i, int part) const {
    const auto a = g_.attributes<tt::PadAttribute>(g_[i]);
    Step s{.kind = Step::pad, .shape = sizes_of(g_[part].shape)};
    for (int k = 0; k < g_[part].shape.rank; ++k) s.axes.push_back(a.along(k).value(sizes_));
    return s;
  }
  int load(int i) {
    const int otherwise = i == target_ && g_[i].op == tt::Op::pad ? number(g_[i].dtype, g_[i].bits) : -1;
    kernel_.places.push_back(place_of(i, kernel_.grid));
    return emit({.code = Code::load, .type = g_[i].dtype, .to_type = g_[i].dtype, .a = otherwise, .bits = kernel_.places.size() - 1});
  }
  /// A value of which a part is another one.
  int load_part(int i, int part, int rest) {
    Place p = place_of(part, sizes_of(g_[part].shape));
    std::vector<Step> steps;
    if (const Sizes own = sizes_of(g_[i].shape); own != kernel_.grid) steps.push_back({.kind = Step::align, .shape = own});
    steps.push_back(pad_step(i, part));
    p.steps.insert(p.steps.begin(), steps.begin(), steps.end());
    p.dense = false;
    kernel_.places.push_back(std::move(p));
    return emit({.code = Code::load, .type = g_[i].dtype, .to_type = g_[i].dtype, .a = rest, .bits = kernel_.places.size() - 1});
  }
};

}  // namespace npu
