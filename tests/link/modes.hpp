// What a file built with TT_DEBUG and one built without say of themselves; no Array stands in a signature,
// since those would not link.
#pragma once
#include <cstddef>
#include <string>

namespace shared {

struct Mode {
  std::string array, layer;  ///< mangled types of functions
  std::size_t bytes;         ///< of a small Array
  bool right, throws;        ///< results; an ended operand
};
Mode mode_checked();
Mode mode_unchecked();

}  // namespace shared
