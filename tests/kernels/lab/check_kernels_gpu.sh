#!/bin/sh
# usage: check_kernels_gpu.sh SPECLAB
# Checks decisions, bits, edges and distributions of the verification kernels on the GPU. Ends with 77 (skipped) if
# there is none.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
"$1" check kernels 2>"$log" || code=$?
cat "$log" >&2
if [ "$code" -eq 2 ] && grep -q "no GPU to test" "$log"; then
  echo "skipped: experiments/check_kernels_gpu: no GPU"
  exit 77
fi
exit "$code"
