#!/bin/sh
# Of the names that PyTorch has (tests/data/pytorch_forms.txt), those of tests/pytorch_names.txt are declared as functions and methods of tt, and no others.
. "$(dirname "$0")/common.sh"
check check_names

names=tests/pytorch_names.txt
grep -v '^#' "$names" | sort >"$work/listed"
total=$(grep -c . "$work/listed")
[ "$total" -gt 0 ] || report "$names lists no name"
# What is no identifier of C++ is left out.
{
  cat "$work/listed"
  awk '!/^#/ { kind = "function"; name = $1
               if (name ~ /^(linalg|masked|special|signal_windows)_/) { kind = name ~ /^signal/ ? "signal_windows" : substr(name, 1, index(name, "_") - 1); name = substr(name, length(kind) + 2) }
               for (k = 2; k <= NF; ++k) { if ($k == "function" && kind != "fft") print kind, name; if ($k == "method") print "method", $1; if ($k == "in_place") print "method", $1 "_" } }' tests/data/pytorch_forms.txt
} | grep -vE ' (bool|char|double|float|int|long|new|short)$' | sort -u >"$work/asked"
{
  echo '#include <tt/tt.hpp>'
  awk 'BEGIN { room["function"] = "tt"; room["linalg"] = "tt::linalg"; room["masked"] = "tt::masked"; room["special"] = "tt::special"; room["signal_windows"] = "tt::windows" }
       $1 in room { print "namespace " $1 "_" $2 " { using " room[$1] "::" $2 "; }" }
       # A class derived from two that both have a member of this name cannot name it.
       $1 == "method" { print "namespace method_" $2 " { struct Other { int " $2 "; }; struct Both : tt::Tensor, Other {}; template <class T> concept none = requires { &T::" $2 "; };" \
                              " static_assert(!none<Both>, \"no method " $2 "\"); }" }' "$work/asked"
} >"$work/names.cpp"
"$GXX" -std=c++20 -fsyntax-only -fmax-errors=0 -DTT_COMPILED -I include "$work/names.cpp" 2>&1 | LC_ALL=C grep "error: " >"$work/log"
# An error stands in the line of a name that is not there.
sed -n 's/^.*names\.cpp:\([0-9]*\):.*error: .*/\1/p' "$work/log" | sort -nu | while read -r line; do sed -n "$((line - 1))p" "$work/asked"; done | sort >"$work/absent"
grep -v "names\.cpp:" "$work/log" | head -n 5 >"$work/other"
[ -s "$work/other" ] && report "$(cat "$work/other")"
comm -12 "$work/listed" "$work/absent" >"$work/missing"
[ -s "$work/missing" ] && report "$names lists what is not there: $(head -n 30 "$work/missing" | tr '\n' ',')"
comm -23 "$work/asked" "$work/absent" | comm -13 "$work/listed" - >"$work/unlisted"
[ -s "$work/unlisted" ] && report "$names does not list what is there: $(head -n 300 "$work/unlisted" | tr '\n' ',')"

verdict "$total names of PyTorch are there, $(grep -c . "$work/absent") are not"
