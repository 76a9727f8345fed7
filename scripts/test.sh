#!/bin/sh
# Sets up, builds and runs every test.
# usage: scripts/test.sh [PRESET] [ctest options]     PRESET: release (default), dev, asan, tsan, cuda
set -eu
cd "$(dirname "$0")/.."
preset=release
case "${1:-}" in
  release | dev | asan | tsan | cuda) preset=$1; shift ;;
esac
scripts/setup.sh test
cmake --preset "$preset" -DSPECLAB_TESTS=ON >/dev/null
cmake --build --preset "$preset"
exec ctest --preset "$preset" -j "$(nproc)" "$@"
