#!/bin/sh
# Everything that needs a GPU, in under ten minutes: builds and runs the tests of the CUDA backend on the
# machine's own device, random graphs on the device against the CPU, compute-sanitizer where it is, the
# benchmarks and their peers. Needs nvcc, g++ or clang++ with C++20, and a folder of header-only
# dependencies: doctest/doctest.h, xsimd/ (and boost/hana for named parameters).
#   tools/gpu_check.sh DEPENDENCIES [BUILD_FOLDER]
set -u
cd "$(dirname "$0")/.." || exit 1
dependencies=${1:?tools/gpu_check.sh DEPENDENCIES [BUILD_FOLDER]}
build=${2:-build/gpu}
CXX=${CXX:-g++}
NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
mkdir -p "$build"
build=$(cd "$build" && pwd)
passed=0 failed=0 skipped=0
export TT_CUDA_REAL=1 TT_CACHE_DIR="$build/cache"

step() { # step NAME COMMAND...: one line in the table, the end of the output where it fails
  name=$1
  shift
  begin=$(date +%s)
  if "$@" >"$build/log" 2>&1; then
    passed=$((passed + 1))
    verdict=passed
  else
    case $? in
      77) skipped=$((skipped + 1)) verdict=SKIPPED ;;
      *) failed=$((failed + 1)) verdict=FAILED ;;
    esac
  fi
  printf '%-42s %-8s %4d s\n' "$name" "$verdict" "$(($(date +%s) - begin))"
  [ "$verdict" = passed ] || tail -n 30 "$build/log"
}
skip() {
  skipped=$((skipped + 1))
  printf '%-42s SKIPPED  %s\n' "$1" "$2"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || { echo "no GPU: nothing was run"; exit 1; }
"$NVCC" --version | tail -n 2 | head -n 1

cpp="$CXX -std=c++20 -O2 -march=native -I include -isystem $dependencies -DTT_COMPILED"
cu="$NVCC -std=c++20 -O2 --expt-relaxed-constexpr --fmad=false -arch=native -I include -I $dependencies -DTT_COMPILED -Xcompiler -march=native"
libraries="$build/tt.o -ldl -lpthread"
step "build: tt::compiled" $cpp -DTT_BUILD -c src/tt.cpp -o "$build/tt.o"
step "build: the tests' main" $cpp -c tests/main.cpp -o "$build/main.o"

for test in test_cuda test_cuda_tensor test_cuda_graphs test_cuda_products test_cuda_conv test_nvrtc; do
  step "build: $test" $cpp -DTT_FAKE_CUDA='"none"' -DTT_FAKE_CUBLASLT='"none"' -DTT_FAKE_CUDNN='"none"' -DTT_FAKE_CUDA_WITHOUT_GRAPHS='"none"' -DTT_CUDA_SHIM='"none"' -I tests "tests/$test.cpp" "$build/main.o" $libraries -o "$build/$test"
  [ -x "$build/$test" ] && step "run: $test" "$build/$test"
done
[ -x "$build/test_cuda" ] && step "run: 2,000 random graphs" env TT_FUZZ_COUNT=2000 TT_FUZZ_SEED=1000 "$build/test_cuda" -tc="random*"
step "build: static kernels" $cu tests/cuda/test_static.cu "$build/main.o" $libraries -o "$build/test_static"
[ -x "$build/test_static" ] && step "run: static kernels" "$build/test_static"

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ] && [ -x "$build/test_static" ]; then
  step "memcheck: static kernels" "$sanitizer" --tool memcheck --error-exitcode 1 "$build/test_static"
  step "racecheck: static kernels" "$sanitizer" --tool racecheck --error-exitcode 1 "$build/test_static"
  step "synccheck: static kernels" "$sanitizer" --tool synccheck --error-exitcode 1 "$build/test_static"
  export TT_CUDA_NO_CACHE=1
  step "memcheck: Tensors" "$sanitizer" --tool memcheck --error-exitcode 1 "$build/test_cuda_tensor"
  [ -x "$build/test_cuda_graphs" ] && step "memcheck: CUDA graphs" "$sanitizer" --tool memcheck --error-exitcode 1 "$build/test_cuda_graphs"
  step "synccheck: emitted kernels" "$sanitizer" --tool synccheck --error-exitcode 1 "$build/test_cuda" -tce="random*"
  step "memcheck: emitted kernels" "$sanitizer" --tool memcheck --error-exitcode 1 "$build/test_cuda" -tce="random*"
  step "racecheck: emitted kernels" "$sanitizer" --tool racecheck --error-exitcode 1 "$build/test_cuda" -tce="random*"
  unset TT_CUDA_NO_CACHE
else
  skip "compute-sanitizer" "not installed"
fi

for example in digits cuda_model; do
  step "build: $example" $cpp "examples/$example/$example.cpp" $libraries -o "$build/$example"
done
step "build: cuda_model, static" $cu examples/cuda_model/static.cu $libraries -o "$build/cuda_model_static"
[ -x "$build/digits" ] && step "run: digits" "$build/digits" --out "$build/digits_out"
[ -x "$build/cuda_model" ] && step "run: cuda_model, perceptron" "$build/cuda_model" --device cuda
[ -x "$build/cuda_model" ] && step "run: cuda_model, convolutional" "$build/cuda_model" --device cuda --model conv
[ -x "$build/cuda_model_static" ] && step "run: cuda_model, static" "$build/cuda_model_static"

step "build: benchmarks" $cu -I bench/cuda bench/cuda/bench_static.cu $libraries -o "$build/bench_static"
step "build: benchmarks of compiled functions" $cpp -I bench/cuda bench/cuda/bench_dynamic.cpp $libraries -o "$build/bench_dynamic"
for bench in bench_static bench_dynamic; do
  [ -x "$build/$bench" ] || continue
  echo "-- $bench"
  "$build/$bench" || failed=$((failed + 1))
done
if [ -x "$build/bench_dynamic" ]; then  # into an empty cache, then out of it
  rm -rf "$build/first"
  for _ in 1 2; do TT_CACHE_DIR="$build/first" "$build/bench_dynamic" --first-call || failed=$((failed + 1)); done
fi
if command -v python3 >/dev/null; then
  echo "-- peers"
  python3 bench/cuda/peers.py || skip "peers" "bench/cuda/peers.py failed"
else
  skip "peers" "no python3"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
