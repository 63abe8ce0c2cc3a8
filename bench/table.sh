#!/bin/sh
# Turns results of Google Benchmark into markdown tables of ratios: the time of tt over that of each other
# contender, medians where there were repetitions, one figure for each file given; then errors, or times where
# no error is known.
#   bench_fused --benchmark_format=json --benchmark_repetitions=7 >g++.json
#   bench/table.sh g++.json clang.json
set -u
[ $# -gt 0 ] || { echo "table: which JSON files?" >&2; exit 2; }

awk -v files="$#" '
  function text(line) { sub(/^[^:]*: *"?/, "", line); sub(/"?,? *$/, "", line); return line }
  function keep(   part, n, where, contender) {
    if (sub(/\/real_time$/, "", name)) cpu = real
    n = split(name, part, "/")
    if (n != 3 || (kind == "aggregate" && aggregate != "median")) return
    where = part[1] "/" part[2]
    contender = part[3]
    order[where, contender] = family + 0
    if (family + 0 > last) last = family + 0
    called[family + 0] = name
    if (kind == "aggregate" || !((where, contender, file) in time)) {
      time[where, contender, file] = cpu
      rate[where, contender, file] = bytes
      error[where, contender, file] = ulp
    }
  }
  FNR == 1 { file++ }
  /^ *\{/ { name = kind = aggregate = ulp = bytes = "" }
  /"family_index":/ && !/per_family/ { family = text($0) }
  /"run_name":/ { name = text($0) }
  /"run_type":/ { kind = text($0) }
  /"aggregate_name":/ { aggregate = text($0) }
  /"cpu_time":/ { cpu = text($0) }
  /"real_time":/ { real = text($0) }
  /"bytes_per_second":/ { bytes = text($0) }
  /"ulp":/ { ulp = text($0) }
  /^ *\}/ { if (name != "") keep(); name = "" }

  function figures(where, contender, what,   f, s, v) {
    for (f = 1; f <= files; f++) {
      v = "-"
      if ((where, contender, f) in time) {
        if (what == "ratio" && (where, "tt", f) in time)
          v = sprintf("%.2f", time[where, "tt", f] / time[where, contender, f])
        if (what == "rate" && rate[where, contender, f] != "") v = sprintf("%.0f", rate[where, contender, f] / 1e9)
      }
      s = s (f > 1 ? " · " : "") v
    }
    return s
  }
  function times(where, contender,   f, s, t) {
    for (f = 1; f <= files; f++) {
      t = time[where, contender, f]
      s = s (f > 1 ? " · " : "") (t == "" ? "-" : sprintf(t + 0 < 99.5 ? "%.1f" : "%.0f", t))
    }
    return s
  }
  # The larger error of all files.
  function ulp_of(where, contender,   f, worst) {
    for (f = 1; f <= files; f++)
      if (error[where, contender, f] != "" && (worst == "" || error[where, contender, f] + 0 > worst + 0))
        worst = error[where, contender, f]
    return worst == "" ? "-" : sprintf(worst < 9.95 ? "%.2g" : "%.0f", worst)
  }
  END {
    for (f = 0; f <= last; f++) {  # as the program lists them, whatever the order they ran in
      if (!(f in called)) continue
      split(called[f], part, "/")
      where = part[1] "/" part[2]
      if (!(where in known)) { known[where] = 1; place[++places] = where }
      if (!((part[1], part[3]) in listed)) {
        listed[part[1], part[3]] = 1
        contenders[part[1]] = contenders[part[1]] " " part[3]
      }
    }
    for (p = 1; p <= places; p++) {
      split(place[p], part, "/")
      op = part[1]
      if (op in done) continue
      done[op] = 1
      n = split(contenders[op], who, " ")
      has_tt = index(contenders[op] " ", " tt ") > 0
      has_ulp = 0
      for (q in error) if (index(q, op "/") == 1 && error[q] != "") has_ulp = 1
      printf "\n**%s**%s\n\n| size |", op, has_tt ? "" : ", GB/s"
      for (k = 1; k <= n; k++) if (who[k] != "tt") printf " %s%s |", has_tt ? "tt / " : "", who[k]
      if (has_tt) printf has_ulp ? " max ulp:" : " ns:"
      if (has_tt) for (k = 1; k <= n; k++) printf "%s %s", (k > 1 ? " /" : ""), who[k]
      printf (has_tt ? " |\n|---|" : "\n|---|")
      for (k = 1; k <= n; k++) printf "---|"
      printf "\n"
      for (q = p; q <= places; q++) {
        split(place[q], part, "/")
        if (part[1] != op) continue
        printf "| %s |", part[2]
        for (k = 1; k <= n; k++) if (who[k] != "tt") printf " %s |", figures(place[q], who[k], has_tt ? "ratio" : "rate")
        if (has_tt) for (k = 1; k <= n; k++) printf "%s %s", (k > 1 ? " /" : ""), has_ulp ? ulp_of(place[q], who[k]) : times(place[q], who[k])
        printf (has_tt ? " |\n" : "\n")
      }
    }
  }' "$@"
