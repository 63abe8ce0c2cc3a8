#!/bin/sh
# Everything that needs a GPU, in under ten minutes: builds and runs the tests of the CUDA backend on the
# machine's own device, random graphs on the device against the CPU, the benchmarks and their peers, and, in the
# time that is left, compute-sanitizer where it is. Needs nvcc, g++ or clang++ with C++20, and a folder of
# header-only dependencies: doctest/doctest.h, xsimd/ (and boost/hana for named parameters).
#   tools/gpu_check.sh DEPENDENCIES [BUILD_FOLDER]
#   GPU_CHECK_SECONDS=570   after so many nothing is begun any more, and what runs is stopped
set -u
cd "$(dirname "$0")/.." || exit 1
dependencies=$(cd "${1:?tools/gpu_check.sh DEPENDENCIES [BUILD_FOLDER]}" && pwd)
build=${2:-build}/gpu_check
CXX=${CXX:-g++}
NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)
passed=0 failed=0 skipped=0
begin=$(date +%s)
end=$((begin + ${GPU_CHECK_SECONDS:-570}))
export TT_CUDA_REAL=1 TT_CACHE_DIR="$build/cache"

row() { # row NAME VERDICT SECONDS [WHY]
  case $2 in
    passed) passed=$((passed + 1)) ;;
    SKIPPED) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
  printf '%-42s %-8s %4s s  %s\n' "$1" "$2" "$3" "${4:-}"
}
left() { # the seconds that are left, at most $1
  seconds=$((end - $(date +%s)))
  [ "$seconds" -lt "$1" ] || seconds=$1
  echo "$seconds"
}
step() { # step NAME COMMAND...: one line in the table, the end of the output where it fails
  name=$1
  shift
  now=$(date +%s) seconds=$(left "${most:-600}")
  if [ "$seconds" -le 0 ]; then
    row "$name" SKIPPED 0 "no time is left"
    return
  fi
  timeout -k 5 "$seconds" "$@" >"$build/log" 2>&1
  case $? in
    0) verdict=passed ;;
    77) verdict=SKIPPED ;;
    124 | 137) if [ -n "${most:-}" ]; then verdict=SKIPPED; else verdict=STOPPED; fi ;;
    *) verdict=FAILED ;;
  esac
  row "$name" $verdict $(($(date +%s) - now))
  [ $verdict = passed ] || tail -n 30 "$build/log"
}
run() { # run NAME PROGRAM [ARGUMENTS...]: where it was built
  name=$1
  shift
  if [ -x "$1" ]; then step "$name" "$@"; fi
}
shown() { # shown PROGRAM [ARGUMENTS...]: a benchmark, whose output is its rows
  [ -x "$(command -v "$1")" ] || return
  echo "-- $*" | sed "s|$build/||"
  seconds=$(left 150)
  if [ "$seconds" -le 0 ]; then
    row "$(basename "$1")" SKIPPED 0 "no time is left"
  else
    timeout -k 5 "$seconds" "$@" || row "$(basename "$1")" FAILED -
  fi
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || { echo "no GPU: nothing was run"; exit 1; }
"$NVCC" --version | tail -n 2 | head -n 1

# ---- builds, as many at once as there are cores: objects, then programs

toolkit=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
for folder in "$toolkit/include/cccl" "$toolkit/targets/x86_64-linux/include/cccl" "$toolkit/include"; do
  if [ -f "$folder/thrust/version.h" ]; then thrust=$folder && break; fi
done
warnings="-Wno-invalid-feature-combination"
[ "${CXX#*clang}" = "$CXX" ] && warnings=""
cpp="$CXX -std=c++20 -O2 -march=native $warnings -I include -isystem $dependencies -DTT_COMPILED"
fakes=
for macro in CUDA CUBLASLT CUDNN CUDA_WITHOUT_GRAPHS; do fakes="$fakes -DTT_FAKE_$macro='\"none\"'"; done
fakes="$fakes -DTT_CUDA_SHIM='\"none\"'"
cu="$NVCC -std=c++20 -O2 --expt-relaxed-constexpr --fmad=false -arch=${TT_CUDA_ARCH:-native} -I include -I $dependencies -DTT_COMPILED -Xcompiler -march=native"
tests="test_cuda test_cuda_tensor test_cuda_graphs test_cuda_products test_cuda_conv test_nvrtc"
parts="core graph backends cpu cuda eager further dispatch functions linalg autograd jit"
library="$parts algorithms algorithms_cuda"
{ # NAME: COMMAND of each object
  for part in $parts; do echo "$part: $cpp -c src/$part.cpp"; done
  echo "algorithms: $cpp -DTT_CUDA_ALGORITHMS ${thrust:+-isystem $thrust} -c src/algorithms.cpp"
  echo "algorithms_cuda: $cu -c src/algorithms.cu"
  echo "main: $cpp -c tests/main.cpp"
  for test in $tests; do echo "$test: $cpp $fakes -I tests -c tests/$test.cpp"; done
  echo "test_static: $cu -c tests/cuda/test_static.cu"
  echo "test_algorithms: $cu -c tests/cuda/test_algorithms.cu"
  echo "digits: $cpp -c examples/digits/digits.cpp"
  echo "cuda_model: $cpp -c examples/cuda_model/cuda_model.cpp"
  echo "cuda_model_static: $cu -c examples/cuda_model/static.cu"
  echo "bench_static: $cu -I bench/cuda -c bench/cuda/bench_static.cu"
  echo "bench_dynamic: $cpp -I bench/cuda -c bench/cuda/bench_dynamic.cpp"
} >"$build/objects"
together() { # together: each line of the standard input as a command, at once; the log of NAME is NAME.log
  # shellcheck disable=SC2016
  timeout -k 5 "$(left 300)" xargs -d '\n' -P "$(nproc)" -I '{}' sh -c 'sh -c "${1#*: }" >"$2/${1%%: *}.log" 2>&1 || mv "$2/${1%%: *}.log" "$2/${1%%: *}.failed"' together '{}' "$build"
}
sed "s|^\([a-z_]*\): .*|& -o $build/\1.o|" "$build/objects" | together
objects=
for name in $library; do objects="$objects $build/$name.o"; done
for name in $tests test_static test_algorithms digits cuda_model cuda_model_static bench_static bench_dynamic; do
  case $name in test_*) main=$build/main.o ;; *) main= ;; esac
  [ -f "$build/$name.o" ] && echo "$name: $NVCC $build/$name.o $main $objects -o $build/$name -ldl -lpthread"
done | together
row "build" "$(if ls "$build"/*.failed >/dev/null 2>&1; then echo FAILED; else echo passed; fi)" $(($(date +%s) - begin))
for log in "$build"/*.failed; do
  if [ -f "$log" ]; then
    echo "$(basename "$log" .failed) was not built:"
    grep -m 5 -E 'error|undefined' "$log" || tail -n 5 "$log"
  fi
done

# ---- tests

if [ -z "${TT_CUDNN:-}" ] && command -v python3 >/dev/null; then  # cuDNN often comes with PyTorch
  found=$(python3 -c 'import importlib.util as u; print(u.find_spec("nvidia.cudnn").submodule_search_locations[0])' 2>/dev/null)/lib/libcudnn.so.9
  if [ -f "$found" ]; then export TT_CUDNN="$found"; fi
fi

for test in $tests; do run "$test" "$build/$test"; done
random_graphs() { # 2,000 of them, by eight processes: NVRTC takes 0.2 s for each
  mkdir -p "$build/random"
  for k in 0 1 2 3 4 5 6 7; do
    TT_FUZZ_COUNT=250 TT_FUZZ_SEED=$((1000 + 250 * k)) "$build/test_cuda" -tc="random*" >"$build/random/$k" 2>&1 || mv "$build/random/$k" "$build/random/failed$k" &
  done
  wait
  tail -n 30 "$build"/random/failed* 2>/dev/null
  ! ls "$build"/random/failed* >/dev/null 2>&1
}
if [ -x "$build/test_cuda" ]; then
  now=$(date +%s)
  if random_graphs; then verdict=passed; else verdict=FAILED; fi
  row "2,000 random graphs" $verdict $(($(date +%s) - now))
fi
run "static kernels" "$build/test_static"
run "sort, scans and runs" "$build/test_algorithms"
run "digits" "$build/digits" --out "$build/digits_out"
run "cuda_model, perceptron" "$build/cuda_model" --device cuda
run "cuda_model, convolutional" "$build/cuda_model" --device cuda --model conv
run "cuda_model, static" "$build/cuda_model_static"

# ---- benchmarks

shown "$build/bench_static"
shown "$build/bench_dynamic"
export TT_CACHE_DIR="$build/first"  # empty, then with what the first run left there
for _ in 1 2; do shown "$build/bench_dynamic" --first-call; done
export TT_CACHE_DIR="$build/cache"
shown python3 bench/cuda/peers.py

# ---- compute-sanitizer: without the cache it sees every block of memory as it is

sanitizer=$(command -v compute-sanitizer || echo "$toolkit/bin/compute-sanitizer")
if [ -x "$sanitizer" ]; then
  export TT_CUDA_NO_CACHE=1
  most=90  # seconds of each: what takes longer is a skip
  checked() { # checked TOOL NAME PROGRAM [ARGUMENTS...]
    tool=$1 what=$2
    shift 2
    if [ -x "$1" ]; then step "$tool: $what" "$sanitizer" --tool "$tool" --error-exitcode 1 "$@"; fi
  }
  for tool in memcheck racecheck synccheck; do
    checked "$tool" "static kernels" "$build/test_static"
    checked "$tool" "emitted kernels" "$build/test_cuda" -tce="random*"
  done
  checked memcheck "Tensors" "$build/test_cuda_tensor"
  checked memcheck "CUDA graphs" "$build/test_cuda_graphs"
  checked memcheck "sort, scans and runs" "$build/test_algorithms"
else
  row "compute-sanitizer" SKIPPED 0 "not installed"
fi
echo "$passed passed, $failed failed, $skipped skipped, $(($(date +%s) - begin)) s"
[ "$failed" -eq 0 ]
