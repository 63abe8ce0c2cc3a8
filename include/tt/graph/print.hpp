// Listings: a graph as text, which `parse` reads back, and as DOT for pictures.
//   std::cout << tt::to_string(g);      // %3 = add(%1, %2) : f32 (64, 10)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

constexpr const char* node_name(const Node& n) {
  return n.op == Op::call ? n.def->info.name : name(n.op);
}

/// Primitives over whole values share names with ops made of them; this prefix marks primitives in texts, as PyTorch's does.
inline constexpr const char* primitive_prefix = "prims.";
constexpr bool has_primitive_prefix(Op op) { return !is_leaf(op) && !is_elementwise(op) && op != Op::detach; }

/// A floating constant with as few digits as show it, up to nine; integers in full.
constexpr Text number_text(DType dtype, std::uint64_t bits) {
  Text t;
  if (!is_floating(dtype)) return t << static_cast<std::int64_t>(bits);
  double v = decode(dtype, bits);
  if (v != v) return t << "nan";
  if (v < 0 || (v == 0 && bits != 0)) {
    t << '-';
    v = -v;
  }
  if (v > 1.7e308) return t << "inf";
  if (v == 0) return t << '0';
  int exponent = 0;
  while (v >= 10) {
    v /= 10;
    ++exponent;
  }
  while (v < 1) {
    v *= 10;
    --exponent;
  }
  std::int64_t digits = static_cast<std::int64_t>(v * 1e8 + 0.5);
  if (digits >= 1000000000) {
    digits /= 10;
    ++exponent;
  }
  char d[9]{};
  for (int i = 8; i >= 0; --i) {
    d[i] = static_cast<char>('0' + digits % 10);
    digits /= 10;
  }
  int last = 8;
  while (last > 0 && d[last] == '0') --last;
  if (exponent >= -4 && exponent < 9) {
    int i = 0;
    if (exponent < 0) {
      t << "0.";
      for (int k = -1; k > exponent; --k) t << '0';
    }
    for (; i <= last || i <= exponent; ++i) {
      t << (i <= last ? d[i] : '0');
      if (i == exponent && i < last) t << '.';
    }
    return t;
  }
  t << d[0];
  if (last > 0) t << '.';
  for (int i = 1; i <= last; ++i) t << d[i];
  return t << 'e' << exponent;
}

namespace detail {

/// The value of a number that number_text wrote, without an error in the last bit up to 1e22; `rest`: the text behind it.
constexpr double decimal_value(const char* text, const char** rest = nullptr) {
  const char* p = text;
  const bool negative = *p == '-';
  if (negative) ++p;
  std::int64_t digits = 0;
  int exponent = 0;
  bool fraction = false;
  for (; (*p >= '0' && *p <= '9') || (*p == '.' && !fraction); ++p) {
    if (*p == '.') {
      fraction = true;
      continue;
    }
    if (digits < std::int64_t{1} << 58) digits = digits * 10 + (*p - '0');
    exponent -= fraction;
  }
  if (*p == 'e') {
    int given = 0;
    const bool down = p[1] == '-';
    for (p += down ? 2 : 1; *p >= '0' && *p <= '9'; ++p) given = given < 1000 ? given * 10 + (*p - '0') : given;
    exponent += down ? -given : given;
  }
  if (rest) *rest = p;
  double power = 1, v = static_cast<double>(digits);
  int k = exponent < 0 ? -exponent : exponent;
  for (; k > 0 && power < 1e22; --k) power *= 10;
  v = exponent < 0 ? v / power : v * power;
  constexpr double most = __DBL_MAX__;
  for (; k > 0 && v != 0 && v <= most; --k) v = exponent < 0 ? v / 10 : v <= most / 10 ? v * 10 : __builtin_inf();
  return negative ? -v : v;
}
/// A constant, with its bits if the decimal digits would be read back as other bits.
constexpr void write_constant(Text& t, DType of, std::uint64_t bits) {
  const DType dtype = compute_dtype(of);
  Text number = number_text(dtype, bits);
  t << number;
  if (!is_floating(dtype)) return;
  number << '\0';
  const char first = number.begin()[number.begin()[0] == '-'];
  if (first >= '0' && first <= '9' && encode(dtype, decimal_value(number.begin())) == bits) return;
  t << " bits 0x";
  bool any = false;
  for (int k = 60; k >= 0; k -= 4) {
    const auto d = static_cast<int>(bits >> k & 15);
    any = any || d > 0;
    if (any || k == 0) t << static_cast<char>(d < 10 ? '0' + d : 'a' + d - 10);
  }
}
constexpr bool is_unnamed(const OpDef& def) {
  return def.info.name[0] == 'o' && def.info.name[1] == 'p' && def.info.name[2] == 0;
}
/// The body of an op, recorded on scalars.
constexpr Graph region_of(const Graph& g, const Node& n) {
  Graph body;
  Vec<int> in;
  for (int o : g.operands(n)) in.push_back(body.input(g[o].dtype, {}));
  body.output(n.def->record(*n.def, body, in.begin()));
  return canonical(body);
}
constexpr Text lines_of(const Graph& g, const char* between);

/// Writes members of an attribute struct: " axis 1 from 2*s0 step 1"; lists with commas.
struct AttributeText {
  Text& t;
  constexpr void operator()(const char* name, std::int64_t x) { t << ' ' << name << ' ' << x; }
  constexpr void operator()(const char* name, Extent e) { t << ' ' << name << ' ' << e; }
  template <class T>
  constexpr void operator()(const char* name, const T* list, int count) {
    t << ' ' << name;
    for (int k = 0; k < count; ++k) t << (k ? ", " : " ") << list[k];
  }
  template <class T, int N>
  constexpr void operator()(const char* name, const T (&list)[N]) { (*this)(name, list, N); }
};
constexpr void write_option(Text& t, OptionField::Kind kind, std::int64_t word) {
  switch (kind) {
    case OptionField::Kind::boolean: t << (word ? "True" : "False"); return;
    case OptionField::Kind::integer: t << word; return;
    case OptionField::Kind::real: write_constant(t, DType::f64, static_cast<std::uint64_t>(word)); return;
    case OptionField::Kind::size: t << Extent::from_code(word); return;
    case OptionField::Kind::dtype: t << name(static_cast<DType>(word)); return;
  }
}
/// Writes options by name, in the order of the op's Options: " dim [0, 1] keepdim False".
constexpr void write_options(Text& t, const Graph& g, const Node& n) {
  for_each_option(*n.def, g.attribute_words(n), [&](const OptionField& option, const std::int64_t* word, int count) {
    t << ' ';
    for (int k = 0; k < option.name_size; ++k) t << option.name[k];
    if (count < 0) return void(t << " None");
    t << (option.list ? " [" : " ");
    for (int k = 0; k < count; ++k) write_option(t << (k ? ", " : ""), option.kind, word[k]);
    if (option.list) t << ']';
  });
  if (n.bits != 0) t << " result " << static_cast<std::int64_t>(n.bits);
}
/// Writes operands, and None for each operand left out before one that is given.
constexpr void write_operands(Text& t, const Graph& g, const Node& n) {
  const Ids operands = g.operands(n);
  std::int64_t given = -1;
  if (is_named(n) && n.def->optional > 0) given = g.attribute_words(n)[0];
  for (int place = 0, k = 0; k < operands.count; ++place) {
    t << (place ? ", " : "(");
    if (place >= 63 || (given >> place & 1)) t << '%' << operands[k++];
    else t << "None";
  }
  if (operands.count > 0) t << ')';
}
constexpr void write_attributes(Text& t, const Graph& g, const Node& n) {
  with_attribute_struct(n.op, [&]<class A>(A) { A::each(g.attributes<A>(n), AttributeText{t}); });
  switch (n.op) {
    case Op::pad: write_constant(t << " by ", n.dtype, n.bits); return;
    case Op::sum: case Op::amax: case Op::amin:
      t << " axes";
      for (int k = 0; k < max_rank; ++k)
        if (n.attribute >> k & 1) t << ' ' << k;
      if (n.bits & in_row_order) t << " in a row's order";
      if (n.bits & gradient_to_first) t << " gradient to the first";
      if (n.bits & gradient_to_nan) t << " gradient to NaN";
      if (n.bits & reduced_further) t << " reduced further";
      return;
    case Op::call:
      if (is_named(n)) write_options(t, g, n);
      else if (is_unnamed(*n.def)) t << " { " << lines_of(region_of(g, n), "; ") << '}';
      for (int k = 0; k < n.def->region_count && is_named(n); ++k) t << " { " << lines_of(n.def->regions[k], "; ") << '}';
      return;
    case Op::input: case Op::constant: case Op::extent: case Op::iota: return;
    default:
      if (is_shift(n.op)) t << " by " << n.attribute;
      else if (n.attribute != 0) t << " number " << n.attribute;
  }
}
constexpr Text lines_of(const Graph& g, const char* between) {
  Text t;
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g[i];
    t << '%' << i << " = " << (has_primitive_prefix(n.op) ? primitive_prefix : "") << node_name(n);
    if (n.op == Op::constant) write_constant(t << ' ', n.dtype, n.bits);
    else if (n.op == Op::input || n.op == Op::iota) t << ' ' << n.attribute;
    else if (n.op == Op::extent) t << ' ' << Extent::from_code(n.attribute);
    write_operands(t, g, n);
    write_attributes(t, g, n);
    if (n.identity > 0) t << " identity " << n.identity;
    t << " : " << name(n.dtype) << ' ' << n.shape;
    if (n.op == Op::input) {
      const int k = static_cast<int>(n.attribute);
      if (g.input_strides[k].rank > 0) t << " strides " << g.input_strides[k];
      if (g.input_padded[k]) t << " padded";
    }
    for (int k = 0; k < g.outputs.size(); ++k)
      if (g.outputs[k] == i) {
        t << " -> output " << k;
        if (g.donated[k] >= 0) t << " in place of input " << g.donated[k];
        if (g.output_padded[k]) t << " padded";
      }
    t << between;
  }
  return t;
}

}  // namespace detail

/// Version of the text that `to_string` writes and `parse` reads.
inline constexpr int graph_text_version = 3;
/// A line with the version, then a line per node: %3 = add(%1, %2) : f32 (64, 10). `parse` (functional/parse.hpp) reads the text back.
constexpr Text to_string(const Graph& g) {
  Text t;
  return t << "graph " << graph_text_version << '\n' << detail::lines_of(g, "\n");
}
template <CharStream Stream>
Stream& operator<<(Stream& stream, const Graph& g) {
  return stream << to_string(g);
}

/// The graph as input of `dot -Tsvg`.
constexpr Text to_dot(const Graph& g) {
  Text t;
  t << "digraph tt {\n  rankdir=TB;\n  node [shape=box, style=rounded, fontname=\"monospace\"];\n";
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g[i];
    t << "  n" << i << " [label=\"" << node_name(n);
    if (n.op == Op::constant) t << ' ' << number_text(n.dtype, n.bits);
    if (n.op == Op::input) t << ' ' << n.attribute;
    t << "\\n" << name(n.dtype) << ' ' << n.shape << '"';
    if (is_leaf(n.op)) t << ", style=filled, fillcolor=\"#dce9f7\"";
    t << "];\n";
    for (int o : g.operands(n)) t << "  n" << o << " -> n" << i << ";\n";
  }
  for (int k = 0; k < g.outputs.size(); ++k)
    t << "  out" << k << " [label=\"output " << k
      << "\", style=filled, fillcolor=\"#f7e3dc\"];\n  n" << g.outputs[k] << " -> out" << k
      << ";\n";
  return t << "}\n";
}

}  // namespace tt
