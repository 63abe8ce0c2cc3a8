// The path of a file as an argument: a string literal, a std::string, a std::filesystem::path, or any other type with c_str().
#pragma once
#include <concepts>

namespace tt {

class FilePath {
 public:
  constexpr FilePath(const char* path) : path_(path) {}
  template <class S>
    requires requires(const S& s) {
      { s.c_str() } -> std::convertible_to<const char*>;
    }
  constexpr FilePath(const S& path) : path_(path.c_str()) {}
  constexpr operator const char*() const { return path_; }

 private:
  const char* path_;  // valid as long as the argument
};

}  // namespace tt
