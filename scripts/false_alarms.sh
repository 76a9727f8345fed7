#!/bin/sh
# Counts how often the statistical tests alarm without a cause, by running the fast ones under other seeds.
# usage: scripts/false_alarms.sh [SEEDS] [BUILD_DIR]     (200 build/release)
set -eu
cd "$(dirname "$0")/.."
seeds=${1:-200}
build=${2:-build/release}
case $seeds in '' | *[!0-9]* | 0) echo "usage: $0 [SEEDS] [BUILD_DIR]" >&2; exit 2 ;; esac

# Files that include bounds.hpp; slow ones are listed separately.
runs=0 alarms=0
seed=1
while [ "$seed" -le "$seeds" ]; do
  for folder in core sim analysis kernels serving experiments; do
    files=$(grep -rl '"tests/bounds.hpp"' tests/$folder --include='*_test.cpp' | grep -v _slow_test.cpp | sed 's/.*/*&/' | paste -sd, -)
    [ -n "$files" ] || continue
    runs=$((runs + 1))
    if ! SPECLAB_TEST_SEED=$seed "$build/tests/${folder}_tests" --source-file="$files" --no-intro >/tmp/alarm.$$ 2>&1; then
      alarms=$((alarms + 1))
      echo "seed $seed, $folder:"
      grep -E 'ERROR|TEST CASE' /tmp/alarm.$$ || cat /tmp/alarm.$$
    fi
  done
  seed=$((seed + 1))
done
rm -f /tmp/alarm.$$
echo "$alarms alarms in $seeds seeds ($runs runs of test programs)"
# Without an alarm, the rate per seed is below this with 95% confidence (Clopper and Pearson).
[ "$alarms" -gt 0 ] || awk -v n="$seeds" 'BEGIN { printf "rate per run of all: below %.4f (95%%)\n", 1 - exp(log(0.05) / n) }'
[ "$alarms" -eq 0 ]
