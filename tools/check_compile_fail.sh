#!/bin/sh
# Programs that must not compile, and say so in the right words; and programs that must compile without a warning.
#   tests/compile_fail/x.cpp starts with comment lines:
#     // expect: some text          must be in the diagnostics of every compiler; one or more
#     // expect-gcc: some text      of g++ only;   // expect-clang: of clang only
#     // flags: -march=native       further flags
#     // only: clang                the other compiler is not asked
#     // max-lines: 12              the diagnostics are no longer than that, in place of 20 of g++ and 22 of clang, without who includes what
#   tests/compile_ok/x.cpp is compiled by g++ at -O2 -march=native and by clang at -O0 (and with its // flags:).
. "$(dirname "$0")/common.sh"
check check_compile_fail

# head_of FILE KEY: the values of "// KEY: value" in the comment the file starts with.
head_of() {
  awk -v key="// $2: " '!/^\/\// { exit } index($0, key) == 1 { print substr($0, length(key) + 1) }' "$1"
}

# precompiled COMPILER FILE: the options that take tt/tt.hpp precompiled (g++ passes it over where flags differ, clang has to be told).
# clang keeps what the run-time path instantiates with it; g++ makes that anew for each file, so it is asked as beside tt::compiled.
precompiled() {
  case $1 in
    *clang*) [ -z "$(head_of "$2" flags)" ] && grep -q '^#include <tt/tt.hpp>' "$2" && echo "-include-pch $PRECOMPILED/tt.pch" ;;
    *) echo "-DTT_COMPILED -I $PRECOMPILED" ;;
  esac
}

must_fail() {
  compiler=$1
  file=$2
  out=$work/diagnostics
  family=gcc
  case $compiler in *clang*) family=clang ;; esac
  only=$(head_of "$file" only)
  [ -z "$only" ] || [ "$only" = "$family" ] || return
  # shellcheck disable=SC2046
  if "$compiler" -std=c++20 -fsyntax-only $(precompiled "$compiler" "$file") -I include $(head_of "$file" flags) "$file" >"$out" 2>&1; then
    report "$file compiles with $compiler, and must not"
    return
  fi
  { head_of "$file" expect; head_of "$file" "expect-$family"; } >"$work/expected"
  [ -s "$work/expected" ] || report "$file expects nothing of $compiler: give it a line '// expect: text'"
  # An error of another kind, a missing header say, must not pass for the one that is expected.
  while read -r text; do
    grep -qF -e "$text" "$out" || report "$file with $compiler: not in the diagnostics: $text
$(head -n 20 "$out" | sed 's/^/    /')"
  done <"$work/expected"
  limit=$(head_of "$file" max-lines)
  limit=${limit:-$([ "$family" = clang ] && echo 22 || echo 20)}
  lines=$(grep -cvE '^(In file included|  *from ) ?' "$out")
  [ "$lines" -le "$limit" ] || report "$file with $compiler: $lines lines of diagnostics, at most $limit
$(head -n 40 "$out" | sed 's/^/    /')"
}

must_compile() {
  compiler=$1
  file=$2
  flags="-O2 -march=native"
  case $compiler in *clang*) flags=-O0 ;; esac
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++20 $flags -Wall -Wextra -Wconversion -Wshadow -Werror -I include $(head_of "$file" flags) \
    -c -o /dev/null "$file" >"$work/diagnostics" 2>&1 || report "$file does not compile with $compiler $flags
$(head -n 20 "$work/diagnostics" | sed 's/^/    /')"
}

# One file as a process of its own: two run at a time.
if [ $# -eq 3 ]; then
  "$1" "$2" "$3"
  cat "$work/reports"
  exit 0
fi

PRECOMPILED=$work/precompiled
export PRECOMPILED
mkdir -p "$PRECOMPILED/tt"
for compiler in $(compilers); do
  case $compiler in
    *clang*) set -- -fpch-instantiate-templates -o "$PRECOMPILED/tt.pch" ;;
    *) set -- -DTT_COMPILED -o "$PRECOMPILED/tt/tt.hpp.gch" ;;
  esac
  "$compiler" -std=c++20 -x c++-header -I include "$@" include/tt/tt.hpp >"$work/log" 2>&1 ||
    report "include/tt/tt.hpp cannot be precompiled with $compiler: $(head -n 5 "$work/log")"
done

: >"$work/jobs"  # those that take longest first
fail=0
ok=0
for file in tests/compile_ok/*.cpp; do
  [ -f "$file" ] || continue
  ok=$((ok + 1))
  for compiler in $(compilers); do echo "must_compile $compiler $file" >>"$work/jobs"; done
done
for file in tests/compile_fail/*.cpp; do
  [ -f "$file" ] || continue
  fail=$((fail + 1))
  for compiler in $(compilers); do echo "must_fail $compiler $file" >>"$work/jobs"; done
done
# Without xsimd, every other header being there: one error that names the package, and nothing behind it.
echo '#include <tt/tt.hpp>' >"$work/without_xsimd.cpp"
for compiler in $(compilers); do
  set -- -nostdinc -nostdinc++
  for folder in $("$compiler" -E -v -x c++ /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ \(.*\)/\1/p'); do
    if [ -f "$folder/xsimd/xsimd.hpp" ]; then
      rm -rf "$work/without"
      mkdir "$work/without"
      for header in "$folder"/*; do
        [ "$(basename "$header")" = xsimd ] || ln -s "$header" "$work/without"
      done
      folder=$work/without
    fi
    set -- "$@" -isystem "$folder"
  done
  if "$compiler" -std=c++20 -fsyntax-only "$@" -I include "$work/without_xsimd.cpp" >"$work/diagnostics" 2>&1 ||
    ! grep -q 'tt needs xsimd: apt-get install libxsimd-dev' "$work/diagnostics" || [ "$(grep -c 'error: ' "$work/diagnostics")" -ne 2 ]; then
    report "without xsimd $compiler says:
$(grep 'error: ' "$work/diagnostics" | head -n 5)"
  fi
done
xargs -r -P2 -L1 sh tools/check_compile_fail.sh <"$work/jobs" >>"$work/reports" 2>&1 || echo "a job ended early" >>"$work/reports"

verdict "$fail wrong programs are refused in the right words, $ok right ones compile without a warning$(skipped_clang)"
