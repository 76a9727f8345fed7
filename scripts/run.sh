#!/bin/sh
# Sets up, builds, and reproduces both papers' tables and figures into out/report.html and out/wagner/report.html.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh run
# Kernels need not be compiled for a missing GPU; the tests still compile them.
cuda=OFF
nvidia-smi -L >/dev/null 2>&1 && cuda=AUTO
cmake --preset release -DSPECLAB_TESTS=OFF -DSPECLAB_CUDA=$cuda >/dev/null
cmake --build --preset release --target speclab
code=0
# The first page links to the second, which must exist by then.
build/release/bin/speclab reproduce --paper wagner --out out/wagner --force || code=$?
build/release/bin/speclab reproduce --out out --force || code=$?
echo "Open out/report.html in a browser; it links to out/wagner/report.html, the second paper."
exit "$code"
