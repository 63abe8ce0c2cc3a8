// Ops whose body is a graph that was read from text: of equal bodies there is one, kept for good.
#pragma once
#include <atomic>

#include "tt/graph/print.hpp"
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

/// The body of an op that was read, recorded anew on these operands.
inline int record_region(const OpDef& def, Graph& g, const int* operands) {
  const Graph& body = def.regions[0];
  Vec<int> map(body.size(), -1);
  for (int k = 0; k < body.inputs.size(); ++k) map[body.inputs[k]] = operands[k];
  for (int i = 0; i < body.size(); ++i) {
    if (map[i] >= 0) continue;
    map[i] = again(g, body, body[i], mapped(body.operands(i), map));
  }
  return map[body.outputs[0]];
}
/// Definitions that are kept for good, as nodes refer to them: of equal texts there is one, which fill(fresh) makes. One is an OpDef
/// with a text and a next. Lists only grow at their beginning, so none is locked.
template <class One>
struct KeptDefinitions {
  static constexpr int lists = 4096;
  std::atomic<One*> first_of[lists] = {};

  template <class Fill>
  const One& find(const Text& text, const Fill& fill) {
    std::uint64_t id = 14695981039346656037u;  // FNV-1a
    for (const char c : text) id = (id ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::atomic<One*>& first = first_of[id % lists];
    One *seen = first.load(std::memory_order_acquire), *made = nullptr;
    do {
      for (const One* o = seen; o; o = o->next)
        if (o->id == id && o->text == text) {
          delete made;  // another thread was first
          return *o;
        }
      if (!made) {
        made = new One;
        made->id = id;
        made->text = text;
        fill(*made);
      }
      made->next = seen;
    } while (!first.compare_exchange_weak(seen, made, std::memory_order_acq_rel, std::memory_order_acquire));
    return *made;
  }
};
inline const OpDef& op_of_region(const Graph& body) {
  struct One : OpDef {
    Graph body;
    Text text;
    One* next = nullptr;
  };
  static KeptDefinitions<One> kept;
  return kept.find(to_string(body), [&](One& made) {
    made.body = body;
    made.info = {.name = "op", .domain = Domain::number, .arity = body.inputs.size()};
    made.record = &record_region;
    made.regions = &made.body;
    made.region_count = 1;
  });
}

}  // namespace detail
}  // namespace tt
