#!/bin/sh
# Runs every benchmark program of a folder, one after the other; further arguments go to each.
#   tools/run_bench.sh build/bench/bench --benchmark_filter=matmul
#   CORE=1 tools/run_bench.sh build/bench/bench          on one core
set -u
folder=$1
shift
pin=
[ -n "${CORE:-}" ] && pin="taskset -c $CORE"
# OpenBLAS at its best, whatever the environment says: 0.3.21 does not know newer CPUs and takes kernels for
# AVX2 there, at half the speed.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
if grep -qw avx512f /proc/cpuinfo 2>/dev/null; then
  export OPENBLAS_CORETYPE=SkylakeX
fi
export OPENBLAS_NUM_THREADS=1
count=0
failed=0
for program in "$folder"/bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  count=$((count + 1))
  echo "== $(basename "$program")"
  $pin "$program" "$@" || failed=$((failed + 1))
done
if [ "$count" -eq 0 ]; then
  echo "bench: no benchmark programs: bench/ holds no bench_*.cpp" >&2
  exit 1
fi
if [ "$failed" -ne 0 ]; then
  echo "bench: $failed of $count programs failed" >&2
  exit 1
fi
