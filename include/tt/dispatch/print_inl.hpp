// Definitions of print.hpp.
#pragma once
#include "tt/core/print.hpp"
#include "tt/dispatch/print.hpp"

namespace tt {
namespace detail {

class TensorPrinter {
 public:
  /// `elements`: the elements of `t`, on the host.
  TensorPrinter(const Tensor& elements, const Tensor& t) : tensor_(elements.impl()), device_(t.device()), original_(t.impl()), shown_(tensor_.shape.code, tensor_.stride, tensor_.shape.rank, options_.threshold, options_.edgeitems) {
    if (!tensor_.data || shown_.size == 0) return;
    if (is_floating(tensor_.dtype)) choose_form();
    shown_.each([&](std::int64_t at) {
      if (is_floating(tensor_.dtype) && !counts(real(at))) return;  // 0, nan and inf fit without counting
      const int n = spell(at).size();
      if (n > width_) width_ = n;
    });
  }
  Text text() const {
    Text t("tensor(");
    if (!tensor_.data && shown_.size > 0) t << "...";
    else if (shown_.size == 0) t << "[]";
    else put(t, 0, 0);
    add_suffixes(t);
    return t << ')';
  }

 private:
  static constexpr int indent = 7;  // of "tensor("
  const PrintOptions options_ = print_options;
  const TensorImpl& tensor_;
  Device device_;
  const TensorImpl& original_;
  ShownElements shown_;
  bool whole_ = true, scientific_ = false;  // format of floating numbers
  int width_ = 1;

  double real(std::int64_t at) const {
    return with_dtype(tensor_.dtype, [&]<class T>(T) { return static_cast<double>(reinterpret_cast<const T*>(tensor_.data)[at]); });
  }
  std::int64_t integer(std::int64_t at) const {
    return with_dtype(tensor_.dtype, [&]<class T>(T) { return static_cast<std::int64_t>(reinterpret_cast<const T*>(tensor_.data)[at]); });
  }
  static bool is_special(double v) { return !(v - v == 0); }
  static bool counts(double v) { return v != 0 && !is_special(v); }
  void choose_form() {
    double least = 0, most = 0;
    shown_.each([&](std::int64_t at) {
      const double v = real(at), size = v < 0 ? -v : v;
      if (!counts(v)) return;
      if (least == 0 || size < least) least = size;
      if (size > most) most = size;
      if (v != __builtin_ceil(v)) whole_ = false;
    });
    scientific_ = most > 0 && (most / least > 1000 || most > 1e8 || (!whole_ && least < 1e-4));
    if (options_.sci_mode.given && most > 0) scientific_ = options_.sci_mode.value;
  }
  Text spell(std::int64_t at) const {
    if (tensor_.dtype == DType::boolean) return reinterpret_cast<const bool*>(tensor_.data)[at] ? "True" : "False";
    if (!is_floating(tensor_.dtype)) return Text() << integer(at);
    const double v = real(at);
    if (is_special(v)) return v != v ? "nan" : v > 0 ? "inf" : "-inf";
    char s[400];  // 10^308 and forty digits
    const bool point = whole_ && !scientific_;
    std::snprintf(s, sizeof s, scientific_ ? "%.*e" : point ? "%.*f." : "%.*f", point ? 0 : options_.precision, v);
    return s;
  }
  /// Prints elements and rows of one axis, from `offset` on.
  void put(Text& t, int axis, std::int64_t offset) const {
    const auto spaces = [&t](int n) {
      for (int i = 0; i < n; ++i) t << ' ';
    };
    if (axis == shown_.rank) {
      const Text word = spell(offset);
      spaces(width_ - word.size());
      t << word;
      return;
    }
    const bool row = axis + 1 == shown_.rank;
    const int fitting = (options_.linewidth - indent - axis) / (width_ + 2), per_line = fitting > 1 ? fitting : 1;
    int placed = 0;
    const auto begin = [&] {  // of an element, a row, or "..."
      const bool new_line = !row || placed % per_line == 0;
      if (placed > 0) t << (new_line ? "," : ", ");
      if (placed > 0 && new_line) {
        t << '\n';
        for (int k = axis + 2; k < shown_.rank; ++k) t << '\n';
        spaces(indent + axis + 1);
      }
      ++placed;
    };
    t << '[';
    for (std::int64_t i = 0; i < shown_.shape[axis]; i = shown_.next(axis, i)) {
      if (i > 0 && shown_.skipped(axis, i - 1)) {
        begin();
        t << (row ? " ..." : "...");
      }
      begin();
      put(t, axis + 1, offset + i * shown_.stride[axis]);
    }
    t << ']';
  }
  /// Device, size, dtype and gradient, where the elements do not show them; on a new line where they do not fit.
  void add_suffixes(Text& t) const {
    int column = 2;  // counted as in PyTorch
    for (int i = t.size(); i > 0 && t[i - 1] != '\n'; --i) ++column;
    const auto add = [&](const Text& suffix) {
      const bool fits = column + suffix.size() + 2 <= options_.linewidth;
      t << (fits ? ", " : ",\n       ") << suffix;
      column = (fits ? column + 2 : indent) + suffix.size();
    };
    const DType d = tensor_.dtype;
    const bool empty = shown_.size == 0, hidden = empty || !tensor_.data;
    const DeviceType device = device_.type;
    if (device == DeviceType::meta) add(Text("device='meta'"));
    else if (device != DeviceType::cpu) add(Text("device='") << name(device) << ':' << device_.index << "'");
    if (empty ? shown_.rank != 1 : !tensor_.data) add(Text("size=") << tensor_.shape);
    if (d != DType::f32 && (hidden || (d != DType::i64 && d != DType::boolean))) add(Text("dtype=") << name(d));
    const char* made_by = original_.autograd ? original_.autograd->made_by_name(*original_.autograd) : nullptr;
    if (made_by) add(Text("grad_fn=<") << made_by << ">");
    else if (original_.requires_grad) add("requires_grad=True");
  }
};

}  // namespace detail

TT_INLINE Text to_string(const Tensor& t) {
  if (!t.defined()) return Text("tensor(undefined)");
  if (detail::capture_mode) detail::capture_mode->need(t, "print", {});
  const bool hidden = t.is_meta() || t.impl().trace_id >= 0;
  const Tensor elements = is_host(t.device()) || hidden ? t : detail::to_device(t, Device{}, false, here());
  return detail::TensorPrinter(elements, t).text();
}

}  // namespace tt
