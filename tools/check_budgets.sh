#!/bin/sh
# What including and compiling costs, and what comes out, by figures that are the same on every machine:
#   headers   the standard headers that tt/tt.hpp and tt/expr/fuse.hpp bring: exactly tools/budgets/headers_*.txt
#   limits    ceilings in tools/budgets/limits.txt: preprocessed lines, steps of constant evaluation, the longest
#             symbol, instructions of loops
#   kernels   the object holds the kernels that tt::kernels promises, and calls each the right number of times
#   tools/check_budgets.sh --accept     takes the lists of headers as they are, and prints every figure
# Built for -march=x86-64-v3 (emitted C: v4) with g++ 12, whose code the ceilings are for.
. "$(dirname "$0")/common.sh"
check check_budgets

budgets=tools/budgets
accept=no
[ "${1:-}" = --accept ] && accept=yes
flags="-std=c++20 -march=x86-64-v3 -I include"
digits=examples/digits/digits.cpp
major=$("$GXX" -dumpversion | cut -d. -f1)
figures=0

# within NAME VALUE: at most the ceiling of NAME.
within() {
  ceiling=$(awk -v name="$1" '$1 == name { print $2 }' "$budgets/limits.txt")
  figures=$((figures + 1))
  [ "$accept" = yes ] && printf '%-28s %9s of %s\n' "$1" "$2" "${ceiling:-none}"
  if [ -z "$ceiling" ]; then
    report "$budgets/limits.txt: no ceiling for $1, which is $2"
  elif [ -z "$2" ] || [ "$2" -gt "$ceiling" ]; then
    report "$1: ${2:-no figure}, at most $ceiling ($budgets/limits.txt)"
  fi
}
ceiling_of() { awk -v name="$1" '$1 == name { print $2 }' "$budgets/limits.txt"; }

if [ "$major" != 12 ]; then
  verdict "nothing done [SKIPPED budgets: they are for g++ 12, this is g++ $major]"
fi

# ---- what an include brings
for header in tt/tt.hpp tt/expr/fuse.hpp; do
  name=$(basename "$header" .hpp)
  echo "#include <$header>" >"$work/one.cpp"
  # shellcheck disable=SC2086
  "$GXX" $flags -H -fsyntax-only "$work/one.cpp" 2>&1 |
    sed -n 's|^\.\.* .*/c++/12/\([a-z_]*\)$|\1|p' | sort -u >"$work/headers_$name.txt"
  figures=$((figures + 1))
  if [ "$accept" = yes ]; then
    cp "$work/headers_$name.txt" "$budgets/headers_$name.txt"
  elif ! diff "$budgets/headers_$name.txt" "$work/headers_$name.txt" >"$work/difference"; then
    report "$header brings other standard headers than $budgets/headers_$name.txt (< accepted, > now):
$(grep '^[<>]' "$work/difference")
    Where that is wanted: tools/check_budgets.sh --accept"
  fi
  # shellcheck disable=SC2086
  within "lines_$name" "$("$GXX" $flags -E -P "$work/one.cpp" | wc -l)"
done

# ---- steps of constant evaluation, for the training step of the digits (all of it static: what Tensors would compile is left out); and its symbols
# constant_steps COMPILER OPTION NAME FLAGS...
constant_steps() {
  compiler=$1 option=$2 name=$3
  shift 3
  figures=$((figures + 1))
  # shellcheck disable=SC2086
  "$compiler" $flags -DTT_COMPILED -DTT_EXAMPLES_DIR='"examples"' -w "$option=$(ceiling_of "$name")" "$@" "$digits" >"$work/log" 2>&1 ||
    report "$name: $digits with $compiler $option=$(ceiling_of "$name"):
$(grep -m 3 error "$work/log")"
}
constant_steps "$GXX" -fconstexpr-ops-limit constexpr_operations_gcc -O1 -DNDEBUG -c -o "$work/digits.o"
if has_clang; then constant_steps "$CLANGXX" -fconstexpr-steps constexpr_steps_clang -fsyntax-only; fi
[ -f "$work/digits.o" ] && within symbol_length "$(nm "$work/digits.o" | awk '{ n = length($NF) } n > most { most = n } END { print most }')"

# ---- what Tensors cost a file without tt::compiled: only what its ops use is compiled
# shellcheck disable=SC2086
"$GXX" $flags -O2 -c -o "$work/tensor_add.o" "$budgets/tensor_add.cpp" 2>"$work/log" ||
  report "$budgets/tensor_add.cpp does not compile: $(head -n 3 "$work/log")"
within functions_tensor_add "$(nm --defined-only "$work/tensor_add.o" | grep -c ' [TtWw] ')"
# With it, one that has a function compiled defines little beside what depends on its arguments' types.
# shellcheck disable=SC2086
"$GXX" $flags -O2 -DTT_COMPILED -c -o "$work/linked.o" bench/compile_time/tensor_compile.cpp 2>"$work/log" ||
  report "bench/compile_time/tensor_compile.cpp does not compile: $(head -n 3 "$work/log")"
within functions_compile_linked "$(nm --defined-only "$work/linked.o" | grep -c ' [TtWw] ')"
echo '#include <tt/tt.hpp>' >"$work/one.cpp"
# shellcheck disable=SC2086
within lines_tt_linked "$("$GXX" $flags -DTT_COMPILED -E -P "$work/one.cpp" | wc -l)"

# ---- loops of emitted C of which g++ makes no vectors for AVX-512, as the code cache has them compiled
loops=0 all_loops=0
for kernels in tests/golden/*.c; do
  [ "$kernels" = tests/golden/prelude.c ] && continue
  cat tests/golden/prelude.c "$kernels" >"$work/kernels.c"
  "$GXX" -x c -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=off -fno-math-errno -fno-trapping-math -w -c -o "$work/kernels.o" \
    -fopt-info-vec-optimized "$work/kernels.c" >"$work/vectors" 2>&1
  loops=$((loops + $(awk -F: 'FILENAME ~ /vectors$/ { vectors[$2]; next }
    /EACH for \(i64 i / && !(FNR in vectors)' "$work/vectors" "$work/kernels.c" | wc -l)))
  all_loops=$((all_loops + $(grep -c 'EACH for (i64 i ' "$kernels")))
done
within scalar_loops "$loops"
[ "$all_loops" -ge 10 ] || report "tests/golden: $all_loops loops over elements; how are they written now?"

# ---- loops, and the kernels of programs
# shellcheck disable=SC2086
"$GXX" $flags -O2 -DNDEBUG -c -o "$work/loops.o" "$budgets/loops.cpp" 2>"$work/log" ||
  report "$budgets/loops.cpp does not compile: $(head -n 3 "$work/log")"
# exp puts 2^k together by shifts by 23: one of them in tanh, two in sigmoid, for each pack.
objdump -dr --no-show-raw-insn "$work/loops.o" |
  awk -v pattern='^vpslld +.0x17,' -f "$budgets/disassembly.awk" >"$work/code"
if ! { "$GXX" -o "$work/loops" "$work/loops.o" && "$work/loops" >"$work/promised"; } >"$work/log" 2>&1; then
  report "$budgets/loops.cpp does not run: $(head -n 3 "$work/log")"
fi

# loop_of PART PART: instructions and shifts of the loop of the function with both parts in its name.
loop_of() { awk -v a="$1" -v b="$2" '$1 == "loop" && index($2, a) && index($2, b) { print $3, $4; exit }' "$work/code"; }
# same_loop NAME FUNCTION HAND: by hand exp is evaluated once, or not at all in a sum.
same_loop() {
  # shellcheck disable=SC2046
  set -- "$1" $(loop_of StaticKernel "$2") x $(loop_of peers4hand "$3") \
    "$(awk -v name="$1" '$1 == name { print $4 }' "$work/promised")"
  if [ $# -ne 7 ]; then
    report "$1: its loop, or the one by hand, was not found in the disassembly"
    return
  fi
  name=$1 instructions=$2 shifts=$3 by_hand=$5 hand_shifts=$6 evaluations=$7
  [ "$accept" = yes ] && printf '%-28s %9s by hand\n' "$name" "$by_hand"
  within "instructions_$name" "$instructions"
  figures=$((figures + 1))
  if [ "$hand_shifts" -eq 0 ]; then wanted=0; else wanted=$((hand_shifts * evaluations)); fi
  [ "$evaluations" -gt 0 ] || wanted=0
  [ "$shifts" -eq "$wanted" ] ||
    report "$name: its loop has $shifts shifts for exp; $evaluations evaluations in its plan make $wanted, as by hand"
}
same_loop tanh FusedTanh 11tanh_of_sum
same_loop gate FusedGate 4gate
same_loop sum FusedSum 15sum_of_products

# kernels_called PART: for the function that launches the program: calls of its kernels, different ones.
kernels_called() {
  awk -v part="$1" '$1 == "call" && index($3, "StaticKernel") && index($3, part) {
      if (!(($2, $3) in seen)) { seen[$2, $3] = 1; different[$2]++ }
      if (++calls[$2] > calls[best]) best = $2
    }
    END { print calls[best] + 0, different[best] + 0 }' "$work/code"
}
while read -r name kernels functions evaluations; do
  case $name in tanh) part=FusedTanh ;; gate) part=FusedGate ;; sum) part=FusedSum ;; *) part=5bench4Step ;; esac
  figures=$((figures + 2))
  kernels_called "$part" >"$work/called"
  read -r called different <"$work/called"
  [ "$accept" = yes ] && printf '%-28s %9s kernels called, %s functions\n' "$name" "$called" "$different"
  [ "$called" -eq "$kernels" ] || report "$name: $called kernels are called, tt::kernels says $kernels"
  [ "$different" -eq "$functions" ] || report "$name: its kernels are $different functions, its plan has $functions"
done <"$work/promised"

verdict "$figures figures within their budgets$(skipped_clang)"
