#!/bin/sh
# Runs clang-tidy over every source, with the checks of .clang-tidy. It takes minutes, so it is not part of
# the tests.
set -eu
cd "$(dirname "$0")/.."
cmake --preset dev -DSPECLAB_TESTS=OFF >/dev/null
find sim analysis experiments -name '*.cpp' | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/dev
