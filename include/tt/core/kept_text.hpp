// A text that is kept as long as the program runs; equal texts are stored once. For names in options: they may be a
// caller's std::string, and are read later by errors and by nodes that outlive the call.
//   KeptText name = std::string("f");   name.text
#pragma once
#include <concepts>
#include <cstddef>
#include <cstring>

#include "tt/config.hpp"
#include "tt/core/flag_lock.hpp"

namespace tt {
namespace detail {
TT_INLINE const char* keep_text(const char* text, std::size_t size);
}  // namespace detail

struct KeptText {
  const char* text = nullptr;  ///< or null

  KeptText(const char* t) : text(t ? detail::keep_text(t, std::strlen(t)) : nullptr) {}
  template <class S>
    requires requires(const S& s) {
      { s.data() } -> std::convertible_to<const char*>;
      { s.size() } -> std::convertible_to<std::size_t>;
    }
  KeptText(const S& s) : text(detail::keep_text(s.data(), s.size())) {}
  operator const char*() const { return text; }
};

#if TT_DEFINES(core)

TT_INLINE const char* detail::keep_text(const char* text, std::size_t size) {
  struct Entry {
    Entry* next;
    std::size_t size;
    char text[1];
  };
  static constinit BusyFlag busy;
  static constinit Entry* bucket[64] = {};
  std::size_t hash = size;
  for (std::size_t k = 0; k < size; ++k) hash = (hash ^ static_cast<unsigned char>(text[k])) * 0x100000001b3u;
  Entry*& first = bucket[hash >> 20 & 63];
  const FlagLock lock(busy);
  for (const Entry* e = first; e; e = e->next)
    if (e->size == size && std::memcmp(e->text, text, size) == 0) return e->text;
  auto* e = static_cast<Entry*>(::operator new(sizeof(Entry) + size));
  e->next = first;
  e->size = size;
  std::memcpy(e->text, text, size);
  e->text[size] = '\0';
  first = e;
  return e->text;
}

#endif

}  // namespace tt
