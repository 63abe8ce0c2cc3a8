# What objdump -dr --no-show-raw-insn says of each function:
#   loop FUNCTION INSTRUCTIONS MATCHES     its largest loop that holds no other one; MATCHES of `pattern` in it
#   call FUNCTION TARGET                   each call that the linker resolves
function finish(   i, j, inner, size, best, count, hits) {
  best = 0
  for (i = 1; i <= jumps; i++) {
    inner = 1
    for (j = 1; j <= jumps; j++)
      if (j != i && from[j] >= from[i] && to[j] <= to[i] && (from[j] != from[i] || to[j] != to[i])) inner = 0
    size = to[i] - from[i] + 1
    if (inner && size > best) { best = size; begin = from[i]; end = to[i] }
  }
  if (best) {
    for (count = begin; count <= end; count++) hits += text[count] ~ pattern
    print "loop", name, best, hits + 0
  }
  jumps = 0
  n = 0
  delete place
}
/^[0-9a-f]+ <.*>:$/ {
  finish()
  name = $2
  gsub(/[<>:]/, "", name)
  next
}
/R_X86_64_(PLT32|PC32)/ && text[n] ~ /^(call|jmp)/ {
  target = $NF
  sub(/-0x4$/, "", target)
  print "call", name, target
  next
}
/^ *[0-9a-f]+:\t/ {
  line = $0
  sub(/^ */, "", line)
  address = substr(line, 1, index(line, ":") - 1)
  sub(/^[^\t]*\t/, "", line)
  if (line ~ /^(nop|xchg +%ax,%ax|data16|cs nop)/) next  # padding for alignment
  text[++n] = line
  place[address] = n
  # A conditional jump back is the end of a loop.
  if (line ~ /^j[a-z]+ +[0-9a-f]+ /) {
    split(line, part, /[ \t]+/)
    if (part[2] in place) { from[++jumps] = place[part[2]]; to[jumps] = n }
  }
}
END { finish() }
