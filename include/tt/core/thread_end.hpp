// Caches of one thread, freed when the thread ends. Destructors of other thread_local objects may run later and use a
// cache again, so a cache has a trivial destructor and registers itself again. A cache that destructors of static
// objects use stays until the process ends.
//   thread_local constinit Spare<Lists> spare;   Lists* l = spare.take();  ...  spare.keep(l);
#pragma once

namespace tt {
namespace detail {

/// __cxa_thread_atexit registers thread_local objects with destructors; __dso_handle names the loaded library, which is
/// not unloaded before the thread has ended. Declared under other names, because g++ and <cxxabi.h> declare theirs.
int at_thread_end(void (*end)(void*), void* object, void* library) noexcept __asm__("__cxa_thread_atexit");
extern char this_library __asm__("__dso_handle") __attribute__((visibility("hidden")));

class AtThreadEnd {
 protected:
  using Release = void (*)(AtThreadEnd*) noexcept;
  constexpr explicit AtThreadEnd(Release release) : release_(release) {}
  /// Has release_ called once when the thread ends. A thread_local object with a destructor would not do: it is destroyed only once.
  void enlist() {
    if (is_listed_) return;
    const auto end = [](void* self) {
      auto* const a = static_cast<AtThreadEnd*>(self);
      a->is_listed_ = false;
      a->release_(a);
    };
    is_listed_ = at_thread_end(end, this, &this_library) == 0;
  }

 private:
  Release release_;
  bool is_listed_ = false;
};

/// Keeps one T for the next take(), which else makes one. To be a thread_local object.
template <class T>
class Spare : AtThreadEnd {
 public:
  constexpr Spare() : AtThreadEnd([](AtThreadEnd* self) noexcept { delete static_cast<Spare*>(self)->take_kept(); }) {}
  [[nodiscard]] T* take() {
    T* const kept = take_kept();
    return kept ? kept : new T;
  }
  void keep(T* t) {
    enlist();
    delete kept_;
    kept_ = t;
  }

 private:
  T* kept_ = nullptr;
  T* take_kept() {
    T* const kept = kept_;
    kept_ = nullptr;
    return kept;
  }
};

}  // namespace detail
}  // namespace tt
