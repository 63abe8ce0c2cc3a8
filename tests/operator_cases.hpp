// Recorded samples of operators (tests/data/operators.txt, made by record_operators.py): what PyTorch was given and what it gave. Cases are read one after the other;
// results(c) calls the operator by name.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/random.hpp"

namespace operator_cases {

using tt::BoxedValue;
using tt::DType;
using tt::Tensor;
using Tensors = std::vector<Tensor>;

struct Case {
  std::string name, error;  ///< error: what PyTorch said, where it refuses
  std::vector<BoxedValue> arguments;
  std::vector<std::pair<std::string, BoxedValue>> named;
  Tensors leaves, results, gradients;  ///< floating Tensors among the arguments; a gradient may be undefined
  bool drawn = false;  ///< of the results only dtypes and shapes are known
};

inline DType dtype_called(const std::string& name) {
  for (int d = 0; d < tt::dtype_count; ++d)
    if (name == tt::name(static_cast<DType>(d))) return static_cast<DType>(d);
  FAIL("no such dtype: " << name);
  return {};
}
inline double real(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// Reads cases one after the other.
class Cases {
 public:
  explicit Cases(const char* path) : file_(path) {}
  bool next(Case& c) {
    c = {};
    std::string line;
    while (std::getline(file_, line)) {
      std::istringstream in(line);
      std::string word;
      in >> word;
      if (word == "end") return true;
      if (word == "case") in >> c.name;
      else if (word == "says") std::getline(in, c.error);
      else if (word == "arg") c.arguments.push_back(value(in, c));
      else if (word == "kw") {
        std::string name;
        in >> name;
        c.named.emplace_back(name, value(in, c));
      } else if (word == "out" || word == "grad") {
        int count = 0;
        in >> count;
        for (int k = 0; k < count; ++k) (word == "out" ? c.results : c.gradients).push_back(line_of_tensor());
        const bool some = std::any_of(c.gradients.begin(), c.gradients.end(), [](const Tensor& g) { return g.defined(); });
        for (std::size_t k = 0; some && k < c.leaves.size(); ++k)
          if (!c.gradients[k].defined()) c.leaves[k].requires_grad_(false);  // PyTorch may have no derivative by it
      }
    }
    return false;
  }

 private:
  std::ifstream file_;

  Tensor line_of_tensor() {
    std::string line, kind;
    std::getline(file_, line);
    std::istringstream in(line);
    in >> kind;
    return kind == "N" ? Tensor() : tensor(in);
  }
  static Tensor tensor(std::istringstream& in) {
    std::string dtype, word;
    int rank = 0;
    in >> dtype >> rank;
    tt::IntList shape;
    for (int k = 0; k < rank; ++k) {
      std::int64_t n = 0;
      in >> n;
      shape.push_back(n);
    }
    in >> word;
    const DType d = dtype_called(dtype);
    Tensor t = tt::zeros(shape, tt::is_floating(d) ? DType::f64 : DType::i64);
    for (std::int64_t k = 0; k < t.numel(); ++k) {
      in >> word;
      if (tt::is_floating(d)) t.data_ptr<double>()[k] = real(word);
      else t.data_ptr<std::int64_t>()[k] = std::strtoll(word.c_str(), nullptr, 10);
    }
    return t.to(d);
  }
  static Tensor leaf(Tensor t, Case& c) {
    if (t.is_floating_point()) {
      t.requires_grad_();
      c.leaves.push_back(t);
    }
    return t;
  }
  BoxedValue value(std::istringstream& in, Case& c) {
    std::string kind, word;
    in >> kind;
    int count = 0;
    std::int64_t whole = 0;
    if (kind == "T") return leaf(tensor(in), c);
    if (kind == "N") return tt::none;
    if (kind == "B" || kind == "I") {
      in >> whole;
      if (kind == "B") return whole != 0;
      return whole;
    }
    if (kind == "L") {
      in >> count;
      tt::IntList list;
      for (int k = 0; k < count; ++k) {
        in >> whole;
        list.push_back(whole);
      }
      return list;
    }
    if (kind == "R") {
      in >> count;
      std::vector<double> list;
      for (int k = 0; k < count; ++k) {
        in >> word;
        list.push_back(real(word));
      }
      return list;
    }
    if (kind == "M") {
      in >> count;
      Tensors list;
      for (int k = 0; k < count; ++k) list.push_back(leaf(line_of_tensor(), c));
      return list;
    }
    if (kind == "S") {  // a text may have spaces
      std::getline(in >> std::ws, word);
      return std::string_view(word);
    }
    in >> word;
    if (kind == "F") return real(word);
    return dtype_called(word);
  }
};

/// In the form of the file; nothing of a Tensor that is elsewhere.
inline std::string text_of(const Tensor& t) {
  if (!t.defined() || t.device().type != tt::DeviceType::cpu) return "N";
  std::ostringstream out;
  out.precision(12);
  out << "T " << tt::name(t.dtype()) << ' ' << t.dim();
  for (const std::int64_t n : t.shape()) out << ' ' << n;
  out << " :";
  const Tensor x = t.detach().to(t.is_floating_point() ? DType::f64 : DType::i64).contiguous();
  for (std::int64_t k = 0; k < x.numel(); ++k)
    if (t.is_floating_point()) out << ' ' << x.data_ptr<double>()[k];
    else out << ' ' << x.data_ptr<std::int64_t>()[k];
  return out.str();
}
inline std::string text_of(const BoxedValue& v) {
  std::ostringstream out;
  out.precision(12);
  if (v.is_tensor()) return text_of(v.tensor());
  if (v.is_boolean()) out << "B " << v.integer();
  else if (v.is_integer()) out << "I " << v.integer();
  else if (v.is_number()) out << "F " << v.real();
  else if (v.is_text()) out << "S " << v.text();
  else if (v.is_dtype()) out << "D " << tt::name(static_cast<DType>(v.integer()));
  else if (v.is_list()) {
    out << "L " << v.list().size();
    for (const std::int64_t n : v.list()) out << ' ' << n;
  } else if (v.is_reals()) {
    out << "R " << v.reals().size();
    for (const double n : v.reals()) out << ' ' << n;
  } else if (v.is_tensors()) {
    out << "M " << v.tensors().size();
    for (const Tensor& t : v.tensors()) out << '\n' << text_of(t);
  } else out << 'N';
  return out.str();
}

/// What differs, or nothing.
inline std::string difference(const Tensor& got, const Tensor& want, bool elements = true) {
  if (!(got.shape() == want.shape())) return "shape";
  if (got.dtype() != want.dtype()) return "dtype";
  if (!elements) return "";
  const double allowed = got.dtype() == DType::f64 ? 1e-7 : got.dtype() == DType::f32 ? 2e-5 : got.dtype() == DType::f16 ? 2e-3 : 2e-2;
  const Tensor a = got.detach().to(DType::f64).contiguous(), b = want.detach().to(DType::f64).contiguous();
  for (std::int64_t k = 0; k < a.numel(); ++k) {
    const double x = a.data_ptr<double>()[k], y = b.data_ptr<double>()[k];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= allowed * (1 + std::fabs(y)))) {
      std::ostringstream said;
      said << "value of " << tt::name(got.dtype()) << ' ' << x << " at " << k << ", PyTorch's " << y;
      return said.str();
    }
  }
  return "";
}
inline std::vector<tt::NamedValue> named_values(const Case& c) {
  std::vector<tt::NamedValue> v;
  for (const auto& [name, value] : c.named) v.push_back({name.c_str(), value});
  return v;
}
inline constexpr int seed_of_draws = 7;
/// f of the Tensors among the arguments, in their order.
template <class F>
void each_tensor(Case& c, const F& f) {
  const auto of = [&](BoxedValue& v) {
    if (v.is_tensor() && v.tensor().defined()) v = f(v.tensor());
    if (v.is_tensors()) {
      Tensors list = v.tensors();
      for (Tensor& t : list)
        if (t.defined()) t = f(t);
      v = list;
    }
  };
  for (BoxedValue& v : c.arguments) of(v);
  for (auto& [name, v] : c.named) of(v);
}
inline Tensors tensors_of(Case c) {
  Tensors all;
  each_tensor(c, [&](const Tensor& t) { return all.emplace_back(t); });
  return all;
}
/// A Tensor that is given another size or other memory has no gradient there: these refuse one that wants it, as PyTorch's do.
inline bool needs_no_gradient(const std::string& name) { return name == "resize_" || name == "resize_as_" || name == "set_"; }
/// By name. What a name that ends with _ writes is a copy of the first argument; what is drawn begins at one seed.
inline Tensors results(const Case& c) {
  if (c.drawn) tt::manual_seed(seed_of_draws);
  std::vector<BoxedValue> arguments = c.arguments;
  if (c.name.ends_with('_') && !c.name.ends_with("__") && !arguments.empty() && arguments[0].is_tensor() && arguments[0].tensor().defined()) {
    const Tensor x = arguments[0].tensor();
    arguments[0] = (needs_no_gradient(c.name) ? x.detach() : x).clone();
  }
  return tt::call_results(c.name.c_str(), arguments, named_values(c));
}
/// Of results the part that one value is right for: eigenvectors are known up to a phase, and of those the squares of the sizes of their elements are compared.
inline Tensors comparable(const Case& c, Tensors r) {
  if ((c.name == "linalg.eig" || c.name == "linalg_eig") && r.size() == 2) r[1] = r[1].square().sum(-1);
  return r;
}
/// From 1/2 to 3/2, as the recorded gradients were asked for.
inline Tensor flow_into(const Tensor& t) {
  const std::int64_t n = t.numel();
  Tensor f = tt::zeros({n}, DType::f64);
  for (std::int64_t k = 0; k < n; ++k) f.data_ptr<double>()[k] = n > 1 ? 0.5 + static_cast<double>(k) / static_cast<double>(n - 1) : 0.5;
  return f.reshape(t.shape()).to(t.dtype());
}
/// The results times what flows into them, summed: of this the recorded gradients are the gradient.
inline Tensor weighted(const Case& c, const Tensors& r) {
  Tensor total;
  for (std::size_t k = 0; k < c.results.size(); ++k)
    if (r[k].requires_grad()) {
      const Tensor part = (r[k] * flow_into(r[k])).sum();
      total = total.defined() ? total + part : part;
    }
  return total;
}
inline std::string check_case(const Case& c) {
  const Tensors r = comparable(c, results(c));
  if (r.size() < c.results.size()) return "number of results";
  for (std::size_t k = 0; k < c.results.size(); ++k)
    if (const std::string d = difference(r[k], c.results[k], !c.drawn); !d.empty()) return d;
  if (c.gradients.empty()) return "";
  const Tensor total = weighted(c, r);
  if (!total.defined()) return "no gradient";
  total.backward();
  for (std::size_t k = 0; k < c.gradients.size(); ++k) {
    if (!c.gradients[k].defined()) continue;
    const Tensor g = c.leaves[k].grad();
    if (const std::string d = difference(g.defined() ? g : tt::zeros_like(c.leaves[k]), c.gradients[k]); !d.empty()) return "gradient " + std::to_string(k) + ' ' + d;
  }
  return "";
}
/// The same call with another Tensor as its first argument.
inline Tensors results_of(const Case& c, const Tensor& x) {
  Case own = c;
  own.arguments[0] = x;
  return results(own);
}
/// Is the first argument a floating Tensor, with axes?
inline bool begins_with_floats(const Case& c) {
  return !c.leaves.empty() && c.leaves[0].dim() > 0 && c.arguments[0].is_tensor() && c.arguments[0].tensor().is_same(c.leaves[0]);
}

}  // namespace operator_cases
