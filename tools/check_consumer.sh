#!/bin/sh
# A program of someone else: tests/consumer is built against an installed tt through find_package, and by the
# compiler alone with nothing but an include path; all of them must print the same. One that calls one op stays small.
. "$(dirname "$0")/common.sh"
check check_consumer

log=$work/log
# step WHAT COMMAND...: ends the check when the command fails.
step() {
  what=$1
  shift
  "$@" >"$log" 2>&1 && return 0
  report "$what failed: $*
$(tail -n 30 "$log")"
  verdict ""
}

# What README.md says of who does without CMake: src/*.cpp are a library, of which none has a main.
with_main=$(grep -lE '^int main\(' src/*.cpp)
[ -z "$with_main" ] || report "src/*.cpp are linked with programs, and have a main: $with_main"

# The library that `make test` has built is the one that is installed, if there is one of this compiler.
built=build/release
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$built/CMakeCache.txt" 2>/dev/null)
if [ -f "$built/libtt.a" ] && [ "$(readlink -f "$compiler")" = "$(readlink -f "$(command -v "$GXX")")" ]; then
  step "building tt" cmake --build "$built" --target tt_compiled
else
  built=$work/tt
  step "configuring tt" cmake -S . -B "$built" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DCMAKE_CXX_COMPILER="$GXX" \
    -DTT_BUILD_TESTS=OFF -DTT_BUILD_EXAMPLES=OFF
  step "building tt" cmake --build "$built"
fi
step "installing tt" cmake --install "$built" --prefix "$work/prefix"

step "find_package(tt)" cmake -S tests/consumer -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$GXX" -DCMAKE_CXX_FLAGS=-march=native -DCMAKE_PREFIX_PATH="$work/prefix"
step "building against the installed tt" cmake --build "$work/consumer"
step "compiling with an include path only" "$GXX" -std=c++20 -O2 -march=native -I include \
  tests/consumer/main.cpp -o "$work/consumer/consumer_by_hand"

for flags in "-O0 -march=native" "-O0" "-O2"; do
  # shellcheck disable=SC2086
  step "compiling with $flags" "$GXX" -std=c++20 $flags -I include tests/consumer/main.cpp -o "$work/consumer/consumer$(echo "$flags" | tr -c 'A-Za-z0-9\n' _)"
done
for program in "$work/consumer"/with_*; do
  [ -x "$program" ] && step "running $(basename "$program")" "$program"
done
skips=
for component in fft:fft safetensors:json eigen:eigen; do
  [ -x "$work/consumer/with_${component%:*}" ] || skips="$skips [SKIPPED ${component#*:}: component ${component%:*} has no package here]"
done
if cmake -S tests/consumer -B "$work/refused" -G Ninja "-DCMAKE_CXX_COMPILER=$GXX" -DCMAKE_PREFIX_PATH="$work/prefix" -DTT_ASK_FOR=nothing_of_this_name >"$log" 2>&1; then
  report "find_package(tt REQUIRED COMPONENTS nothing_of_this_name) found it"
fi
ways=0
for program in "$work/consumer"/consumer*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  step "running $name" "$program"
  ways=$((ways + 1))
  if [ "$ways" -eq 1 ]; then
    cp "$log" "$work/first"
    first=$name
    [ -s "$log" ] || report "$name prints nothing"
  else
    cmp -s "$log" "$work/first" || report "$name and $first print different things:
$(diff "$work/first" "$log" | head -n 10)"
  fi
done

# A program has what it calls of the library.
most=3500000
step "running one_op" "$work/consumer/one_op"
step "stripping one_op" strip -o "$work/stripped" "$work/consumer/one_op"
size=$(wc -c <"$work/stripped")
[ "$size" -le "$most" ] || report "a program of one op, linked with tt::compiled and stripped, has $size bytes, at most $most"
verdict "the installed tt and the plain include path, -O0 and -O2, with and without -march=native, give the same program, $ways ways$skips"
