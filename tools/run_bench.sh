#!/bin/sh
# Runs every benchmark program of a folder, one after the other; further arguments go to each.
#   tools/run_bench.sh build/bench/bench --benchmark_filter=matmul
set -u
folder=$1
shift
count=0
failed=0
for program in "$folder"/bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  count=$((count + 1))
  echo "== $(basename "$program")"
  "$program" "$@" || failed=$((failed + 1))
done
if [ "$count" -eq 0 ]; then
  echo "bench: no benchmark programs: bench/ holds no bench_*.cpp" >&2
  exit 1
fi
if [ "$failed" -ne 0 ]; then
  echo "bench: $failed of $count programs failed" >&2
  exit 1
fi
