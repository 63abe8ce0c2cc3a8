# Prints C++ source, line by line, without comments and without the contents of string literals, so that
# emitted text in a raw string is not taken for code. Paths of #include stay.
function starts(text) { return substr(rest, 1, length(text)) == text }

{
  rest = $0
  out = ""
  if (state == "" && rest ~ /^[ \t]*#[ \t]*include/) {
    sub(/\/\/.*$/, "", rest)
    print rest
    next
  }
  while (rest != "") {
    if (state == "comment") {
      end = index(rest, "*/")
      if (end == 0) { rest = ""; break }
      rest = substr(rest, end + 2)
      state = ""
    } else if (state == "raw") {
      end = index(rest, closing)
      if (end == 0) { rest = ""; break }
      rest = "\"" substr(rest, end + length(closing))
      out = out "\""
      rest = substr(rest, 2)
      state = ""
    } else if (starts("//")) {
      rest = ""
    } else if (starts("/*")) {
      rest = substr(rest, 3)
      state = "comment"
    } else if (match(rest, /^R"[^ ()\\\t]*\(/)) {
      closing = ")" substr(rest, 3, RLENGTH - 3) "\""
      rest = substr(rest, RLENGTH + 1)
      out = out "\""
      state = "raw"
    } else if (match(rest, /^"([^"\\]|\\.)*"/)) {
      out = out "\"\""
      rest = substr(rest, RLENGTH + 1)
    } else if (match(rest, /^'([^'\\]|\\.)'/) || match(rest, /^'\\x[0-9a-fA-F]+'/)) {
      out = out "' '"
      rest = substr(rest, RLENGTH + 1)
    } else if (match(rest, /^[A-Za-z0-9_]+/) && !starts("R\"")) {
      # A whole word at once: the R of FOOR"..." opens no raw string, u8R"( does.
      word = substr(rest, 1, RLENGTH)
      if (substr(rest, RLENGTH + 1, 1) == "\"" && word ~ /^(u8|u|U|L)R$/) {
        out = out substr(word, 1, RLENGTH - 1)
        rest = substr(rest, RLENGTH)
      } else {
        out = out word
        rest = substr(rest, RLENGTH + 1)
        # Digit separators: 1'000 opens no character literal.
        while (word ~ /^[0-9]/ && match(rest, /^'[0-9A-Fa-f]+/)) {
          out = out substr(rest, 1, RLENGTH)
          rest = substr(rest, RLENGTH + 1)
        }
      }
    } else {
      out = out substr(rest, 1, 1)
      rest = substr(rest, 2)
    }
  }
  print out
}
