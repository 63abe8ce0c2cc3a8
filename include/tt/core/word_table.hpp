// WordTable: lists of whole numbers, each stored once for the life of the process, so that equal lists have equal numbers.
// An Extent that does not fit into one integer is such a list. Run time only; any thread; reading takes no lock.
//   int n = WordTable::number_of(words, 3);   WordTable::list(n)  is those words
#pragma once
#include <cstdint>

#include "tt/config.hpp"
#include "tt/core/vec.hpp"

namespace tt::detail {

class WordTable {
 public:
  struct List {
    const std::int64_t* word;
    int count;
    std::int64_t operator[](int k) const { return word[k]; }
  };
  TT_INLINE static int number_of(const std::int64_t* word, int count);
  TT_INLINE static List list(int number);
  /// Called before a fork, and after it in both processes: a child must not find the lock taken by a thread that it does not have.
  TT_INLINE static void lock();
  TT_INLINE static void unlock();

 private:
  struct Lists;
};

#if TT_DEFINES(core)

/// The lists are in blocks of 64, 128, 256, ... that never move.
struct WordTable::Lists {
  struct One {
    List list;
    std::uint64_t hash;
    int next;
  };
  static constexpr int blocks = 25, first_block = 64;
  One* block[blocks] = {};
  bool busy = false;
  Vec<int> head = Vec<int>(256, -1);
  int size = 0;

  static Lists& get() {
    static Lists* const lists = new Lists;  // never destroyed: static destructors may read it
    return *lists;
  }
  static int block_of(int number) { return 31 - __builtin_clz(static_cast<unsigned>(number / first_block + 1)); }
  One& at(int number) const {
    const int b = block_of(number);
    return __atomic_load_n(&block[b], __ATOMIC_ACQUIRE)[number - ((1 << b) - 1) * first_block];
  }
  int& first_of(std::uint64_t hash) { return head[static_cast<int>(hash % static_cast<unsigned>(head.size()))]; }
  void link(int number) {
    int& first = first_of(at(number).hash);
    at(number).next = first;
    first = number;
  }
  int find(const std::int64_t* word, int count, std::uint64_t hash) {
    for (int k = first_of(hash); k >= 0; k = at(k).next) {
      const One& o = at(k);
      bool same = o.hash == hash && o.list.count == count;
      for (int i = 0; i < count && same; ++i) same = o.list[i] == word[i];
      if (same) return k;
    }
    return -1;
  }
  int add(const std::int64_t* word, int count, std::uint64_t hash) {
    const int b = block_of(size);
    if (!block[b]) __atomic_store_n(&block[b], new One[static_cast<std::size_t>(first_block) << b], __ATOMIC_RELEASE);
    auto* const kept = new std::int64_t[static_cast<std::size_t>(count)];
    for (int i = 0; i < count; ++i) kept[i] = word[i];
    at(size) = {{kept, count}, hash, -1};
    if (++size > 2 * head.size()) {
      head = Vec<int>(4 * head.size(), -1);
      for (int k = 0; k < size; ++k) link(k);
    } else {
      link(size - 1);
    }
    return size - 1;
  }
};
TT_INLINE int WordTable::number_of(const std::int64_t* word, int count) {
  std::uint64_t h = 14695981039346656037u;
  for (int k = 0; k < count; ++k) {
    h = (h ^ static_cast<std::uint64_t>(word[k])) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  Lists& lists = Lists::get();
  lock();
  int number = lists.find(word, count, h);
  if (number < 0) number = lists.add(word, count, h);
  unlock();
  return number;
}
TT_INLINE void WordTable::lock() {
  while (__atomic_test_and_set(&Lists::get().busy, __ATOMIC_ACQUIRE)) {  // <atomic> would be included in every file with Arrays
  }
}
TT_INLINE void WordTable::unlock() { __atomic_clear(&Lists::get().busy, __ATOMIC_RELEASE); }
TT_INLINE WordTable::List WordTable::list(int number) { return Lists::get().at(number).list; }

#endif

}  // namespace tt::detail
