#!/bin/sh
# Sets up, builds and runs every test.
# usage: scripts/test.sh [PRESET] [ctest options]     PRESET: release (default), full, dev, asan, tsan, cuda
#   full is release with everything that its tests are skipped without, but a GPU: 10 GB, an hour of processor time
set -eu
cd "$(dirname "$0")/.."
preset=release
cuda=AUTO
full=
case "${1:-}" in
  release | dev | asan | tsan | cuda) preset=$1; shift ;;
  full) full=yes; shift ;;
esac
# scripts/run.sh leaves the GPU out if there is none. The tests compile for it wherever there is nvcc; without a GPU, which could run
# the kernels, they only see that these compile, for one architecture.
architectures="80-real;90-real;90-virtual"
if ! nvidia-smi -L >/dev/null 2>&1; then
  [ -n "$full" ] || cuda=COMPILE
  [ "$preset" = cuda ] || architectures=90-real
fi
case $preset in
  asan | tsan) cuda=OFF ;;
  cuda) cuda=ON ;;
esac
scripts/setup.sh test

# The Python package is built in the same tree, for a separate environment: python_environment makes it, or prints what
# is missing.
python_environment() {
  case $preset in
    release | cuda | asan) ;;
    *) missing="the preset $preset does not build it"; return 1 ;;
  esac
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    "$python" -c 'import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null && break
    python=
  done
  [ -n "$python" ] || { missing="no Python of 3.11 or later with venv and headers (python3-venv, python3-dev)"; return 1; }
  environment=$PWD/build/$preset/python-environment
  cmp -s tests/python/requirements.txt "$environment/installed" && return 0
  rm -rf "$environment"
  "$python" -m venv "$environment" &&
    "$environment/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 20 -r tests/python/requirements.txt &&
    cp tests/python/requirements.txt "$environment/installed" && return 0
  missing="pip cannot install tests/python/requirements.txt"
  return 1
}
configure() {
  cmake --preset "$preset" -DSPECLAB_TESTS=ON -DSPECLAB_CUDA=$cuda -DSPECLAB_CUDA_ARCHITECTURES="$architectures" "$@" >/dev/null
}
if python_environment; then
  [ -z "$full" ] || scripts/test_full.py install "$environment"
  configure -DSPECLAB_PYTHON=ON -DPython_EXECUTABLE="$environment/bin/python"
elif [ -n "$full" ]; then
  echo "scripts/test.sh full needs the Python package: $missing" >&2
  exit 1
else
  echo "Skipped: the Python package and its tests (tests/python): $missing"
  configure -DSPECLAB_PYTHON=OFF
fi
cmake --build --preset "$preset"
# One more job than there are processors, because some tests wait for a browser or a time limit.
jobs=$(($(nproc) + 1))
[ -z "$full" ] || exec scripts/test_full.py run "build/$preset" -j "$jobs" "$@"
exec ctest --preset "$preset" -j "$jobs" "$@"
