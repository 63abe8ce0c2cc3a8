#!/bin/sh
# Compiles tests/cuda/*.cu with nvcc to device code; needs the toolkit, not a device.
. "$(dirname "$0")/common.sh"
check check_cuda

NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$NVCC" ]; then
  verdict "nothing done [SKIPPED cuda: nvcc is not installed]"
fi
count=0
for file in tests/cuda/*.cu; do
  [ -f "$file" ] || continue
  count=$((count + 1))
  "$NVCC" -std=c++20 --expt-relaxed-constexpr --extended-lambda -arch="${TT_CUDA_ARCH:-sm_90}" -I include \
    -c -o "$work/out.o" "$file" >"$work/log" 2>&1 || report "$file does not compile:
$(head -n 30 "$work/log")"
done
[ "$count" -gt 0 ] || verdict "nothing done [SKIPPED cuda: tests/cuda holds no .cu file]"
verdict "$count CUDA files compile"
