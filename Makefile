# The front door. Each target first makes sure that the packages it needs are there (tools/setup.sh),
# which takes no time and no network when they are.
#   make demo    build and run the digits example
#   make test    build and run every test
#   make accept  take the kernels emitted now as the golden ones (tests/golden)
#   make bench   build and run the benchmarks
#   make setup   install what is missing, optional packages too
#   make clean   remove build/
# JOBS=n sets how many compilers run at once, ARGS="..." is handed to the demo or to ctest.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
ARGS ?=

.PHONY: help demo test accept bench setup clean

help:
	@sed -n '3,10s/^# \{0,1\}//p' Makefile

demo:
	@sh tools/setup.sh
	@test -f examples/digits/digits.cpp || { echo "demo: examples/digits/digits.cpp is not there" >&2; exit 1; }
	cmake --preset release
	cmake --build build/release --target digits -j $(JOBS)
	build/release/examples/digits $(ARGS)

test:
	@sh tools/setup.sh
	cmake --preset release
	cmake --build build/release -j $(JOBS) -- -k 0
	ctest --test-dir build/release -j2 --output-on-failure --no-tests=error \
	  --output-junit junit.xml $(ARGS)

accept:
	@sh tools/setup.sh
	cmake --preset release
	cmake --build build/release --target test_golden -j $(JOBS)
	TT_ACCEPT_GOLDEN=1 build/release/tests/test_golden

bench:
	@sh tools/setup.sh --bench
	cmake --preset bench
	cmake --build build/bench -j $(JOBS)
	@sh tools/run_bench.sh build/bench/bench $(ARGS)

setup:
	@sh tools/setup.sh --again

clean:
	rm -rf build
