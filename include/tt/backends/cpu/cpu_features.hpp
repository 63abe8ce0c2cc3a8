// The processor that -march=native compiles for, as text: part of the key under which compiled code is cached.
#pragma once
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

#include "tt/core/text.hpp"

namespace tt::cpu {

/// The same on every core and in every run; other processors, or fewer registers saved by the operating system, give another text.
inline Text cpu_features() {
  Text t;
#if defined(__x86_64__) || defined(__i386__)
  t << "x86";
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    t << ' ' << a << ' ' << c << ' ' << d;  // b differs between cores
    if (c & bit_OSXSAVE) {
      unsigned low = 0, high = 0;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      t << ' ' << low << ' ' << high;
    }
  }
  for (unsigned sub : {0u, 1u})
    if (__get_cpuid_count(7, sub, &a, &b, &c, &d)) t << ' ' << a << ' ' << b << ' ' << c << ' ' << d;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) t << ' ' << c << ' ' << d;
#elif defined(__linux__)
  t << "hwcap " << getauxval(AT_HWCAP) << ' ' << getauxval(AT_HWCAP2);
#endif
  return t;
}

}  // namespace tt::cpu
