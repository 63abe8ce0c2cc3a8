// Callable<R(A...)>: a function object kept by value, as std::function; but copies share the object with its state, and the
// header is cheap: that of std::function takes a compiler a sixth of the time that including xsimd takes.
//   tt::Callable<int(int)> twice = [](int x) { return 2 * x; };
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

#include "tt/core/error.hpp"

namespace tt {

template <class Signature>
class Callable;

template <class R, class... A>
class Callable<R(A...)> {
 public:
  /// Empty: calling it throws Error.
  Callable() = default;
  Callable(std::nullptr_t) {}
  /// Empty if `f` is a null pointer, or an object that converts to false.
  template <class F>
    requires(!std::is_same_v<F, Callable> && !std::is_member_pointer_v<F> && std::is_invocable_r_v<R, F&, A...>)
  Callable(F f) {
    if constexpr (std::is_pointer_v<F> || requires { f.operator bool(); })
      if (!f) return;
    object_ = std::make_shared<F>(static_cast<F&&>(f));
    call_ = [](void* object, A... a) -> R { return static_cast<R>((*static_cast<F*>(object))(static_cast<A&&>(a)...)); };
  }
  R operator()(A... a) const {
    if (!call_) TT_THROW(Error("tt: an empty Callable was called."));
    return call_(object_.get(), static_cast<A&&>(a)...);
  }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  std::shared_ptr<void> object_;
  R (*call_)(void*, A...) = nullptr;
};

template <class Signature>
class CallableRef;

/// A reference to a function object, which must outlive it.
template <class R, class... A>
class CallableRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<F, CallableRef> && !std::is_member_pointer_v<F> && std::is_invocable_r_v<R, const F&, A...>)
  CallableRef(const F& f)
      : object_(&f), call_([](const void* object, A... a) -> R {
          return static_cast<R>((*static_cast<const F*>(object))(static_cast<A&&>(a)...));
        }) {}
  R operator()(A... a) const { return call_(object_, static_cast<A&&>(a)...); }

 private:
  const void* object_;
  R (*call_)(const void*, A...);
};

}  // namespace tt
