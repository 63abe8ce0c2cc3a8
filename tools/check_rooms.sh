#!/bin/sh
# The rooms of include/tt and who may look into which: a file includes its own room and rooms above it.
# Also: xsimd only in backends/cpu, Boost only in core/reflect.hpp, Thrust only in backends/thrust_algorithms.hpp, macros only in
# config.hpp, no expensive standard headers in the rooms that every user pays for.
. "$(dirname "$0")/common.sh"
check check_rooms

find include/tt -type f | sort >"$work/files"
parts=$(sed -n 's/^#define TT_PART_\([a-z]*\) .*/\1/p' include/tt/config.hpp | tr "\n" " ")
while read -r file; do
  code_of "$file" | awk -v file="$file" -v parts="$parts" '
    # From top to bottom.
    BEGIN {
      rooms = split("core ops graph plan functional backends expr dispatch autograd jit nn optim data dist io", room_name, " ")
      for (i = 1; i <= rooms; i++) rank[room_name[i]] = i
      split("memory functional iostream random chrono regex ranges", costly_name, " ")
      for (i in costly_name) costly[costly_name[i]] = 1
      split("core ops graph plan functional expr", thrifty_name, " ")
      for (i in thrifty_name) thrifty[thrifty_name[i]] = 1

      inner = substr(file, length("include/tt/") + 1)
      room = room_of(inner)
      backend = backend_of(inner)
      if (room == "" && inner !~ /^(tt|arrays|config|version)\.hpp$/)
        say(0, "include/tt itself holds tt.hpp, arrays.hpp, config.hpp and version.hpp only")
      if (room != "" && !(room in rank)) say(0, "no room is called " room)
    }

    function say(line, text) { printf "%s:%s %s\n", file, line ? line ":" : "", text }
    function room_of(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }
    # The folder below backends/, or nothing for the files that lie there directly.
    function backend_of(path,   part, n) {
      n = split(path, part, "/")
      return part[1] == "backends" && n > 2 ? part[2] : ""
    }
    # Takes a/./b and a/../b out of a path.
    function tidy(path,   part, n, i, kept, out) {
      n = split(path, part, "/")
      kept = 0
      for (i = 1; i <= n; i++) {
        if (part[i] == "." || part[i] == "") continue
        if (part[i] == ".." && kept > 0) { kept--; continue }
        stack[++kept] = part[i]
      }
      out = ""
      for (i = 1; i <= kept; i++) out = out (i > 1 ? "/" : "") stack[i]
      return out
    }

    function known_part(name) { return index(" " parts " ", " " name " ") > 0 }

    function target_is_reflect(path) { return path ~ /^tt\/(core\/reflect|io\/parameters)\.hpp$/ }

    /defined\(TT_BUILD\)/ && inner != "config.hpp" {
      say(NR, "asks for TT_BUILD; definitions for tt::compiled stand in #if TT_DEFINES(part)")
    }
    /TT_DEFINES\([a-z]*\)/ && inner != "config.hpp" {
      name = $0
      sub(/.*TT_DEFINES\(/, "", name)
      sub(/\).*/, "", name)
      if (!known_part(name)) say(NR, "TT_DEFINES(" name "): config.hpp has no TT_PART_" name)
    }
    /^[ \t]*#[ \t]*define/ && inner != "config.hpp" {
      name = $0
      sub(/^[ \t]*#[ \t]*define[ \t]*/, "", name)
      sub(/[^A-Za-z0-9_].*$/, "", name)
      say(NR, "defines the macro " name "; macros stand in config.hpp")
    }

    /^[ \t]*#[ \t]*include/ {
      path = $0
      sub(/^[ \t]*#[ \t]*include[ \t]*/, "", path)
      quoted = path ~ /^"/
      if (path !~ /^["<]/) next
      path = substr(path, 2)
      sub(/[">].*$/, "", path)

      if (path ~ /^xsimd(\/|\.)/ && backend != "cpu") say(NR, "includes " path "; only backends/cpu may")
      if (path ~ /^(thrust|cub)\// && inner != "backends/thrust_algorithms.hpp")
        say(NR, "includes " path "; only backends/thrust_algorithms.hpp may")
      if (path ~ /^tt\/backends\/(host_algorithms|thrust_algorithms)\.hpp$/ && inner != "backends/host_algorithms.hpp")
        say(NR, "includes " path ", which brings Thrust; only programs and src/ do")
      if (path ~ /^boost\// && inner != "core/reflect.hpp") say(NR, "includes " path "; only core/reflect.hpp may")
      if (target_is_reflect(path) && inner ~ /^(tt\.hpp|arrays\.hpp|(core|ops|graph|expr)\/)/)
        say(NR, "includes " path "; it brings Boost, which tt.hpp does without")
      if ((path in costly) && (room in thrifty)) say(NR, "includes <" path ">, too costly for " room)

      if (path ~ /^tt\//) target = substr(path, 4)
      else if (quoted) {
        folder = file
        sub(/[^\/]*$/, "", folder)
        target = tidy(folder path)
        if (target !~ /^include\/tt\//) next
        target = substr(target, length("include/tt/") + 1)
      } else next

      if (target == "config.hpp" || target == "version.hpp") next
      to = room_of(target)
      if (to == "") {
        if (target != inner && !(inner == "tt.hpp" && target == "arrays.hpp"))
          say(NR, "includes tt/" target "; headers of a room include no umbrella")
      } else if (!(to in rank)) {
        say(NR, "includes " path ", which is in no known room")
      } else if (inner == "config.hpp" || inner == "version.hpp") {
        say(NR, inner " includes no room")
      } else if (to == "backends") {
        if (room == "backends") {
          if (inner !~ /^backends\/(backend|runtime|compiler|static_device|host_algorithms)\.hpp$/ && backend_of(target) != "" && backend_of(target) != backend)
            say(NR, "backends/" (backend == "" ? "" : backend " ") "looks into backends/" backend_of(target))
        } else if (target != "backends/backend.hpp" && !(target == "backends/static_device.hpp" && inner == "expr/cuda.hpp") &&
                   !(target ~ /^backends\/(runtime|compiler|algorithms|lapack)\.hpp$/ && room ~ /^(dispatch|autograd|jit)$/))
          say(NR, "includes " path "; of backends only the doors are visible (docs/design/0003)")
        else if (room != "" && rank[room] < rank["backends"])
          say(NR, room " is above backends and must not include it")
      } else if (room != "" && rank[to] > rank[room]) {
        say(NR, room " includes " to ", which is below it (" path ")")
      }
    }'
done <"$work/files" >"$work/reports"
[ -s "$work/files" ] || report "include/tt holds no file"

verdict "$(wc -l <"$work/files") files keep to their rooms"
