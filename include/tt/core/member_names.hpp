// The names of a struct's members, without macros or registration: a function whose template argument is
// the address of a member shows that member's name in __PRETTY_FUNCTION__ (an idea of Boost.PFR).
//   member_name<Mlp<tt::arrays>, 0>  is  "w1"
#pragma once
#include "tt/core/members.hpp"

namespace tt {
namespace detail {

struct NameText {
  const char* begin = nullptr;
  std::size_t size = 0;
};

constexpr bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 128;
}
/// The last identifier of a text: the name after the member's `.` or `::`.
constexpr NameText last_identifier(const char* text) {
  const char* end = text;
  for (const char* p = text; *p; ++p)
    if (is_identifier(*p)) end = p + 1;
  const char* begin = end;
  while (begin != text && is_identifier(begin[-1])) --begin;
  return {begin, static_cast<std::size_t>(end - begin)};
}
static_assert(last_identifier("f() [with auto* P = (& example<S>.Example<S>::value.S::w1)]").size == 2);
static_assert(last_identifier("f() [P = &example.value.bias]").size == 4);

template <auto* Member>
constexpr NameText name_at() {
  return last_identifier(__PRETTY_FUNCTION__);
}

/// Only the addresses of the members of `example` are used, so it has no definition.
template <class S>
struct Example {
  S value;
};
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class S>
extern const Example<S> example;

/// Member I of a struct.
template <std::size_t I, class S>
constexpr auto& member(S& s) {
  return with_members(s, [](auto&... m) -> auto& { return std::get<I>(std::tie(m...)); });
}
template <class S, std::size_t I>
constexpr auto* address_of_member() {
  return &member<I>(example<S>.value);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace detail

/// The name of member I, not terminated.
template <class S, std::size_t I>
inline constexpr detail::NameText member_name =
    detail::name_at<detail::address_of_member<std::remove_cv_t<S>, I>()>();

}  // namespace tt
