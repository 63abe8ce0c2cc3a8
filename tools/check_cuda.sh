#!/bin/sh
# Compiles all .cu files with nvcc; needs the toolkit, not a device. Kernels of the benchmarks keep to their
# registers: 16 bytes of predicates may be put aside, more is a failure.
. "$(dirname "$0")/common.sh"
check check_cuda

NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$NVCC" ]; then
  verdict "nothing done [SKIPPED cuda: nvcc is not installed]"
fi
for file in src/*.cu tests/cuda/*.cu bench/cuda/*.cu examples/*/*.cu; do
  if [ -f "$file" ]; then echo "$file"; fi
done >"$work/files"
# The log of each is named after it. The host's side is looked through only, as no program comes of it.
# shellcheck disable=SC2016
xargs -r -P2 -I '{}' sh -c 'name=$1/$(echo "$2" | tr / _)
  "$3" -std=c++20 -O2 --expt-relaxed-constexpr --fmad=false -arch="$4" -Xptxas -v -I include -DTT_COMPILED \
    -Xcompiler -march=native,-fsyntax-only -c -o "$name.o" "$2" >"$name.log" 2>&1 && : >"$name.compiled"' \
  compile "$work" '{}' "$NVCC" "${TT_CUDA_ARCH:-sm_90}" <"$work/files"
count=0 kernels=0
while read -r file; do
  count=$((count + 1))
  name=$work/$(echo "$file" | tr / _)
  if [ ! -f "$name.compiled" ]; then
    report "$file does not compile:
$(grep -A5 'error' "$name.log" | head -n 30)"
    continue
  fi
  kernels=$((kernels + $(grep -c 'spill stores' "$name.log")))
  case $file in bench/*)
    spilling=$(grep -oE '[0-9]+ bytes spill stores' "$name.log" | awk '$1 > 16' | sort | uniq -c)
    [ -z "$spilling" ] || report "$file: kernels that spill registers: $spilling"
    ;;
  esac
done <"$work/files"
[ "$count" -gt 0 ] || verdict "nothing done [SKIPPED cuda: there is no .cu file]"
for file in bench/cuda/*.cpp; do
  ${CXX:-g++} -std=c++20 -march=native -DTT_COMPILED -I include -I bench/cuda -fsyntax-only "$file" >"$work/log" 2>&1 ||
    report "$file does not compile:
$(grep -A5 'error' "$work/log" | head -n 30)"
done
verdict "$count CUDA files compile, $kernels kernels"
