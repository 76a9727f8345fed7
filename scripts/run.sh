#!/bin/sh
# Sets up, builds, and reproduces the paper's tables and figures into out/report.html.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh run
# Kernels need not be compiled for a missing GPU; the tests still compile them.
cuda=OFF
nvidia-smi -L >/dev/null 2>&1 && cuda=AUTO
cmake --preset release -DSPECLAB_TESTS=OFF -DSPECLAB_CUDA=$cuda >/dev/null
cmake --build --preset release --target speclab
code=0
build/release/bin/speclab reproduce --out out --force || code=$?
echo "Open out/report.html in a browser."
exit "$code"
