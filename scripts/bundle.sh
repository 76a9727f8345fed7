#!/bin/sh
# Copies what a GPU machine needs out of a build, with the shared libraries it was linked to, so that nothing has to be
# installed there but a driver and a C library as new as this machine's.
# usage: scripts/bundle.sh BUILD FOLDER        e.g. scripts/bundle.sh build/cuda bundle
# There: scripts/bench_gpu.sh --build FOLDER
set -eu
[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
build=$1
folder=$2
[ -x "$build/bin/speclab" ] || { echo "bundle.sh: $build/bin/speclab is missing: build it first" >&2; exit 2; }

mkdir -p "$folder/bin" "$folder/tests" "$folder/kernels" "$folder/lib"
cp "$build/bin/speclab" "$folder/bin/"
for program in verify_plain_gpu simulate_gpu c_api_on_device; do
  [ -x "$build/tests/$program" ] || { echo "bundle.sh: $build/tests/$program is missing: build the tests" >&2; exit 2; }
  cp "$build/tests/$program" "$folder/tests/"
done
cp -L "$build/kernels/libspeclab_kernels.so" "$folder/kernels/"

# The C library and its loader belong to the machine.
for file in "$folder"/bin/* "$folder"/tests/* "$folder"/kernels/*; do ldd "$file"; done | awk '$3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so\.[0-9]+$' | while read -r library; do cp -L "$library" "$folder/lib/"; done
du -sh "$folder" | awk '{ print $2 ": " $1 }'
