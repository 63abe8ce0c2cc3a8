// An op's Options as dispatcher attributes, back again, and as a schema string.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "tt/dispatch/dispatcher.hpp"
#include "tt/functional/structured.hpp"

namespace tt {
namespace detail {

/// Writes an op's options to the attributes of a call, and reads them back.
struct AttributesTo {
  Attributes& to;
  void number(std::int64_t v) { to.push(v); }
  void size(const SizeOption& v) {
    to.push(v.value);
    if (!v.extent.is_constant()) to.express(to.size() - 1, v.extent);
  }
};
struct AttributesFrom {
  const Attributes& from;
  int at = 0;
  bool records = false;  ///< true: sizes as expressions; false: as numbers
  std::int64_t number() { return from.value[at++]; }
  SizeOption size() {
    SizeOption v = from.value[at];
    if (records) v.extent = from.extent(at);
    if (!v.extent.is_constant()) v.value = 0;  // not for bodies: it differs in the next call
    ++at;
    return v;
  }
};
/// Word k of a list like "none|mean|sum".
inline std::string_view word_of(std::string_view words, int k) {
  for (; k > 0; --k) words.remove_prefix(words.find('|') + 1);
  return words.substr(0, words.find('|'));
}
/// An option in a schema: its type and its default.
struct OptionText {
  Text& out;
  void type(bool) const { out << "bool"; }
  void type(std::int64_t) const { out << "int"; }
  void type(int) const { out << "int"; }
  void type(double) const { out << "float"; }
  void type(DType) const { out << "dtype"; }
  template <Choice E>
  void type(E) const { out << choices_of<E>; }
  void type(const SizeOption&) const { out << "int"; }
  void type(const HeightWidth&) const { out << "int[2]"; }
  template <class T>
  void type(const Optional<T>& v) const {
    type(v.value);
    out << '?';
  }
  template <class T, int N>
  void type(const OptionList<T, N>& v) const {
    type(v.item[0]);
    out << "[]";
  }
  void value(bool v) const { out << (v ? "True" : "False"); }
  void value(std::int64_t v) const { out << v; }
  void value(int v) const { out << v; }
  void value(DType v) const { out << name(v); }
  template <Choice E>
  void value(E v) const {
    const std::string_view word = word_of(choices_of<E>, static_cast<int>(v));
    for (char c : word) out << c;
  }
  void value(const SizeOption& v) const { out << v.value; }
  void value(const HeightWidth& v) const {
    if (v.h == v.w) out << v.h;
    else out << '[' << v.h << ", " << v.w << ']';
  }
  void value(double v) const {
    char digits[32];
    for (int n = 1; n <= 17; ++n) {  // the shortest text that reads back as the same number
      std::snprintf(digits, sizeof(digits), "%.*g", n, v);
      if (std::strtod(digits, nullptr) == v) break;
    }
    for (const char* c = digits; *c; ++c) out << (*c == ',' ? '.' : *c);  // in any locale
  }
  template <class T>
  void value(const Optional<T>& v) const {
    if (v.given) value(v.value);
    else out << "None";
  }
  template <class T, int N>
  void value(const OptionList<T, N>& v) const {
    for (int k = 0; k < v.count; ++k) {
      out << (k ? ", " : "[");
      value(v.item[k]);
    }
    out << (v.count ? "]" : "[]");
  }
};
/// The schema of an op over graphs: the entries of its `arguments`, then all other options, with defaults.
template <class F>
[[gnu::cold]] const char* make_schema() {
  Text t;
  const options_t<F> options{};
  const auto option = [&](NameText only, bool required) __attribute__((cold)) {
    each_option(options, [&](NameText name, const auto& v) __attribute__((cold)) {
      const std::string_view own(name.begin, name.size);
      bool named = false;
      for (ArgumentReader r{F::info.arguments}; r.next();) named = named || own == std::string_view(r.name.begin, r.name.size);
      if (required ? own != std::string_view(only.begin, only.size) : named) return;
      if (!t.empty()) t << ", ";
      OptionText{t}.type(v);
      t << ' ';
      for (char c : own) t << c;
      if (required) return;
      t << '=';
      OptionText{t}.value(v);
    });
  };
  for (ArgumentReader r{F::info.arguments}; r.next();) {
    if (r.option) {
      option(r.name, true);
      continue;
    }
    t << (t.empty() ? "" : ", ") << (r.optional ? "Tensor? " : r.list ? "Tensor[] " : "Tensor ");
    for (std::size_t k = 0; k < r.name.size; ++k) t << r.name.begin[k];
    if (r.optional) t << "=None";
  }
  option({}, false);
  return keep_text(t.begin(), static_cast<std::size_t>(t.size()));
}
template <class F>
options_t<F> options_of(const Operator& op, const Attributes& a, bool records) {
  options_t<F> options{};
  AttributesFrom from{a, op.optional > 0 ? 1 : 0, records};
  each_option(options, [&](NameText, auto& v) { OptionReader<AttributesFrom>{from}(v); });
  return options;
}

}  // namespace detail
}  // namespace tt
