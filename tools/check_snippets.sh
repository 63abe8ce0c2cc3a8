#!/bin/sh
# Documents that quote programs: behind a line
#   <!-- examples/x/x.cpp [name] -->
# stands a block of code that is word for word what that file has between "// [name]" and "// [/name]".
#   tools/check_snippets.sh [--write] [document...]     with --write, documents get what the files have now
. "$(dirname "$0")/common.sh"
check check_snippets

write=no
if [ "${1:-}" = --write ]; then write=yes; shift; fi
[ $# -gt 0 ] || set -- $(grep -lE '^<!-- [^ ]+ \[[a-z0-9_]+\] -->$' docs/*.md include/tt/*/README.md)

for document in "$@"; do
  awk -v document="$document" '
    function quote(file, name,   line, inside, found) {
      while ((getline line <file) > 0) {
        if (line ~ "^ *// \\[/" name "\\]$") { inside = 0; found = 2; }
        else if (line ~ "^ *// \\[" name "\\]$") { inside = 1; found = 1; }
        else if (inside && line !~ /^ *\/\/ \[\/?[a-z0-9_]+\]$/) print line
      }
      close(file)
      if (found != 2) print "?? " file " has no part [" name "]"
    }
    skips && /^```$/ { skips = 0 }
    skips { next }
    { print }
    marked && /^```/ { quote(file, name); skips = 1 }
    { marked = 0 }
    /^<!-- [^ ]+ \[[a-z0-9_]+\] -->$/ { marked = 1; file = $2; name = $3; gsub(/[][]/, "", name); quoted++ }
    END { if (!quoted) print "?? nothing is quoted in " document }
  ' "$document" >"$work/now"
  grep -n '^?? ' "$work/now" | while IFS=: read -r line why; do report "$document:$line: ${why#\?\? }"; done
  if cmp -s "$document" "$work/now"; then continue; fi
  if [ $write = yes ]; then cp "$work/now" "$document"; continue; fi
  diff "$document" "$work/now" | sed -n '/^[0-9]/p' | head -5 | while read -r where; do
    report "$document:${where%%[acd,]*}: the code is no longer what is quoted. Run tools/check_snippets.sh --write?"
  done
done
verdict "what $# documents quote is what their programs have"
