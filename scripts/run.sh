#!/bin/sh
# Sets up, builds, and reproduces the paper's tables and figures into out/report.html.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh run
cmake --preset release -DSPECLAB_TESTS=OFF >/dev/null
cmake --build --preset release --target speclab
code=0
build/release/bin/speclab reproduce --out out || code=$?
echo "Open out/report.html in a browser."
exit "$code"
