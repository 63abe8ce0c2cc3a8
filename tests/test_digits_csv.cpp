// The reader of the digits example: what it accepts, and what it says about everything else.
#include <doctest/doctest.h>

#include <sstream>

#include "../examples/digits/csv.hpp"

namespace {

/// A row of 64 pixels of 0 but for one, and its class.
std::string row(const std::string& pixel, int column, const std::string& label) {
  std::string s;
  for (int k = 1; k <= digits::pixels; ++k) s += (k == column ? pixel : "0") + ",";
  return s + label;
}

digits::Digits read(const std::string& text) {
  std::istringstream in(text);
  return digits::read_digits(in, "a.csv");
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a row is 64 pixels and a class") {
  const digits::Digits d = read(row("16", 3, "7") + "\n" + row("5", 64, "0") + "\n");
  REQUIRE(d.count() == 2);
  REQUIRE(d.image.size() == 2 * digits::pixels);
  CHECK(d.image[2] == 16);
  CHECK(d.image[1] == 0);
  CHECK(d.image[2 * digits::pixels - 1] == 5);
  CHECK(d.label[0] == 7);
  CHECK(d.label[1] == 0);
}

TEST_CASE("line ends of Windows, blanks around numbers and a missing last line end are accepted") {
  const digits::Digits d = read(row(" 4 ", 1, "1 ") + "\r\n" + row("0", 1, "2"));
  REQUIRE(d.count() == 2);
  CHECK(d.image[0] == 4);
  CHECK(d.label[1] == 2);
}

TEST_CASE("a wrong number of columns names file, line and both numbers") {
  const std::string good = row("0", 1, "1") + "\n";
  CHECK(error_of(good + "1,2,3\n") == "a.csv:2: 3 columns, not 65");
  CHECK(error_of(row("0", 1, "1") + ",\n") == "a.csv:1: 66 columns, not 65");
  CHECK(error_of(good + good + "\n" + good) == "a.csv:3: 0 columns, not 65");
}

TEST_CASE("what is no whole number is shown with its line and column") {
  const std::string good = row("0", 1, "1") + "\n";
  const auto not_whole = [](const std::string& at, const std::string& text) {
    return "a.csv:" + at + ": \"" + text + "\" is not a whole number";
  };
  CHECK(error_of(good + row("x", 5, "1")) == not_whole("2, column 5", "x"));
  CHECK(error_of(row("", 1, "1")) == not_whole("1, column 1", ""));
  CHECK(error_of(row("1.5", 64, "1")) == not_whole("1, column 64", "1.5"));
  CHECK(error_of(row("7 8", 2, "1")) == not_whole("1, column 2", "7 8"));
  CHECK(error_of(row("0", 1, "")) == not_whole("1, column 65", ""));
  CHECK(error_of(row("0", 1, "three")) == not_whole("1, column 65", "three"));
}

TEST_CASE("a number out of range says what it should be") {
  CHECK(error_of(row("17", 9, "1")) == "a.csv:1, column 9: \"17\" is not a pixel (0 to 16)");
  CHECK(error_of(row("-1", 9, "1")) == "a.csv:1, column 9: \"-1\" is not a pixel (0 to 16)");
  CHECK(error_of(row("0", 1, "10")) == "a.csv:1, column 65: \"10\" is not a class (0 to 9)");
  CHECK(error_of(row("99999999999", 1, "1")) ==
        "a.csv:1, column 1: \"99999999999\" is not a pixel (0 to 16)");
}

TEST_CASE("an empty file and a missing one are named") {
  CHECK(error_of("") == "a.csv: the file is empty");
  CHECK_THROWS_WITH_AS(digits::read_digits("no/such.csv"), "no/such.csv: cannot be opened",
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(digits::read_digits("."), ".: cannot be read", std::runtime_error);
}
