#!/bin/sh
# Tests and measures the GPU kernels on this machine, and leaves everything in kernels/results/<device>.
# usage: scripts/bench_gpu.sh [--build FOLDER] [--out FOLDER] [-- options of speclab bench kernels]
#   --build FOLDER   an existing build with CUDA and tests, or what scripts/bundle.sh made of one; default: the cuda
#                    preset, built here
#   --out FOLDER     where results go; default: kernels/results/<the device's name>
# Steps: GPU tests, compute-sanitizer where it is installed, check kernels, simulation, bench kernels, and PyTorch where it
# can be imported. A step that fails does not stop the others; the exit code is 1 then.
set -eu
cd "$(dirname "$0")/.."

build=
out=
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=${2:?--build needs a folder}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    --) shift; break ;;
    -h | --help) sed -n '2,9s/^# *//p' "$0"; exit 0 ;;
    *) echo "bench_gpu.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null || {
  echo "bench_gpu.sh: no GPU: nvidia-smi is missing or finds none" >&2
  exit 2
}
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr ' /' '--' | tr 'A-Z' 'a-z')
[ -n "$out" ] || out=kernels/results/$device
mkdir -p "$out"

if [ -z "$build" ]; then
  build=build/cuda
  cmake --preset cuda -DSPECLAB_TESTS=ON >/dev/null
  cmake --build --preset cuda
fi
if [ -d "$build/lib" ]; then
  LD_LIBRARY_PATH=$(cd "$build/lib" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
fi
speclab=$build/bin/speclab
[ -x "$speclab" ] || { echo "bench_gpu.sh: $speclab is missing: build the target speclab" >&2; exit 2; }

commands=$out/commands.txt
failures=0
: >"$commands"

# step NAME COMMAND...: runs it, its output in $out/NAME.log, and writes down the command and how it ended.
step() {
  name=$1
  shift
  echo "== $name: $*"
  code=0
  "$@" >"$out/$name.log" 2>&1 || code=$?
  printf '%s\n  exit code %s, output in %s.log\n' "$*" "$code" "$name" >>"$commands"
  [ "$code" -eq 0 ] || { failures=$((failures + 1)); echo "   exit code $code: see $out/$name.log"; }
}
skip() {
  echo "== $1: skipped: $2"
  printf '%s: skipped: %s\n' "$1" "$2" >>"$commands"
}

{
  "$speclab" --version
  git describe --always --dirty 2>/dev/null || true
  nvidia-smi
  nvcc --version 2>/dev/null || true
  c++ --version 2>/dev/null | head -1
  uname -srm
} >"$out/versions.txt" 2>&1

step verify-plain "$build/tests/verify_plain_gpu"
step c-api "$build/tests/c_api_on_device"

sanitizer=$(command -v compute-sanitizer || true)
[ -n "$sanitizer" ] || [ ! -x /usr/local/cuda/bin/compute-sanitizer ] || sanitizer=/usr/local/cuda/bin/compute-sanitizer
for tool in memcheck racecheck initcheck; do
  if [ -n "$sanitizer" ]; then
    step "$tool" "$sanitizer" --tool "$tool" --error-exitcode 3 "$speclab" check kernels --requests 1000
  else
    skip "$tool" "compute-sanitizer is not installed"
  fi
done

step check-kernels "$speclab" check kernels
step simulation "$build/tests/simulate_gpu"
step bench-kernels "$speclab" bench kernels --out "$out" "$@"

library=$(find "$build" -name libspeclab_kernels.so | head -1)
if [ -z "$library" ]; then
  skip torch "libspeclab_kernels.so was not built"
elif python3 -c 'import torch' 2>/dev/null; then
  step torch python3 scripts/bench_torch.py --library "$library" --graphs --flush --json "$out/torch.json"
else
  skip torch "PyTorch cannot be imported"
fi

echo "results: $out"
[ "$failures" -eq 0 ] || { echo "$failures steps failed: $commands"; exit 1; }
