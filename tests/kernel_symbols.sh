#!/bin/sh
# kernel_symbols.sh OBJECT...: src/tile_kernels.cpp, compiled for a processor that a program only may meet, defines nothing that
# the linker could take for others, who run on any: names of its own instruction set, and its table. Data is the same for all.
status=0
for object in "$@"; do
  case $object in *avx512*) own=avx512 ;; *avx2*) own=avx2 ;; *) echo "$object: for which processor?"; exit 1 ;; esac
  names=$(nm -C --defined-only --extern-only "$object" | cut -d ' ' -f 2-) || exit 1
  echo "$names" | grep -q "T tt::cpu::${own}_kernels()" || { echo "$object has no table"; status=1; }
  others=$(echo "$names" | grep -v -e '^u ' -e "tt::cpu::$own::" -e "tt::cpu::${own}_kernels()" -e "DW.ref.__gxx_personality_v0")
  [ -z "$others" ] || { printf '%s defines:\n%s\n' "$object" "$others"; status=1; }
done
exit $status
