#!/usr/bin/env bash
# Tests check kernels: bad options are refused, and without a GPU its error names the alternative.
# usage: check_kernels.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 check kernels --help
says out "speclab check kernels --emulate"
expect 2 check kernels --emulate --requests 10
says err "--requests 10: expected 1000 to 1000000000"
expect 2 check kernels --emulate --implementation nobody
expect 2 check kernels --emulate --level 1
if ! nvidia-smi >/dev/null 2>&1; then
  expect 2 bench kernels
  says err "--dry-run checks launches and counts bytes without one"
  expect 2 check kernels
  says err "--emulate runs the same tests"
fi

report
