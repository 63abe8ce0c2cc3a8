#!/bin/sh
# Every public header compiles alone, without a warning; those that ask for the compiler with each of them. Device code is
# left to nvcc; the headers with Thrust are compiled for its sequential system. As beside tt::compiled, where an _inl.hpp is no part of the one that
# declares, which takes half the time; with the argument "all" header-only too, and each _inl.hpp alone.
. "$(dirname "$0")/common.sh"
check check_headers

# try COMPILER HEADER FLAGS..., as a process of its own: two run at a time.
if [ "${1:-}" = try ]; then
  compiler=$2
  header=$3
  shift 3
  out=$(printf '#include <%s>\n' "${header#include/}" |
    "$compiler" -x c++ -std=c++20 -fsyntax-only -O1 -Wall -Wextra -Wconversion -Wshadow -Werror -I include "$@" - 2>&1) &&
    exit 0
  printf '%s alone with %s %s:\n%s\n\n' "$header" "$compiler" "$*" "$(printf '%s\n' "$out" | head -n 25)"
  exit 1
fi

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
    include/tt/backends/cuda/algorithms.hpp | include/tt/backends/host_algorithms.hpp)
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
    for mode in $modes; do echo "try $compiler $header $mode${flags:+ $flags}"; done  # a blank at the end joins two lines
  done
done <"$work/headers" >"$work/jobs"

xargs -P2 -L1 sh tools/check_headers.sh <"$work/jobs" >"$work/reports" 2>&1 || true

left_to_nvcc=
[ "$left_out" -gt 0 ] && left_to_nvcc=", $left_out of device code left to nvcc"
total=$(wc -l <"$work/headers")
[ "$total" -gt 0 ] || report "include/tt holds no header"
verdict "$((total - left_out)) headers compile alone with $GXX$(has_clang && echo ", some with $CLANGXX too")$left_to_nvcc$remark$(skipped_clang)"
