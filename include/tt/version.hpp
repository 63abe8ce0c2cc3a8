// The version of tt, as numbers and as text.
#pragma once

namespace tt {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;
inline constexpr const char* version = "0.1.0";

}  // namespace tt
