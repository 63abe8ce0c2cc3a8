#!/bin/sh
# Compiles all .cu files with nvcc; needs the toolkit, not a device. Kernels of the benchmarks keep to their
# registers: 16 bytes of predicates may be put aside, more is a failure.
. "$(dirname "$0")/common.sh"
check check_cuda

NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$NVCC" ]; then
  verdict "nothing done [SKIPPED cuda: nvcc is not installed]"
fi
count=0 kernels=0
for file in src/*.cu tests/cuda/*.cu bench/cuda/*.cu examples/*/*.cu; do
  [ -f "$file" ] || continue
  count=$((count + 1))
  if ! "$NVCC" -std=c++20 -O2 --expt-relaxed-constexpr --fmad=false -arch="${TT_CUDA_ARCH:-sm_90}" -Xptxas -v -I include \
    -DTT_COMPILED -Xcompiler -march=native -c -o "$work/out.o" "$file" >"$work/log" 2>&1; then
    report "$file does not compile:
$(grep -A5 'error' "$work/log" | head -n 30)"
    continue
  fi
  kernels=$((kernels + $(grep -c 'spill stores' "$work/log")))
  case $file in bench/*)
    spilling=$(grep -oE '[0-9]+ bytes spill stores' "$work/log" | awk '$1 > 16' | sort | uniq -c)
    [ -z "$spilling" ] || report "$file: kernels that spill registers: $spilling"
    ;;
  esac
done
[ "$count" -gt 0 ] || verdict "nothing done [SKIPPED cuda: there is no .cu file]"
verdict "$count CUDA files compile, $kernels kernels"
