#!/bin/sh
# Builds and runs the tests that lie nearest to what was changed: make quick.
#   tools/quick.sh            since the last commit, new files too
#   tools/quick.sh COMMIT     since COMMIT: main, HEAD~3
# A test program is affected where it includes a changed file, by whatever way; the fewer files lie between, the nearer it is. As many are
# taken, the nearest first, as fit into SECONDS_AT_MOST (150, and the first always), and the others are named. What a file takes to compile and a
# test to run is read from the last time, a file that was never compiled is guessed to take 8 s. Includes are read from the text, without the preprocessor: no build has
# to be there, and what an `#if` leaves out counts too.
. "$(dirname "$0")/common.sh"
check quick
since=${1:-HEAD}
build=build/release
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}

{ git diff --name-only "$since" -- && git ls-files --others --exclude-standard; } >"$work/changed" || exit 1
if [ ! -s "$work/changed" ]; then
  verdict "nothing was changed since $since; 'make quick SINCE=main' takes another commit"
fi
cmake --preset release -DTT_FURTHER_TESTS=ON >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
runs=$build/Testing/Temporary/CTestCostData.txt
mkdir -p "$(dirname $runs)"
touch $build/.ninja_log $runs
cmake --build $build --target help | sed -n 's/^\(test_[a-z_0-9]*\): phony$/\1/p' >"$work/targets"

# FROM TO: FROM includes TO, both from the root of the repository.
find include src tests examples -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) >"$work/files"
xargs awk '
  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    path = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", path)
    sub(/[">].*/, "", path)
    if (path ~ /^tt\//) print FILENAME, "include/" path
    else { folder = FILENAME; sub(/[^\/]*$/, "", folder); print FILENAME, folder path }
  }' <"$work/files" >"$work/includes"
# Sources that the build gives a program by other means.
for file in tests/static_seeds/*.cpp; do echo "tests/test_static_seeds.cpp $file"; done >>"$work/includes"
echo "tests/test_algorithms.cpp tests/algorithm_tables.cpp" >>"$work/includes"
echo "tests/test_golden.cpp tests/golden" >>"$work/includes"
sed 's|^tests/golden/.*|tests/golden|' "$work/changed" | sort -u >"$work/starts"

# FILES-BETWEEN SOURCE for each source that a change reaches: breadth first, from the changed files to who includes them.
awk '
  FILENAME ~ /includes$/ { by[$2] = by[$2] " " $1; next }
  { distance[$1] = 0; queue[++last] = $1 }
  END {
    for (at = 1; at <= last; at++) {
      n = split(by[queue[at]], from, " ")
      for (i = 1; i <= n; i++) if (!(from[i] in distance)) { distance[from[i]] = distance[queue[at]] + 1; queue[++last] = from[i] }
    }
    for (file in distance) if (file ~ /^(tests\/test_[a-z_0-9]*|src\/[a-z_]*)\.cpp$/) print distance[file], file
  }' "$work/includes" "$work/starts" | sort -k1,1n -k2 >"$work/affected"

# The library first, which all of them link; then tests by distance, the quick before the slow.
awk '
  FILENAME ~ /targets$/ { known[$1]; next }
  FILENAME ~ /CTestCostData/ { if (NF == 3) run[$1] = $3; next }
  FILENAME ~ /ninja_log$/ {
    if (FNR == 1) next
    source = $4
    if (match(source, /\.dir\/.*\.cpp\.o$/)) {
      name = source
      sub(/^.*CMakeFiles\//, "", name)
      target = name
      sub(/\.dir\/.*/, "", target)
      sub(/^.*\.dir\//, "", name)
      sub(/\.o$/, "", name)
      seconds[target] += (source in taken) ? 0 : ($2 - $1) / 1000
      taken[source] = 1
      if (target == "tt_compiled_objects") seconds[name] = ($2 - $1) / 1000
    }
    next
  }
  {
    name = $2
    sub(/^tests\//, "", name)
    sub(/\.cpp$/, "", name)
    cost = $2 ~ /^src/ ? seconds[$2] : seconds[name]
    if (cost == 0) cost = 8
    if (name == "test_static_seeds") for (t in seconds) if (t ~ /^tt_static_seeds_/) cost += seconds[t]
    if ($2 ~ /^src/) { library += cost; next }
    cost += run[name]
    if (name in known) print $1, cost, name  # test_capability is a program of the portable library
  }
  END { print -1, library + 0, "library" }' "$work/targets" "$runs" $build/.ninja_log "$work/affected" | sort -k1,1n -k2,2n >"$work/costs"
awk -v jobs="$jobs" -v most="${SECONDS_AT_MOST:-150}" -v chosen="$work/chosen" -v left="$work/left" '
  $3 == "library" { total = $2; next }
  !count++ || (total + $2) / jobs <= most { total += $2; print $3 > chosen; next }
  { print $3 > left }' "$work/costs"
touch "$work/chosen" "$work/left"

grep -qE '(^|/)(CMakeLists\.txt|CMakePresets\.json|.*\.cmake|Makefile)$' "$work/changed" &&
  echo "quick: how things are built was changed, too: .ci/run builds everything"
if [ ! -s "$work/chosen" ]; then
  echo "quick: no test includes what was changed: $(tr '\n' ' ' <"$work/changed")"
  if grep -q '^[0-9]* src/' "$work/affected"; then exec cmake --build $build -j "$jobs" --target tt_compiled; fi
  exit 0
fi
echo "quick: $(wc -l <"$work/chosen") of $(cat "$work/chosen" "$work/left" | wc -l) affected test programs: $(tr '\n' ' ' <"$work/chosen")"
# shellcheck disable=SC2046
cmake --build $build -j "$jobs" --target $(cat "$work/chosen") || exit 1
ctest --test-dir $build -j2 --output-on-failure --no-tests=error -R "^($(tr '\n' '|' <"$work/chosen" | sed 's/|$//'))\$" || exit 1
if [ -s "$work/left" ]; then
  echo "quick: LEFT OUT, affected but further away: $(tr '\n' ' ' <"$work/left")"
fi
echo "quick: left out besides: tests of label slow, examples, programs without the library or for any processor (test_x_plain, test_x_portable, test_link), house checks: make test, .ci/run"
