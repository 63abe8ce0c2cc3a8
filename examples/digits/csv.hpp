// The digits file: one row an image, 64 pixels 0..16 and then the class 0..9.
//   const digits::Digits all = digits::read_digits("examples/data/digits.csv");
// What is wrong with a file is said with its name, line and column:
//   digits.csv:17: 63 columns, not 65
#pragma once
#include <charconv>
#include <cstdint>
#include <fstream>
#include <istream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace digits {

inline constexpr int side = 8, pixels = side * side, classes = 10, darkest = 16;

struct Digits {
  std::vector<std::uint8_t> image;  ///< count x 64, 0 (paper) to 16 (ink)
  std::vector<std::uint8_t> label;

  int count() const { return static_cast<int>(label.size()); }
  const std::uint8_t* image_at(int k) const { return image.data() + k * pixels; }
  int label_at(int k) const { return label.data()[k]; }

  /// Those of the given numbers.
  Digits select(std::span<const int> which) const {
    Digits out;
    for (const int k : which) {
      out.image.insert(out.image.end(), image_at(k), image_at(k) + pixels);
      out.label.push_back(label.data()[k]);
    }
    return out;
  }
};

namespace detail {

/// The whole number of a field, which must lie in 0..largest.
inline std::uint8_t read_field(std::string_view field, int largest, const char* meaning,
                               const std::string& where) {
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  const std::string shown = '"' + std::string(field.substr(0, 20)) + '"';
  int value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::invalid_argument || end != field.data() + field.size())
    throw std::runtime_error(where + shown + " is not a whole number");
  if (error != std::errc{} || value < 0 || value > largest)
    throw std::runtime_error(where + shown + " is not a " + meaning + " (0 to " +
                             std::to_string(largest) + ")");
  return static_cast<std::uint8_t>(value);
}

inline void read_row(std::string_view row, const std::string& where, Digits& out) {
  int columns = row.empty() ? 0 : 1;
  for (const char c : row) columns += c == ',';
  if (columns != pixels + 1)
    throw std::runtime_error(where + ": " + std::to_string(columns) + " columns, not " +
                             std::to_string(pixels + 1));
  for (int column = 0; column < columns; ++column) {
    const std::string_view field = row.substr(0, row.find(','));
    const std::string at = where + ", column " + std::to_string(column + 1) + ": ";
    if (column < pixels) out.image.push_back(read_field(field, darkest, "pixel", at));
    else out.label.push_back(read_field(field, classes - 1, "class", at));
    if (column + 1 < columns) row.remove_prefix(field.size() + 1);
  }
}

}  // namespace detail

/// Reads rows to the end; `name` stands in messages. Throws std::runtime_error.
inline Digits read_digits(std::istream& in, const std::string& name) {
  Digits out;
  std::string row;
  for (int line = 1; std::getline(in, row); ++line) {
    if (!row.empty() && row.back() == '\r') row.pop_back();
    detail::read_row(row, name + ':' + std::to_string(line), out);
  }
  if (in.bad()) throw std::runtime_error(name + ": cannot be read");
  if (out.count() == 0) throw std::runtime_error(name + ": the file is empty");
  return out;
}
inline Digits read_digits(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  return read_digits(in, path);
}

}  // namespace digits
