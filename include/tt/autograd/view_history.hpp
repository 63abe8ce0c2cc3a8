// Changes in place where Tensors share elements. A view keeps its base, the Tensor whose elements it shows, and a base knows its views. When a view is
// changed on the tape, the base gets a node that puts the new elements among the old ones (ViewUpdate); when a base was changed, by a view or itself,
// each view gets a new node that reads the base (ViewOf). So a gradient goes through whichever of them is read next, as if nothing were changed in place.
//   y = x * 2;   row = y[0];   row *= w;     // y: ViewUpdate(mul of old, row's new elements); row and other views of y: ViewOf(y)
#pragma once
#include <vector>

#include "tt/autograd/node.hpp"
#include "tt/dispatch/index_ops.hpp"
#include "tt/dispatch/methods.hpp"

namespace tt {
namespace autograd {

#if TT_DEFINES(autograd)

/// A node that keeps which elements of a base its view shows.
struct ViewNode : TapeNode {
  Edge own_edge[2];  ///< of the base; of the elements that are put there
  Shape base, view;
  std::int64_t base_stride[max_rank], view_stride[max_rank], offset = 0;  ///< in elements
  DType dtype = DType::f32;
  Device device;

  ViewNode(const tt::detail::TensorImpl& b, const tt::detail::TensorImpl& v) : base(b.shape), view(v.shape), dtype(b.dtype), device(b.device) {
    for (int k = 0; k < b.shape.rank; ++k) base_stride[k] = b.stride[k];
    for (int k = 0; k < v.shape.rank; ++k) view_stride[k] = v.stride[k];
    offset = (v.data - b.data) / size_of(b.dtype);
  }
};

/// Calls f(distance in memory from the first element) for each element, the last axis running fastest.
template <class F>
void each_distance(const Shape& s, const std::int64_t* stride, const F& f) {
  std::int64_t index[max_rank] = {}, at = 0;
  const std::int64_t n = s.size().code;
  for (std::int64_t done = 0; done < n; ++done) {
    f(at);
    for (int k = s.rank - 1; k >= 0; --k) {
      at += stride[k];
      if (++index[k] < s.code[k]) break;
      at -= stride[k] * s.code[k];
      index[k] = 0;
    }
  }
}
/// For each element of the view its row-major index in the base: i64, a vector.
inline Tensor places_in_base(const ViewNode& n) {
  std::int64_t low = 0, high = 0;
  each_distance(n.base, n.base_stride, [&](std::int64_t d) {
    low = d < low ? d : low;
    high = d > high ? d : high;
  });
  std::vector<std::int64_t> number(static_cast<std::size_t>(high - low) + 1, -1);
  std::int64_t next = 0;
  each_distance(n.base, n.base_stride, [&](std::int64_t d) { number[static_cast<std::size_t>(d - low)] = next++; });
  Tensor places(DType::i64, Shape{n.view.size().code});
  std::int64_t* to = places.data_ptr<std::int64_t>();
  each_distance(n.view, n.view_stride, [&](std::int64_t d) {
    const std::int64_t at = d + n.offset - low;
    const std::int64_t place = at < 0 || at > high - low ? -1 : number[static_cast<std::size_t>(at)];
    if (place < 0) TT_THROW(Error(Text("tt::backward: a view reaches beyond the Tensor that it was taken of, and one of them was changed in place.") << n.where));
    *to++ = place;
  });
  return places.to(n.device);
}

/// The gradient of a base: the gradient of the view at the view's elements, zeros elsewhere.
inline void apply_view_of(TapeNode& node, Tensor* in, Tensor* out, bool) {
  auto& n = static_cast<ViewNode&>(node);
  if (!in[0].defined()) return;
  const Tensor zero = zeros({n.base.size().code}, TensorOptions{.dtype = n.dtype, .device = n.device});
  out[0] = index_add(zero, 0, places_in_base(n), in[0].reshape({-1})).reshape(n.base);
}
/// The gradients of the old base, zeros where it was overwritten, and of the new elements.
inline void apply_view_update(TapeNode& node, Tensor* in, Tensor* out, bool) {
  auto& n = static_cast<ViewNode&>(node);
  if (!in[0].defined()) return;
  const Tensor places = places_in_base(n), flat = in[0].reshape({-1});
  if (n.own_edge[1].node) out[1] = index_select(flat, 0, places).reshape(n.view);
  if (!n.own_edge[0].node) return;
  const Tensor ones_there = index_add(zeros({n.base.size().code}, TensorOptions{.dtype = n.dtype, .device = n.device}), 0, places, ones({n.view.size().code}, TensorOptions{.dtype = n.dtype, .device = n.device}));
  out[0] = tt::where(ones_there == 0, flat, 0).reshape(n.base);
}
inline void destroy_view_node(TapeNode* n) { delete static_cast<ViewNode*>(n); }
inline const TapeNodeKind view_of_kind{&apply_view_of, &keep_nothing, &destroy_view_node};
inline const TapeNodeKind view_update_kind{&apply_view_update, &keep_nothing, &destroy_view_node};

/// A node of this kind for a view and its base, with edges to the Tensors `from`.
inline NodeHandle view_node(const TapeNodeKind& kind, const char* name, const Tensor& base, const Tensor& view, std::initializer_list<const Tensor*> from) {
  auto* n = new ViewNode(base.impl(), view.impl());
  NodeHandle handle = NodeHandle::of_new(n);
  n->kind = &kind;
  n->name = name;
  connect(*n, n->own_edge, from.begin(), static_cast<int>(from.size()));
  return handle;
}
/// The views of a base that are still alive.
inline std::vector<Tensor> views_of(const Tensor& base) {
  std::vector<Tensor> views;
  tt::detail::TensorImpl& b = base.impl();
  const tt::detail::FlagLock lock(b.views_busy);
  for (tt::detail::TensorImpl* v = b.first_view; v; v = v->next_view)
    if (v->try_retain()) views.push_back(Tensor(v));
  return views;
}
inline Tensor base_of(const Tensor& t) {
  tt::detail::TensorImpl* const base = t.impl().base;
  if (!base) return t;
  base->retain();
  return Tensor(base);
}

inline void take_history_of_base(const Tensor& base, const Tensor& view) {
  set_histories(view_node(view_of_kind, "ViewOf", base, view, {&base}), &view, 1, [](int) { return true; });
}

/// The elements that were written to `target` get the history of `result`.
inline void adopt_history(Tensor& target, const Tensor& result) {
  const Tensor base = base_of(target);
  if (!base.is_same(target)) {
    if (result.impl().requires_grad || base.impl().requires_grad) set_histories(view_node(view_update_kind, "ViewUpdate", base, target, {&base, &result}), &base, 1, [](int) { return true; });
  } else if (!result.impl().requires_grad) {
    forget_history(target);  // nothing of the old value is left
  } else {
    const Edge e = edge_of(result);
    set_history(target, e.node, e.result);
  }
  for (const Tensor& v : views_of(base)) {
    if (base.impl().requires_grad) take_history_of_base(base, v);
    else if (v.impl().requires_grad) forget_history(v);
  }
}

#endif

}  // namespace autograd
}  // namespace tt
