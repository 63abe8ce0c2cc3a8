# The front door. Each target first makes sure that the packages it needs are there (tools/setup.sh),
# which takes no time and no network when they are.
#   make demo    build and run the digits example
#   make quick   build and run the tests nearest to what was changed since the last commit, in three minutes;
#                SINCE=main takes another commit
#   make test    build and run the tests, those of logic with little optimisation, in ten minutes: .ci/run has those of label further
#                too, make test-all also those that take minutes of compiler time
#   make test-all  build and run every test with full optimisation, and with every example; each header alone, header-only too
#   make accept  take the kernels emitted now as the golden ones (tests/golden)
#   make bench   build and run the benchmarks
#   make setup   install what is missing, optional packages too
#   make clean   remove build/
# JOBS=n sets how many compilers run at once, ARGS="..." is handed to the demo or to ctest.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
ARGS ?=
SINCE ?= HEAD

.PHONY: help demo quick test test-all accept bench setup clean

help:
	@sed -n '3,14s/^# \{0,1\}//p' Makefile

demo:
	@sh tools/setup.sh
	@test -f examples/digits/digits.cpp || { echo "demo: examples/digits/digits.cpp is not there" >&2; exit 1; }
	cmake --preset release
	cmake --build build/release --target digits -j $(JOBS)
	build/release/examples/digits $(ARGS)

quick:
	@sh tools/setup.sh
	@JOBS=$(JOBS) sh tools/quick.sh $(SINCE)

# $(1): the preset.
define build_and_test
	cmake --preset $(1)
	cmake --build build/$(1) -j $(JOBS) -- -k 0
	ctest --test-dir build/$(1) -j2 --output-on-failure --no-tests=error \
	  --output-junit junit.xml $(ARGS)
endef

test:
	@sh tools/setup.sh
	$(call build_and_test,release)

test-all:
	@sh tools/setup.sh
	$(call build_and_test,all)
	sh tools/check_headers.sh all

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
