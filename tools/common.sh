# What the checks share; sourced, not run. Leaves the shell in the root of the repository.
#   check NAME            names the check in what it prints
#   scratch               makes $work, a folder that goes away at the end
#   compilers             the compilers there are, one a line: g++, and clang++-19 if installed
#   skipped_clang         a remark for the last line when clang is not there
#   thrust_flags          what compiles Thrust for its sequential system; false if there is no Thrust
#   public_headers        every header, include/tt/core/dtype.hpp and so on, one a line
#   code_of FILE          a source file without comments and without the text of string literals
#   verdict "all is well" ends the check: one line when nothing was reported, else the reports and exit 1
# A check reports with: report "file:line: what is wrong"
set -u
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL

GXX=${GXX:-g++}
CLANGXX=${CLANGXX:-clang++-19}

check() {
  check_name=$1
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  : >"$work/reports"
}

report() { printf '%s\n' "$*" >>"$work/reports"; }

has_clang() { command -v "$CLANGXX" >/dev/null 2>&1; }

compilers() {
  echo "$GXX"
  if has_clang; then echo "$CLANGXX"; fi
}

skipped_clang() {
  has_clang || printf ' [SKIPPED clang: %s is not installed]' "$CLANGXX"
}

thrust_flags() {
  for folder in "" "${CUDA_HOME:-/usr/local/cuda}/include/cccl"; do
    printf '#include <thrust/version.h>\n' | "$GXX" -x c++ -E ${folder:+-isystem "$folder"} - >/dev/null 2>&1 || continue
    echo "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP${folder:+ -isystem $folder}"
    return 0
  done
  return 1
}

public_headers() { find include/tt -name '*.hpp' | sort; }

code_of() { awk -f tools/code_of.awk "$1"; }

verdict() {
  if [ -s "$work/reports" ]; then
    cat "$work/reports"
    echo "$check_name: FAILED"
    exit 1
  fi
  echo "$check_name: $1"
  exit 0
}
