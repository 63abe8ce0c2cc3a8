# Reads ctest's junit.xml and prints "run name", "skip name" or "fail name" for each test.
/<testcase / {
  name = $0
  sub(/.*<testcase name="/, "", name)
  sub(/".*/, "", name)
  status = $0
  sub(/.* status="/, "", status)
  sub(/".*/, "", status)
  if (status != "run") {
    pending = 1
    next
  }
  print "run", name
}
pending && /<skipped message="SKIP_RETURN_CODE=/ { print "skip", name; pending = 0 }
pending && /<\/testcase>/ { print "fail", name; pending = 0 }
