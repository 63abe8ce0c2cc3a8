#!/usr/bin/env bash
# What including and using tt costs a compiler, against the include of xsimd alone, Eigen and xtensor:
# CPU seconds (user), median of several runs, everything compiled in turn in every run so that a busy machine
# disturbs all alike. Prints a markdown table for each compiler.
#   bench/compile_time/run.sh                     g++ and clang++-19, five runs
#   RUNS=3 COMPILERS=g++ CORE=1 bench/compile_time/run.sh     INCLUDE=folder: the headers of another checkout
#   JOBS='step_.*|mlp_.*' bench/compile_time/run.sh          these and the bare headers only
set -u
cd "$(dirname "$0")/../.." || exit 1
runs=${RUNS:-5}
pin=
[ -n "${CORE:-}" ] && pin="taskset -c $CORE"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

flags="-std=c++20 -march=native -DNDEBUG -w -I ${INCLUDE:-include} -I bench"
[ -d /usr/include/eigen3 ] && flags="$flags -isystem /usr/include/eigen3"

# job NAME MODE: adds the source of standard input to what is measured. Modes: syntax, O2, or both.
job() {
  cat >"$work/$1.cpp"
  for mode in ${2/both/syntax O2}; do echo "$1 $mode" >>"$work/jobs"; done
}
include() {
  for header in "$@"; do echo "#include <$header>"; done
}

include cstddef | job empty both
include xsimd/xsimd.hpp | job xsimd both
include tt/core/array.hpp tt/core/print.hpp tt/functional/tensor_ops.hpp tt/graph/differentiate.hpp tt/plan/lower.hpp |
  job without_xsimd both
include tt/expr/fuse.hpp | job fuse both
include tt/arrays.hpp | job arrays both
include tt/tt.hpp | job tt both
include Eigen/Core | job eigen both
{ echo "#define XTENSOR_USE_XSIMD"; include xtensor/xtensor.hpp xtensor/xmath.hpp; } | job xtensor both
for library in hand tt tt_gradients eigen xtensor; do
  for count in 1 10 50; do
    awk -v count=$count -v library=$library -f bench/compile_time/expressions.awk | job "${library}_$count" O2
  done
done

# A training step with a caller, and the same of networks with more layers.
step_job() {  # LIBRARY HEADER NAMESPACE PARAMETERS ARGUMENTS.
  { echo "#include \"$2\""; echo "using namespace $3;"; echo "float call($4) { return step($5); }"; } | job "step_$1" O2
}
step_job tt step.hpp bench "Model& m, Model& v, const Images& x, const Labels& y" "m, v, x, y, 0.1f"
step_job hand peers/step_hand.hpp peers::step_hand \
  "Parameters& p, Parameters& v, Workspace& w, const float* x, const std::int64_t* y" "p, v, w, x, y, 0.1f"
step_job eigen peers/step_eigen.hpp peers::step_eigen \
  "Parameters& p, Parameters& v, Workspace& w, const Matrix<64, 64>& x, const std::int64_t* y" "p, v, w, x, y, 0.1f"
for layers in 1 2 4 8 16; do
  awk -v layers=$layers -f bench/compile_time/mlp.awk | job "mlp_$layers" O2
done
# Tensors: added and printed, and in a compiled function; as headers alone and against tt::compiled.
for program in tools/budgets/tensor_add.cpp bench/compile_time/tensor_compile.cpp; do
  name=$(basename "$program" .cpp)
  job "$name" O2 <"$program"
  { echo "#define TT_COMPILED"; cat "$program"; } | job "${name}_linked" O2
done
[ -n "${JOBS:-}" ] && { grep -E "^(empty|xsimd|tt|eigen|$JOBS) " "$work/jobs" >"$work/some"; mv "$work/some" "$work/jobs"; }

measure() {  # COMPILER SOURCE MODE
  local options="-fsyntax-only"
  [ "$3" = O2 ] && options="-O2 -c -o $work/out.o"
  TIMEFORMAT=%U
  # shellcheck disable=SC2086
  { time $pin $1 $flags $options "$work/$2.cpp" >"$work/errors" 2>&1; } 2>"$work/seconds" ||
    { echo "compile_time: $1 $3 $2.cpp failed:" >&2; head -n 5 "$work/errors" >&2; return 1; }
  echo "$2 $3 $(cat "$work/seconds")"
}

for compiler in ${COMPILERS:-g++ clang++-19}; do
  command -v "$compiler" >/dev/null 2>&1 || { echo "compile_time: no $compiler" >&2; continue; }
  : >"$work/times"
  for run in $(seq "$runs"); do
    while read -r name mode; do
      grep -qsx "$compiler $name $mode" "$work/broken" && continue
      measure "$compiler" "$name" "$mode" >>"$work/times" || echo "$compiler $name $mode" >>"$work/broken"
    done <"$work/jobs"
    echo "compile_time: $compiler, run $run of $runs done" >&2
  done
  echo
  echo "### $("$compiler" --version | head -n 1)"
  echo
  sort -k1,1 -k2,2 -k3,3n "$work/times" | awk -f bench/compile_time/table.awk
done
