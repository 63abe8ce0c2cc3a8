#!/bin/sh
# The names of tests/pytorch_names.txt, which are PyTorch's, are declared as functions and methods of tt.
. "$(dirname "$0")/common.sh"
check check_names

names=tests/pytorch_names.txt
total=$(grep -cv '^#' "$names")
[ "$total" -gt 0 ] || report "$names lists no name"
{
  echo '#include <tt/tt.hpp>'
  awk '$1 == "function" { print "namespace function_" $2 " { using tt::" $2 "; }" }
       $1 == "linalg" { print "namespace linalg_" $2 " { using tt::linalg::" $2 "; }" }
       # A class derived from two that both have a member of this name cannot name it.
       $1 == "method" { print "namespace method_" $2 " { struct Other { int " $2 "; }; struct Both : tt::Tensor, Other {}; template <class T> concept none = requires { &T::" $2 "; };" \
                              " static_assert(!none<Both>, \"Tensor has no method " $2 "\"); }" }' "$names"
} >"$work/names.cpp"
"$GXX" -std=c++20 -fsyntax-only -DTT_COMPILED -I include "$work/names.cpp" >"$work/log" 2>&1 || report "$(grep -o "error: .*" "$work/log" | head -n 30)"

verdict "$total names of PyTorch are there"
