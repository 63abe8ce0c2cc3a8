// The libraries of compiled kernels that this process has loaded, least recently used first. A library holds the kernels of several programs;
// it is used while one of them holds it. Without a lock: CodeCache calls all of this under its own.
#pragma once
#include <memory>

#include "tt/backends/compiler.hpp"

namespace tt {

struct LoadedLibrary {
  backend::Library code;
  Text path;
  Vec<ContentHash> keys;  ///< of the programs that took kernels from it
};

class LoadedLibraries {
 public:
  using Pointer = std::shared_ptr<LoadedLibrary>;

  /// The library with a program's kernels, or null.
  Pointer find(const ContentHash& key) const {
    for (int k = all_.size(); k-- > 0;)
      if (has(*all_[k], key)) return all_[k];
    return nullptr;
  }
  /// The library loaded from a file, or null.
  Pointer find(const Text& path) const {
    for (int k = all_.size(); k-- > 0;)
      if (all_[k]->path == path) return all_[k];
    return nullptr;
  }
  /// Notes that a program takes its kernels from a library, now the one used last. True: it was not among these.
  bool use(const Pointer& library, const ContentHash& key) {
    int at = 0;
    while (at < all_.size() && all_[at] != library) ++at;
    const bool is_new = at == all_.size();
    if (is_new) all_.push_back(library);
    for (; at + 1 < all_.size(); ++at) all_[at].swap(all_[at + 1]);
    if (!has(*library, key)) library->keys.push_back(key);
    return is_new;
  }
  /// Where more than `most` are unused, takes those used longest ago out, until half as many are left.
  Vec<Pointer> take_unused(int most) {
    int unused = 0;
    for (const Pointer& l : all_) unused += !is_used(l);
    if (unused <= most) return {};
    Vec<Pointer> taken, rest;
    for (const Pointer& l : all_) {
      const bool goes = unused > most / 2 && !is_used(l);
      unused -= goes;
      (goes ? taken : rest).push_back(l);
    }
    all_ = static_cast<Vec<Pointer>&&>(rest);
    return taken;
  }

 private:
  Vec<Pointer> all_;

  static bool is_used(const Pointer& library) { return library.use_count() > 1; }
  static bool has(const LoadedLibrary& library, const ContentHash& key) {
    for (const ContentHash& k : library.keys)
      if (k == key) return true;
    return false;
  }
};

}  // namespace tt
