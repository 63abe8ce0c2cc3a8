// A file of a test in the working folder, which is gone when this is.
//   const TemporaryFile file("test_x_broken.npz");   file.write(bytes);   tt::load_npz(file.path());
#pragma once
#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <utility>

#include "tt/io/npy.hpp"

struct TemporaryFile {
  std::string name;
  explicit TemporaryFile(std::string n) : name(std::move(n)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(name.c_str()); }
  const char* path() const { return name.c_str(); }
  void write(const std::string& bytes) const {
    const tt::detail::File file(std::fopen(path(), "wb"));
    REQUIRE(file.f);
    REQUIRE(tt::detail::write_bytes(file.f, bytes.data(), bytes.size()));
  }
  std::string read() const {
    const tt::detail::File file(std::fopen(path(), "rb"));
    REQUIRE(file.f);
    std::string all;
    for (int c = std::fgetc(file.f); c != EOF; c = std::fgetc(file.f)) all += static_cast<char>(c);
    return all;
  }
};
