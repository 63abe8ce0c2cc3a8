#!/bin/sh
# Installs the Debian packages that are missing, with apt-get, as root or through sudo, and says which.
# When nothing is missing it asks dpkg once and ends: no network, no output.
#   tools/setup.sh            what building and testing needs, and what is optional if the archive has it
#   tools/setup.sh --bench    also what the benchmarks compare with
#   tools/setup.sh --again    try optional packages again that could not be had last time
set -u
cd "$(dirname "$0")/.." || exit 1

required="g++ cmake ninja-build ccache libxsimd-dev doctest-dev libboost-dev"
optional="clang-19 libclang-rt-19-dev graphviz libthrust-dev liblapack3 nlohmann-json3-dev libeigen3-dev libkissfft-dev"
# Optional packages that could not be had are noted here, so that the next run does not ask the network again.
note=build/optional-packages-not-available

again=no
for argument in "$@"; do
  case $argument in
    --bench) required="$required libbenchmark-dev libxtensor-dev libopenblas-dev" ;;
    --again) again=yes ;;
    *) echo "setup: unknown argument '$argument'; known: --bench, --again" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this is not a Debian system, so nothing is installed for you. Needed (Debian's names): $required" >&2
  exit 0
fi

# missing LIST: the packages of LIST that are not installed.
missing() {
  # shellcheck disable=SC2086
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' $1 2>/dev/null |
    awk -v wanted="$1" '$1 == "installed" { have[$2] = 1 }
      END { n = split(wanted, name, " "); for (i = 1; i <= n; i++) if (!(name[i] in have)) printf "%s ", name[i] }'
}

purpose() {
  case $1 in
    clang-19) echo "without it the checks with clang are skipped" ;;
    libclang-rt-19-dev) echo "without it clang's sanitizers are skipped" ;;
    liblapack3) echo "without it tt::linalg throws Unavailable" ;;
    graphviz) echo "without it graphs are not drawn" ;;
    nlohmann-json3-dev) echo "without it there are no .safetensors files" ;;
    libeigen3-dev) echo "without it there are no maps of Eigen" ;;
    libkissfft-dev) echo "without it there are no Fourier transforms" ;;
    libthrust-dev) echo "without it, and without the CUDA toolkit, there is no sort, topk, unique, cumsum and reduce_by_key" ;;
  esac
}

# leave_out LIST WHY: says what goes without the optional packages of LIST.
leave_out() {
  for package in $1; do
    echo "setup: $package (optional) is not installed: $2; $(purpose "$package")."
  done
}

need=$(missing "$required")
want=$(missing "$optional")
[ "$again" = yes ] && rm -f "$note"

if [ -z "$need" ]; then
  if [ -n "$want" ] && [ -f "$note" ]; then
    leave_out "$want" "$(cat "$note")"
    exit 0
  fi
  if [ -z "$want" ]; then
    [ "$again" = yes ] && echo "setup: everything is there."
    exit 0
  fi
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    as_root=nobody
  elif [ -t 0 ]; then
    as_root=sudo
  elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
  else
    as_root=nobody
  fi
fi
if [ "$as_root" = nobody ]; then
  if [ -n "$need" ]; then
    echo "setup: these packages are missing, and installing them takes root or sudo, which are not available here:" >&2
    echo "setup:   apt-get install $need" >&2
    echo "setup: run that line as root, then try again." >&2
    exit 1
  fi
  leave_out "$want" "neither root nor sudo"
  exit 0
fi

# shellcheck disable=SC2086
apt() {
  command="$1"
  shift
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$command" "$@"
}

echo "setup: missing: $need$want; asking the archive"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt update >"$log" 2>&1 || { echo "setup: apt-get update ended with an error:"; tail -n 5 "$log"; }

if [ -n "$need" ]; then
  echo "setup: installing $need"
  # shellcheck disable=SC2086
  if ! apt install --no-install-recommends $need >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: could not install: $need" >&2
    echo "setup: with a working archive this line does it: apt-get install $need" >&2
    exit 1
  fi
fi

for package in $want; do
  if ! apt-cache show "$package" >/dev/null 2>&1; then
    why="the archive does not have it"
  else
    echo "setup: installing $package (optional)"
    apt install --no-install-recommends "$package" >"$log" 2>&1 && continue
    why="apt-get could not install it"
    tail -n 5 "$log"
  fi
  leave_out "$package" "$why"
  mkdir -p build
  echo "not available when last tried, 'make setup' tries again" >"$note"
done

still=$(missing "$required")
if [ -n "$still" ]; then
  echo "setup: apt-get said it was done, but these are still missing: $still" >&2
  exit 1
fi
echo "setup: done."
