#!/bin/sh
# Every public header compiles alone, without a warning; those that ask for the compiler with each of them. Device code is
# left to nvcc; the headers with Thrust are compiled for its sequential system. As beside tt::compiled, where an _inl.hpp is no part of the one that
# declares, which takes half the time; with the argument "all" header-only too, and each _inl.hpp alone. A header that includes one of `bases`, below, is
# given that one precompiled, which saves most of the rest: it has the names of its includes, and no others (with "all" none is, and their order counts too).
. "$(dirname "$0")/common.sh"
check check_headers

warnings="-Wall -Wextra -Wconversion -Wshadow -Werror"
# COMPILER HEADER FLAGS...: a header alone, as a process of its own: two run at a time. With -o, it is precompiled.
if [ $# -gt 1 ]; then
  compiler=$1
  header=$2
  shift 2
  source=$(mktemp) || exit 1
  printf '#include <%s>\n' "$header" >"$source"
  case " $* " in *" -o "*) ;; *) set -- -x c++ -fsyntax-only "$@" ;; esac
  # shellcheck disable=SC2086
  out=$("$compiler" -std=c++20 -O1 $warnings -I include "$@" "$source" 2>&1)
  failed=$?
  rm -f "$source"
  [ $failed -eq 0 ] && exit 0
  printf '%s alone with %s %s:\n%s\n\n' "$header" "$compiler" "$*" "$(printf '%s\n' "$out" | head -n 25)"
  exit 1
fi

# The largest first. `with_base` has "HEADER BASE" for those that include one, themselves or through others, and not below an #if.
bases="tt/jit/capture.hpp tt/autograd/history.hpp tt/dispatch/methods.hpp tt/dispatch/eager.hpp tt/backends/cpu/static_executor.hpp tt/backends/cpu/reduce.hpp tt/core/tensor.hpp tt/graph/sym.hpp"
for base in $bases; do
  name=$work/$(echo "$base" | tr / _)
  echo "#include <$base>" >"$name"
  echo "$GXX $base -DTT_COMPILED -x c++-header -o $name.gch"
done >"$work/jobs"
xargs -P2 -L1 sh tools/check_headers.sh <"$work/jobs" >"$work/reports" 2>&1 || true
public_headers | xargs awk -v bases="$bases" '
  FNR == 1 { file = FILENAME; sub(/^include\//, "", file); files[file]; below = 0 }
  /^ *# *if/ { ++below }
  /^ *# *endif/ { --below }
  below == 0 && /^#include "tt\// { split($0, part, "\""); includes[file] = includes[file] " " part[2] }
  function reaches(from, base,    list, n, k) {  # seen: of this search
    seen[from]
    n = split(includes[from], list, " ")
    for (k = 1; k <= n; ++k)
      if (list[k] == base || (!(list[k] in seen) && reaches(list[k], base))) return 1
    return 0
  }
  END {
    count = split(bases, base, " ")
    for (file in files)
      for (k = 1; k <= count; ++k) {
        split("", seen)
        if (file != base[k] && reaches(file, base[k])) {
          print "include/" file, base[k]
          break
        }
      }
  }' >"$work/with_base"

device_code='__global__|__device__|<<<|# *include *<(cuda|cub/|thrust/|cublas|cudnn|nvrtc|nvToolsExt)'
modes=-DTT_COMPILED
[ "${1:-}" = all ] && modes="-DTT_COMPILED -UTT_COMPILED"
left_out=0
remark=
# of_package HEADER [FLAGS]: can the compiler include it?
of_package() { printf '#include <%s>\n' "$1" | "$GXX" -x c++ -E ${2:-} - >/dev/null 2>&1; }
json=nlohmann/json.hpp
of_package $json || json= remark="$remark [SKIPPED json: nlohmann-json3-dev is not installed]"
fft=kissfft/kissfft.hh
of_package $fft || fft= remark="$remark [SKIPPED fft: libkissfft-dev is not installed]"
eigen="-isystem /usr/include/eigen3"
of_package Eigen/Core "$eigen" || eigen= remark="$remark [SKIPPED eigen: libeigen3-dev is not installed]"
thrust=$(thrust_flags) || remark="$remark [SKIPPED thrust: neither libthrust-dev nor the CUDA toolkit is installed]"
public_headers | if [ "${1:-}" = all ]; then cat; else grep -v '_inl\.hpp$'; fi >"$work/headers"
while read -r header; do
  flags=
  case $header in
    include/tt/backends/static_device.hpp | include/tt/backends/cuda/static_program.hpp | include/tt/expr/cuda.hpp)  # they include device code
      left_out=$((left_out + 1))
      continue
      ;;
    include/tt/backends/thrust_algorithms.hpp | include/tt/backends/host_algorithms.hpp)
      [ -n "$thrust" ] || continue
      flags=$thrust
      ;;
    include/tt/io/safetensors.hpp) [ -n "$json" ] || continue ;;
    include/tt/dispatch/fft.hpp) [ -n "$fft" ] || continue ;;
    include/tt/io/eigen.hpp)
      [ -n "$eigen" ] || continue
      flags=$eigen
      ;;
    include/tt/backends/cuda/*)
      if code_of "$header" | grep -qE "$device_code"; then
        left_out=$((left_out + 1))
        continue
      fi
      ;;
  esac
  each=$GXX
  if grep -qE '__clang__|__GNUC__' "$header"; then each=$(compilers); fi
  for compiler in $each; do
    base=
    [ "${1:-}" != all ] && [ "$compiler" = "$GXX" ] && base=$(awk -v header="$header" '$1 == header { print $2 }' "$work/with_base" | tr / _)
    for mode in $modes; do echo "$compiler ${header#include/} $mode${flags:+ $flags}${base:+ -include $work/$base}"; done  # a blank at the end joins two lines
  done
done <"$work/headers" >"$work/jobs"

xargs -P2 -L1 sh tools/check_headers.sh <"$work/jobs" >>"$work/reports" 2>&1 || true

left_to_nvcc=
[ "$left_out" -gt 0 ] && left_to_nvcc=", $left_out of device code left to nvcc"
total=$(wc -l <"$work/headers")
[ "$total" -gt 0 ] || report "include/tt holds no header"
verdict "$((total - left_out)) headers compile alone with $GXX$(has_clang && echo ", some with $CLANGXX too")$left_to_nvcc$remark$(skipped_clang)"
