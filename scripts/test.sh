#!/bin/sh
# Sets up, builds and runs every test.
# usage: scripts/test.sh [PRESET] [ctest options]     PRESET: release (default), dev, asan, tsan, cuda
set -eu
cd "$(dirname "$0")/.."
preset=release
cuda=AUTO
case "${1:-}" in
  release | dev | asan | tsan | cuda) preset=$1; shift ;;
esac
# scripts/run.sh leaves the GPU out where there is none; the tests compile for it wherever there is nvcc.
case $preset in
  asan | tsan) cuda=OFF ;;
  cuda) cuda=ON ;;
esac
scripts/setup.sh test
cmake --preset "$preset" -DSPECLAB_TESTS=ON -DSPECLAB_CUDA=$cuda >/dev/null
cmake --build --preset "$preset"
exec ctest --preset "$preset" -j "$(nproc)" "$@"
