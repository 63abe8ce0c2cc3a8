// Options of an op over graphs beside the dispatcher: as attributes of a call, back from them, and as a schema.
#pragma once
#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tt/dispatch/dispatcher.hpp"
#include "tt/functional/structured.hpp"

namespace tt {
namespace detail {

/// An axis among attributes, as an int: what is none is out of range as well.
constexpr int axis_given(std::int64_t axis) { return std::in_range<int>(axis) ? static_cast<int>(axis) : axis < 0 ? INT_MIN : INT_MAX; }

/// An op's options as attributes of a call, and back.
struct OptionWriter {
  Attributes& to;
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void operator()(T v) const { to.push(static_cast<std::int64_t>(v)); }
  void operator()(double v) const { to.push(std::bit_cast<std::int64_t>(v)); }
  void operator()(const SizeOption& v) const {
    to.push(v.value);
    if (!v.extent.is_constant()) to.express(to.size() - 1, v.extent);
  }
  template <class T>
  void operator()(const Optional<T>& v) const {
    to.push(v.given);
    (*this)(v.value);
  }
  void operator()(const HeightWidth& v) const { (*this)(OptionList<int, 2>{v.h, v.w}); }
  template <class T, int N>
  void operator()(const OptionList<T, N>& list) const {
    to.push(list.count);
    for (int k = 0; k < list.count; ++k) (*this)(list.item[k]);
  }
};
struct OptionReader {
  const Attributes& from;
  int at = 0;
  bool records = false;  ///< sizes as what they are expressions of; else as numbers
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void operator()(T& v) {
    const std::int64_t word = from.value[at++];
    if constexpr (std::is_same_v<T, int>) v = axis_given(word);
    else v = static_cast<T>(word);
  }
  void operator()(double& v) { v = std::bit_cast<double>(from.value[at++]); }
  void operator()(SizeOption& v) {
    v = from.value[at];
    if (records) v.extent = from.extent(at);
    if (!v.extent.is_constant()) v.value = 0;  // not for bodies: it is another number in the next call
    ++at;
  }
  template <class T>
  void operator()(Optional<T>& v) {
    v.given = from.value[at++] != 0;
    (*this)(v.value);
  }
  /// One number is for both; none leaves the default.
  void operator()(HeightWidth& v) {
    OptionList<int, 2> list;
    (*this)(list);
    if (list.count > 0) v = {list.item[0], list.item[list.count - 1]};
  }
  template <class T, int N>
  void operator()(OptionList<T, N>& list) {
    const std::int64_t count = from.value[at++];
    list = {};
    for (std::int64_t k = 0; k < count; ++k) {
      T v{};
      (*this)(v);
      list.push_back(v);
    }
  }
};
/// An option in a schema: its type, its name, and its default.
struct OptionText {
  Text& out;
  void type(bool) const { out << "bool"; }
  void type(std::int64_t) const { out << "int"; }
  void type(int) const { out << "int"; }
  void type(double) const { out << "float"; }
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
  void value(const SizeOption& v) const { out << v.value; }
  void value(const HeightWidth& v) const {
    if (v.h == v.w) out << v.h;
    else out << '[' << v.h << ", " << v.w << ']';
  }
  void value(double v) const {
    char digits[32];
    for (int n = 1; n <= 17; ++n) {  // the shortest that is read as the same
      std::snprintf(digits, sizeof(digits), "%.*g", n, v);
      if (std::strtod(digits, nullptr) == v) break;
    }
    for (const char* c = digits; *c; ++c) out << (*c == ',' ? '.' : *c);  // whatever the locale
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
/// The schema of an op over graphs: what its `arguments` name, then the options that they do not name, with defaults.
template <class F>
const char* make_schema() {
  Text t;
  const options_t<F> options{};
  const auto option = [&](NameText only, bool required) {
    each_option(options, [&](NameText name, const auto& v) {
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
    t << (t.empty() ? "" : ", ") << (r.optional ? "Tensor? " : "Tensor ");
    for (std::size_t k = 0; k < r.name.size; ++k) t << r.name.begin[k];
    if (r.optional) t << "=None";
  }
  option({}, false);
  return keep_text(t.begin(), static_cast<std::size_t>(t.size()));
}
template <class F>
options_t<F> options_of(const Operator& op, const Attributes& a, bool records) {
  options_t<F> options{};
  OptionReader reader{a, op.optional > 0 ? 1 : 0, records};
  each_option(options, [&](NameText, auto& v) { reader(v); });
  return options;
}

}  // namespace detail
}  // namespace tt
