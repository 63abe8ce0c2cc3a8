// Reads graphs from the text that to_string writes, node by node, without simplification; `check` tells whether the graph is legal. Programs call tt::parse
// (functional/parse.hpp); this file has the parser, which finds ops by the function `find`.
#pragma once
#include <string_view>

#include "tt/core/size_expression.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/print.hpp"
#include "tt/graph/control.hpp"
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

using FindOp = const OpDef* (*)(std::string_view name);

class GraphParser {
 public:
  GraphParser(std::string_view text, FindOp find) : rest_(text), find_(find) {}

  Graph graph() {
    word("graph");
    if (const std::int64_t version = integer(); version != graph_text_version)
      TT_THROW(Error(Text("tt::parse: this is version ") << version << " of the text, and " << graph_text_version << " is read."));
    return nodes(Part::whole);
  }

 private:
  std::string_view rest_;
  FindOp find_;
  int line_ = 1, depth_ = 0;

  [[noreturn]] void fail(const char* what) {
    skip();
    Text found;
    for (std::size_t k = 0; k < rest_.size() && k < 24 && rest_[k] != '\n'; ++k) found << rest_[k];
    TT_THROW(Error(Text("tt::parse: line ") << line_ << ": expected " << what << ", found '" << found << "'."));
  }
  void skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\r' || rest_[0] == '\t')) {
      line_ += rest_[0] == '\n';
      rest_.remove_prefix(1);
    }
  }
  static bool in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
  /// Consumes `s` if it comes next; if `s` ends in a letter or digit, the word in the text must end there, too.
  bool accept(std::string_view s) {
    skip();
    if (!rest_.starts_with(s) || (in_name(s.back()) && rest_.size() > s.size() && in_name(rest_[s.size()]))) return false;
    rest_.remove_prefix(s.size());
    return true;
  }
  void word(const char* s) {
    if (!accept(s)) fail(s);
  }
  std::string_view name_of_something() {
    skip();
    std::size_t n = 0;
    while (n < rest_.size() && in_name(rest_[n])) ++n;
    if (n == 0) fail("a name");
    const std::string_view s = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return s;
  }
  bool at_digit() {
    skip();
    return !rest_.empty() && ((rest_[0] >= '0' && rest_[0] <= '9') || (rest_[0] == '-' && rest_.size() > 1 && rest_[1] >= '0' && rest_[1] <= '9'));
  }
  std::int64_t integer() {
    if (!at_digit()) fail("a number");
    const bool negative = rest_[0] == '-';
    if (negative) rest_.remove_prefix(1);
    const std::uint64_t most = negative ? std::uint64_t{1} << 63 : INT64_MAX;
    std::uint64_t v = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      const auto d = static_cast<std::uint64_t>(rest_[0] - '0');
      if (v > (most - d) / 10) fail("a number of 64 bits");
      v = 10 * v + d;
      rest_.remove_prefix(1);
    }
    return static_cast<std::int64_t>(negative ? 0 - v : v);
  }
  int number(std::int64_t most, const char* what) {
    const std::int64_t v = integer();
    if (v < 0 || v > most) fail(what);
    return static_cast<int>(v);
  }
  // ---- sizes
  /// Texts are untrusted: recursion has a limit, and numbers must be so small that products do not overflow.
  struct Deeper {
    int& depth;
    explicit Deeper(GraphParser& p) : depth(p.depth_) {
      if (++depth > 32) p.fail("less depth");
    }
    ~Deeper() { --depth; }
  };
  // A size expression is interned when an extent ends, not before: the WordTable never frees words. So these limits are checked first.
  static constexpr int most_terms = 256, most_products = 64, most_degree = 64, most_weight = 1 << 14;
  SizeSum factor() {
    const Deeper deeper(*this);
    if (at_digit()) {
      const std::int64_t n = integer();
      if (n > most_bytes || n < -most_bytes) fail("a size");
      return SizeSum(n);
    }
    for (const char* f : {"floor_div", "min", "max"})
      if (accept(f)) {
        word("(");
        const Extent a = extent();
        word(",");
        const GraphParser before = *this;
        const Extent b = extent();
        if (f[0] == 'f' && b.is_constant() && b.code < 1) GraphParser(before).fail("a positive divisor");
        word(")");
        return SizeSum(f[0] == 'f' ? floor_div(a, b) : f[1] == 'i' ? tt::min(a, b) : tt::max(a, b));
      }
    skip();
    if (rest_.empty() || rest_[0] != 's') fail("a size");
    rest_.remove_prefix(1);
    return SizeSum(Extent::symbol(number(1 << 20, "the number of a symbol")));
  }
  SizeSum term() {
    SizeSum e = factor();
    for (int k = 0; accept("*"); ++k) {
      const SizeSum by = factor();
      const bool counts = k < 16 && e.terms.size() * by.terms.size() <= most_products;
      if (!counts || (!e.terms.empty() && most_bytes / largest(e) < largest(by))) fail("a smaller product");
      SizeSum product;
      for (const SizeTerm& t : by.terms) product.add_product(e, t);
      e = static_cast<SizeSum&&>(product);
      if (!e.terms.empty() && e.terms[0].factors.size() > most_degree) fail("a smaller product");
    }
    return e;
  }
  /// The sum of the absolute values of a sum's coefficients: a bound on any coefficient, also of a product (the product of both bounds).
  static std::int64_t largest(const SizeSum& sum) {
    std::int64_t most = 0;
    for (const SizeTerm& t : sum.terms) most += t.coefficient < 0 ? -t.coefficient : t.coefficient;
    return most;
  }
  Extent extent() {
    SizeSum e = term();
    for (;;) {
      if (largest(e) > most_bytes || e.terms.size() > most_terms) fail("a smaller sum");
      if (accept("+ ")) e.add(term());
      else if (accept("- ")) e.add(term(), -1);
      else break;
    }
    const Extent whole = e.extent();
    if (size_weight(whole, most_weight) > most_weight) fail("a shorter size");
    return whole;
  }
  Shape shape() {
    Shape s;
    word("(");
    while (!accept(")")) {
      if (s.rank == max_rank) fail("a shape of lower rank");
      s.push_back(extent());
      if (!accept(",") && !(skip(), rest_.starts_with(')'))) fail(", or )");
    }
    return s;
  }
  // ---- nodes
  DType dtype() {
    const std::string_view s = name_of_something();
    for (int d = 0; d < dtype_count; ++d)
      if (s == name(static_cast<DType>(d))) return static_cast<DType>(d);
    fail("a dtype");
  }
  int operand(const Graph& g) {
    word("%");
    return number(g.size() - 1, "a node above");
  }
  /// The text of a constant, kept until its dtype, which follows it, has been read.
  struct Number {
    std::string_view text, from;  ///< from: the text and the rest of the input
    int line = 0;
    std::uint64_t bits = 0;
    bool exact = false;
  };
  Number number_read() {
    skip();
    std::size_t n = 0;
    while (n < rest_.size() && (in_name(rest_[n]) || rest_[n] == '-' || rest_[n] == '.')) ++n;
    if (n == 0) fail("a number");
    Number x{rest_.substr(0, n), rest_, line_};
    rest_.remove_prefix(n);
    if (accept("bits")) {
      skip();
      if (!rest_.starts_with("0x")) fail("bits as 0x...");
      rest_.remove_prefix(2);
      for (x.exact = true; !rest_.empty() && in_name(rest_[0]); rest_.remove_prefix(1)) {
        const char c = rest_[0];
        const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0 || x.bits >> 60) fail("bits as 0x...");
        x.bits = x.bits << 4 | static_cast<unsigned>(d);
      }
    }
    return x;
  }
  std::uint64_t bits_of(const Number& x, DType of) {
    const DType d = compute_dtype(of);
    GraphParser there(*this);
    there.rest_ = x.from;
    there.line_ = x.line;
    if (x.exact && (!is_floating(d) || x.bits >> (8 * size_of(d) - 1) >> 1)) there.fail("a number of its dtype");
    if (x.exact && (x.text == "nan" || x.text == "inf" || x.text == "-inf")) return x.bits;
    Text t;
    for (const char c : x.text) t << c;
    t << '\0';
    const char* end = t.begin();
    const double decimal = decimal_value(t.begin(), &end);
    const bool digits = there.at_digit() && x.text.back() >= '0' && x.text.back() <= '9';
    if (!digits || end != t.begin() + x.text.size()) there.fail("a number");
    if (is_floating(d)) return x.exact ? x.bits : encode(d, decimal);
    GraphParser whole(there);
    const std::int64_t v = whole.integer();
    const bool fits = d == DType::boolean ? v == 0 || v == 1 : d == DType::i64 || (v >= INT32_MIN && v <= INT32_MAX);
    if (!fits || whole.rest_.size() + x.text.size() != x.from.size()) there.fail("a number of its dtype");
    return static_cast<std::uint64_t>(v);
  }

  /// A whole graph, the body of an op on scalars, or a region of control flow.
  enum class Part { whole, body, region };
  Graph nodes(Part part) {
    const bool region = part != Part::whole;
    const Deeper deeper(*this);
    Graph g;
    struct Output {
      int id = -1, donated = -1;
      bool padded = false;
    };
    Vec<Output> outputs;
    for (;;) {
      skip();
      if (region && accept("}")) break;
      if (!region && rest_.empty()) break;
      word("%");
      if (number(INT32_MAX, "the number of a node") != g.size()) fail("the next node");
      word("=");
      const GraphParser before = *this;
      node(g);
      if (part == Part::body && !is_in_a_body(g[g.size() - 1])) GraphParser(before).fail("a number, or what works on single elements");
      while (accept("->")) {
        word("output");
        Output o{g.size() - 1};
        const int k = number(1 << 20, "the number of an output");
        while (outputs.size() <= k) outputs.push_back({});
        if (accept("in place of input")) o.donated = number(1 << 20, "the number of an input");
        o.padded = accept("padded");
        outputs[k] = o;
      }
      if (region) word(";");
    }
    for (const Output& o : outputs) {
      if (o.id < 0) fail("an output for each number");
      if (o.donated >= g.inputs.size()) fail("an input that an output is in place of");
      g.output(o.id, o.donated);
      g.output_padded.back() = o.padded;
    }
    if (!region) return g;
    if (part == Part::body && (outputs.size() != 1 || g.inputs.empty())) fail("a body of one output");
    if (const CheckResult r = (check)(g); !r)
      TT_THROW(Error(Text("tt::parse: line ") << line_ << ": in the body of an op, node %" << r.node << ' ' << r.why << '.'));
    return g;
  }
  /// Is this node allowed in a body? A body is recorded on operands of any shape, and only these nodes take their shape from operands.
  static bool is_in_a_body(const Node& n) {
    const bool is_op = is_elementwise(n.op) && !is_named(n) && n.op != Op::broadcast && !(n.op == Op::copy && n.attribute != 0);
    return n.shape.rank == 0 && n.identity == 0 && (n.op == Op::input || n.op == Op::constant || is_op);
  }
  void node(Graph& g) {
    Node n;
    const bool prefixed = accept(primitive_prefix);
    const std::string_view op = name_of_something();
    const OpDef* def = nullptr;
    int found = -1, control = -1;
    for (int k = 0; k < control_count && !prefixed; ++k)
      if (op == name(static_cast<Control>(k))) control = k;
    for (int k = 0; k < static_cast<int>(Op::load); ++k)
      if (const Op o = static_cast<Op>(k); op == name(o) && o != Op::call && has_primitive_prefix(o) == prefixed) found = k;
    if (prefixed && found < 0) fail("a primitive");
    if (found < 0) {
      n.op = Op::call;
      def = op == "op" || control >= 0 ? nullptr : find_(op);
      if (op != "op" && control < 0 && !def) {
        Text t;
        for (const char c : op) t << c;
        TT_THROW(Error(Text("tt::parse: line ") << line_ << ": no op is called '" << t << "'. Name its type, as in tt::parse<Softsign>(text)?"));
      }
    } else {
      n.op = static_cast<Op>(found);
    }
    Number value;
    if (n.op == Op::constant) value = number_read();
    else if (n.op == Op::input || n.op == Op::iota) n.attribute = number(n.op == Op::iota ? max_rank - 1 : 1 << 20, n.op == Op::iota ? "an axis" : "the number of an input");
    else if (n.op == Op::extent) n.attribute = extent().code;
    Vec<int> operands;
    std::int64_t given = 0;
    if (accept("(")) {
      int place = 0;
      do {
        if (def && def->optional > 0) {
          if (place == 63) fail("fewer operands");
          if (accept("None")) continue;
          given |= std::int64_t{1} << place;
        }
        operands.push_back(operand(g));
      } while (++place, accept(","));
      word(")");
    }
    Vec<std::int64_t> words;
    if (control >= 0) def = control_flow(n, static_cast<Control>(control), words);
    else if (def && def->is_named) options(n, *def, given, words);
    else attributes(n, def, value, words);
    if (accept("identity")) {
      const GraphParser before = *this;
      const std::int64_t k = integer();
      if (k < INT32_MIN || k > INT32_MAX) GraphParser(before).fail("an identity");
      n.identity = static_cast<int>(k);
    }
    word(":");
    n.dtype = dtype();
    n.shape = shape();
    const int most = n.op == Op::call ? def->info.arity : n.op == Op::copy || n.op == Op::detach || is_view(n.op) || n.op == Op::pad ? 1 : arity(n.op);
    const bool any_number = def && def->any_number && !operands.empty();
    if (!any_number && (operands.size() > most || operands.size() < most - (def ? def->optional : 0))) fail("as many operands as the op takes");
    if (n.op == Op::constant || n.op == Op::pad) n.bits = bits_of(value, n.dtype);
    if (def) {
      n.def = def;
      n.def_id = def->id;
    }
    if (n.op == Op::input) {
      if (n.attribute != g.inputs.size()) fail("the next input");
      const Shape strides = accept("strides") ? shape() : Shape{};
      g.input(n.dtype, n.shape, strides, accept("padded"));
    } else if (const int before = g.size(); g.intern(n, words, operands) != before) {
      fail("a node that is not there yet");
    }
    if (g.failure) TT_THROW(Error(describe(g.failure)));
  }
  std::int64_t option(OptionField::Kind kind) {
    switch (kind) {
      case OptionField::Kind::boolean:
        if (accept("True")) return 1;
        word("False");
        return 0;
      case OptionField::Kind::integer: return integer();
      case OptionField::Kind::real: return static_cast<std::int64_t>(bits_of(number_read(), DType::f64));
      case OptionField::Kind::size: return extent().code;
      case OptionField::Kind::dtype: return static_cast<std::int64_t>(dtype());
    }
    return 0;
  }
  /// Reads the options of control flow, then its regions, whose inputs and outputs must agree.
  const OpDef* control_flow(Node& n, Control kind, Vec<std::int64_t>& words) {
    OpDef told;
    told.options = fields_of(kind);
    told.results = 1 << 20;
    options(n, told, 0, words);
    const int count = region_count(kind), carried = is_straight(kind) ? 0 : static_cast<int>(words[0]);
    Vec<Graph> regions;
    for (int k = 0; k < count; ++k) {
      word("{");
      regions.push_back(nodes(Part::region));
    }
    const bool goes_back = kind == Control::while_loop_backward;
    const Graph &first = regions[0], &body = regions[goes_back ? 1 : count - 1];
    const int inputs = carried + (kind == Control::scan ? static_cast<int>(words[1]) : 0);
    bool fits = first.inputs.size() == body.inputs.size() && carried >= 0 && carried <= body.outputs.size() && inputs >= carried && inputs <= body.inputs.size();
    if (is_straight(kind)) fits = fits && first.outputs.size() == body.outputs.size();
    else fits = fits && (kind == Control::scan ? inputs > carried : first.outputs.size() == 1 && body.outputs.size() == carried);
    const auto same = [](const Graph& g, int a, const Graph& h, int b) { return g[a].dtype == h[b].dtype && g[a].shape == h[b].shape; };
    for (int k = 0; k < body.inputs.size() && fits; ++k) fits = same(first, first.inputs[k], body, body.inputs[k]);
    for (int k = 0; k < (is_straight(kind) ? body.outputs.size() : carried) && fits; ++k)
      fits = is_straight(kind) ? same(first, first.outputs[k], body, body.outputs[k]) : same(body, body.inputs[k], body, body.outputs[k]);
    if (goes_back && fits) {  // the last region takes an adjoint of each floating input, and gives one
      const Graph& adjoint = regions[2];
      const Vec<int> floating = floating_inputs(body, 0, body.inputs.size());
      const int before = body.inputs.size();
      fits = adjoint.inputs.size() == before + floating.size() && adjoint.outputs.size() == floating.size();
      for (int k = 0; k < before && fits; ++k) fits = same(body, body.inputs[k], adjoint, adjoint.inputs[k]);
      for (int k = 0; k < floating.size() && fits; ++k)
        fits = same(body, body.inputs[floating[k]], adjoint, adjoint.inputs[before + k]) && same(adjoint, adjoint.inputs[before + k], adjoint, adjoint.outputs[k]);
    }
    if (!fits) fail("regions that take and give the same");
    return &control_op(kind, carried, regions);
  }
  /// Reads options as write_options writes them.
  void options(Node& n, const OpDef& op, std::int64_t given, Vec<std::int64_t>& words) {
    if (op.optional > 0) words.push_back(given);
    for (const OptionField& o : op.options()) {
      if (name_of_something() != std::string_view(o.name, static_cast<std::size_t>(o.name_size))) fail("the options of the op, in their order");
      if (o.optional) {
        words.push_back(accept("None") ? 0 : 1);
        if (words.back() == 0) {
          words.push_back(0);
          continue;
        }
      }
      if (!o.list) {
        words.push_back(option(o.kind));
        continue;
      }
      word("[");
      const int length = words.size();
      words.push_back(0);
      while (!accept("]")) {
        if (words[length] >= o.most) fail("a shorter list");
        if (words[length]++ > 0) word(",");
        words.push_back(option(o.kind));
      }
    }
    if (accept("result")) n.bits = static_cast<std::uint64_t>(number(op.results - 1, "a result of the op"));
  }
  /// Reads the members of an attribute struct as AttributeText writes them.
  struct AttributeReader {
    GraphParser& p;
    void read(int& x) { x = p.number(max_rank - 1, "an axis"); }
    void read(std::int64_t& x) { x = p.integer(); }
    void read(Extent& e) { e = p.extent(); }
    void operator()(const char* name, auto& x) {
      p.word(name);
      read(x);
    }
    template <class T>
    void operator()(const char* name, T* list, int& count) {
      p.word(name);
      for (count = 0; p.at_digit();) {
        if (count == max_rank) p.fail("fewer axes");
        read(list[count++]);
        if (!p.accept(",")) return;
      }
    }
    template <class T, int N>
    void operator()(const char* name, T (&list)[N]) {
      p.word(name);
      for (int k = 0; k < N; ++k) {
        if (k > 0) p.word(",");
        read(list[k]);
      }
    }
  };
  void attributes(Node& n, const OpDef*& def, Number& value, Vec<std::int64_t>& words) {
    with_attribute_struct(n.op, [&]<class A>(A a) {
      A::each(a, AttributeReader{*this});
      A::each(std::as_const(a), WordWriter{words});
    });
    switch (n.op) {
      case Op::pad:
        word("by");
        value = number_read();
        return;
      case Op::sum: case Op::amax: case Op::amin:
        word("axes");
        while (at_digit()) n.attribute |= std::int64_t{1} << number(max_rank - 1, "an axis");
        if (accept("in a row's order")) n.bits |= in_row_order;
        if (accept("gradient to the first")) n.bits |= gradient_to_first;
        if (accept("gradient to NaN")) n.bits |= gradient_to_nan;
        if (accept("reduced further")) n.bits |= reduced_further;
        return;
      case Op::call:
        if (!def) {
          word("{");
          const Graph body = nodes(Part::body);
          def = &op_of_region(body);
        }
        return;
      default:
        if (is_shift(n.op)) {
          word("by");
          n.attribute = integer();
        } else if (accept("number")) {
          n.attribute = integer();
        }
    }
  }
};

}  // namespace detail
}  // namespace tt
