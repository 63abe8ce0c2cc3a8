#!/bin/sh
# mixed_compilers.sh COMPILER LIBRARY FOLDER FLAGS...: a test that COMPILER, which is not the library's, compiles, with the library: who
# installs tt::compiled need not use the compiler that it was built with.
compiler=$1 library=$2 folder=$3
shift 3
mkdir -p "$folder" && cd "$(dirname "$0")" || exit 1
"$compiler" -std=c++20 -O1 -DTT_COMPILED "$@" -Wno-invalid-feature-combination -I ../include -I . test_threads.cpp main.cpp "$library" \
  -lpthread -ldl -o "$folder/mixed_compilers" && "$folder/mixed_compilers"
