// Ops whose body is a graph parsed from text: equal bodies share one definition, which is never freed. KeptDefinitions is the table of such definitions.
#pragma once
#include <atomic>

#include "tt/graph/print.hpp"
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

/// Records the body of such an op on these operands.
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
/// Definitions that are never freed, since nodes refer to them: one per text, filled by fill(fresh). `One` is an OpDef with members `text` and `next`. Lists
/// are lock-free: they only grow at their beginning.
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
