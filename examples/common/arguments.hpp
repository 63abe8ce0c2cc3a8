// Numbers on the command line of an example.
#pragma once
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace examples {

struct BadOption : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Number>
Number number_of(const std::string& option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw BadOption(option + ": \"" + std::string(text) + "\" is not a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most));
  return value;
}

}  // namespace examples
