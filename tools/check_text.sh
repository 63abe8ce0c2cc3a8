#!/bin/sh
# What no file of the repository may hold: paths of one machine, hosts of package registries, work to be done
# without an issue number, long headers that do not say why, white space at the end of a line, clauses with "what" in comments of the library.
. "$(dirname "$0")/common.sh"
check check_text

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git ls-files --cached --others --exclude-standard
else
  find . -name .git -prune -o -path ./build -prune -o -type f -print | sed 's|^\./||'
fi | sort -u | while read -r file; do
  [ -f "$file" ] && printf '%s\n' "$file"
done >"$work/files"
grep -vE '^(LICENSE|.*\.csv)$' "$work/files" >"$work/texts"

# search WHY GREP-ARGUMENTS: reports each match in the files of $work/list.
search() {
  why=$1
  shift
  tr '\n' '\0' <"$work/list" | xargs -0 -r grep -nIE "$@" -- /dev/null | cut -c 1-160 |
    while read -r line; do report "$line   <- $why"; done
}

# Letters apart, so that this file does not hold what it looks for.
joined() { printf '%s' "$1" | tr -d ' ' | sed 's/\./\\./g'; }
registries=$(joined 'p y p i . o r g|p y t h o n h o s t e d . o r g|n p m j s . o r g|c r a t e s . i o|r u b y g e m s . o r g|p r o x y . g o l a n g . o r g|d e b . d e b i a n . o r g|a r c h i v e . u b u n t u . c o m|c o n d a . a n a c o n d a . o r g|r e p o . m a v e n')
machine_host='https?://([A-Za-z0-9-]+\.)*(registry|proxy|mirrors?|artifactory|nexus)[.:-]|https?://[A-Za-z0-9.-]+\.(internal|corp|lan)([/:]|$)|https?://(localhost|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)[/:]'
todo=$(joined 'T O D O')

cp "$work/texts" "$work/list"
search "a package registry" "$registries"
search "a host of one network" "$machine_host"
search "a path of one machine" '(^|[^A-Za-z0-9_.}*~-])/(home|root|work|Users)/[A-Za-z0-9_.]'
search "white space at the end" '[[:space:]]+$'

grep -vE '\.md$' "$work/texts" >"$work/list"
tr '\n' '\0' <"$work/list" | xargs -0 -r grep -nIwE "$todo|$(joined 'F I X M E')" -- /dev/null |
  grep -vE "$todo\(#[0-9]+\)" | while read -r line; do report "$line   <- no issue number, as in $todo(#12)"; done

# A reader who has never seen the project needs the name of a thing.
grep -E '^(include|src)/' "$work/texts" >"$work/list"
search "a clause with 'what' in a comment: name the thing" -iw '//.*[^`]what'

grep '^include/' "$work/texts" | while read -r file; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 500 ] || head -n 12 "$file" | grep -qiw long ||
    report "$file: $lines lines, and its first 12 do not say why it is long"
done

verdict "$(wc -l <"$work/files") files read"
