// What a thread keeps from call to call, given back when it ends. Destructors of other thread_local objects run later and
// may need it again: so it is trivial, and goes back to the end of what a thread's end does. What destructors of static
// objects need stays until the process ends.
//   thread_local constinit Spare<Lists> spare;   Lists* l = spare.take();  ...  spare.keep(l);
#pragma once

namespace tt {
namespace detail {

/// What thread_local objects with destructors are registered by, and what tells loaded libraries apart: this one is not unloaded
/// before the thread has ended. Under names of our own: g++ and <cxxabi.h> declare theirs.
int at_thread_end(void (*end)(void*), void* object, void* library) noexcept __asm__("__cxa_thread_atexit");
extern char this_library __asm__("__dso_handle") __attribute__((visibility("hidden")));

class AtThreadEnd {
 protected:
  using Release = void (*)(AtThreadEnd*) noexcept;
  constexpr explicit AtThreadEnd(Release release) : release_(release) {}
  /// Has release() called when the thread ends, once. A thread_local object with a destructor would be no use: it ends only once.
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

/// One T, made where none is kept. Of one thread: a thread_local object.
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
