// Text: a string builder for messages, listings and emitted code, also in constant expressions.
// Converts to std::string, std::string_view or anything made from (const char*, size).
//   Text t;  t << "sum over axis " << 1;  std::string s = t;
#pragma once
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "tt/core/vec.hpp"

namespace tt {

/// A stream with write(const char*, n); so user files need no <iosfwd>.
template <class S>
concept CharStream = requires(S& s, const char* p) { s.write(p, 1L); };

/// Does this consist of letters, digits and _, as the names of ops do, which graphs as text have?
constexpr bool is_op_name(const char* name) {
  for (const char* c = name; *c; ++c)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
  return *name != 0;
}

class Text {
 public:
  constexpr Text() = default;
  constexpr Text(const char* text) { *this << text; }

  constexpr Text& operator<<(const char* text) {
    int n = 0;
    while (text[n]) ++n;
    return append(text, n);
  }
  constexpr Text& operator<<(char c) {
    chars_.push_back(c);
    return *this;
  }
  constexpr Text& operator<<(const Text& other) {
    return append(other.begin(), other.size());
  }
  template <std::integral I>
    requires(!std::same_as<I, char> && !std::same_as<I, bool>)
  constexpr Text& operator<<(I value) {
    char digits[24]{};
    int n = 0;
    bool negative = false;
    if constexpr (std::signed_integral<I>) negative = value < 0;
    do {
      const int digit = static_cast<int>(value % 10);
      digits[n++] = static_cast<char>('0' + (negative ? -digit : digit));
      value = static_cast<I>(value / 10);
    } while (value != 0);
    if (negative) chars_.push_back('-');
    while (n > 0) chars_.push_back(digits[--n]);
    return *this;
  }
  template <std::floating_point F>
  Text& operator<<(F value) = delete;  // it would convert to char; see write_number
  constexpr Text& append(const char* chars, int count) {
    chars_.append(chars, count);
    return *this;
  }
  /// Spaces up to column `width` of the current line.
  constexpr Text& pad_to(int width) {
    int column = 0;
    for (int i = chars_.size(); i > 0 && chars_[i - 1] != '\n'; --i) ++column;
    for (; column < width; ++column) chars_.push_back(' ');
    return *this;
  }

  /// Removes the spaces at its end.
  constexpr Text& trim_right() {
    while (chars_.size() > 0 && chars_[chars_.size() - 1] == ' ') chars_.pop_back();
    return *this;
  }
  constexpr int size() const { return chars_.size(); }
  constexpr bool empty() const { return chars_.empty(); }
  constexpr char operator[](int i) const { return chars_[i]; }
  constexpr const char* begin() const { return chars_.begin(); }
  constexpr const char* end() const { return chars_.end(); }
  /// Ends with a zero byte that is not part of the text.
  constexpr const char* c_str() {
    chars_.push_back('\0');
    chars_.pop_back();
    return chars_.begin();
  }
  constexpr bool contains(const char* part) const {
    for (int i = 0; i < chars_.size() || !*part; ++i) {
      int j = 0;
      while (part[j] && i + j < chars_.size() && chars_[i + j] == part[j]) ++j;
      if (!part[j]) return true;
    }
    return false;
  }
  template <class S>
    requires(std::constructible_from<S, const char*, std::size_t> && !std::same_as<S, Text>)
  constexpr operator S() const {
    return S(chars_.begin(), static_cast<std::size_t>(chars_.size()));
  }
  friend constexpr bool operator==(const Text& a, const Text& b) { return a.chars_ == b.chars_; }

  template <CharStream Stream>
  friend Stream& operator<<(Stream& stream, const Text& text) {
    stream.write(text.begin(), text.size());
    return stream;
  }

 private:
  Vec<char> chars_;
};

/// A text as a template argument.
template <std::size_t N>
struct FixedText {
  char text[N] = {};
  constexpr FixedText(const char (&from)[N]) : FixedText(from, N) {}
  constexpr FixedText(const char* from, std::size_t size) {
    for (std::size_t k = 0; k < size && k < N; ++k) text[k] = from[k];
  }
};

}  // namespace tt
