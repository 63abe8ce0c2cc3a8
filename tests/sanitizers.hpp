// Is this program built with a sanitizer, which makes it several times slower?
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TT_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TT_TEST_SANITIZED 1
#endif
#if !defined(TT_TEST_SANITIZED)
#define TT_TEST_SANITIZED 0
#endif

inline constexpr bool is_sanitized = TT_TEST_SANITIZED;
