#!/bin/sh
# The rooms core, ops, graph and expr compile without exceptions and without run-time type information.
. "$(dirname "$0")/common.sh"
check check_isolation

for room in core ops graph expr; do
  [ -d "include/tt/$room" ] && find "include/tt/$room" -name '*.hpp' ! -path include/tt/expr/cuda.hpp  # device code
done | sort >"$work/headers"
total=$(wc -l <"$work/headers")
[ "$total" -gt 0 ] || report "the rooms core, ops, graph and expr hold no header"

# One file that includes them all; only when it fails, each alone to name the culprit.
sed 's|^include/\(.*\)|#include <\1>|' "$work/headers" >"$work/all.cpp"
for compiler in $(compilers); do
  "$compiler" -std=c++20 -fsyntax-only -fno-exceptions -fno-rtti -I include "$work/all.cpp" >"$work/log" 2>&1 &&
    "$compiler" -std=c++20 -fsyntax-only -fno-exceptions -fno-rtti -DTT_DEBUG -I include "$work/all.cpp" >"$work/log" 2>&1 &&
    continue
  while read -r header; do
    printf '#include <%s>\n' "${header#include/}" >"$work/one.cpp"
    "$compiler" -std=c++20 -fsyntax-only -fno-exceptions -fno-rtti -I include "$work/one.cpp" >"$work/log" 2>&1 ||
      report "$header with $compiler -fno-exceptions -fno-rtti:
$(head -n 15 "$work/log")"
  done <"$work/headers"
  [ -s "$work/reports" ] || report "all of them together with $compiler -fno-exceptions -fno-rtti:
$(head -n 15 "$work/log")"
done

verdict "$total headers compile with -fno-exceptions -fno-rtti$(skipped_clang)"
