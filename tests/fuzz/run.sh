#!/bin/sh
# Hostile files: builds tests/fuzz/files.cpp and runs it. Takes clang++-19 with its sanitizers, and three minutes to build.
#   tests/fuzz/run.sh [executions, 100000 if not said]
set -eu
cd "$(dirname "$0")/../.."
build=build/fuzz
mkdir -p $build/corpus
flags="-std=c++20 -O1 -g1 -march=native -Wno-invalid-feature-combination -DTT_DEBUG -fsanitize=fuzzer,address,undefined -fno-sanitize=function -fno-sanitize-recover=all -Iinclude"
# shellcheck disable=SC2086
[ -x $build/files ] && [ -z "$(find include tests/fuzz -newer $build/files | head -n 1)" ] || clang++-19 $flags tests/fuzz/files.cpp -o $build/files -ldl -lpthread
# Files that are right, with the byte that names their reader in front.
for file in tests/data/*.npy; do { printf '\000'; cat "$file"; } >"$build/corpus/$(basename "$file")"; done
for file in tests/data/*.npz; do [ -f "$file" ] && { printf '\001'; cat "$file"; } >"$build/corpus/$(basename "$file")"; done
header='{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
printf "\\002\\$(printf %03o ${#header})\\000\\000\\000\\000\\000\\000\\000%s\\000\\000\\200\\077" "$header" >$build/corpus/one.safetensors
printf '\003graph 3\n%%0 = input 0 : f32 (s0, 3)\n%%1 = exp(%%0) : f32 (s0, 3) -> output 0\n' >$build/corpus/exp.graph
exec $build/files -runs="${1:-100000}" -max_len=4096 -timeout=10 -rss_limit_mb=4096 $build/corpus
