#!/usr/bin/env bash
# Tests predict.
# usage: predict.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 predict --alpha 0.8 --gamma 5 --c 0 --json
python "assert abs(data['speedup'] - 3.689) < 5e-4, data['speedup']
assert abs(data['tokens_per_target_step'] - (1 - .8 ** 6) / .2) < 1e-12
assert data['gamma'] == 5 and 'optimal_gamma' not in data and 'best_speedup' not in data
assert data['reason']" out
expect 0 predict --alpha 1 --c 0.1 --json
python "assert 'optimal_gamma' not in data and 'best_speedup' not in data
assert 'operations_at_optimum' not in data and 'speedup' not in data
assert data['reason']" out
expect 0 predict --alpha 0.75 --c 0.02 --json
python "assert set('alpha c c_hat tokens_per_target_step operations operations_at_optimum upper_bound_drafting_free \
upper_bound_drafting_paid reason'.split()) <= set(data), list(data)
best = max(range(1, 65), key=lambda g: (1 - .75 ** (g + 1)) / (.25 * (g * .02 + 1)))
assert data['optimal_gamma'] == data['gamma'] == best, (data['optimal_gamma'], best)
assert data['speedup'] == data['best_speedup']" out
expect 0 predict --alpha 0.75 --c 0.02 --gamma 7 --json
python "assert round(data['speedup'], 1) == 3.2" out # Table 4, T5-small at T = 0
expect 0 predict --alpha 0.8 --c 0.05
says out "optimal γ"
for bad in "--alpha 1.5" "--alpha -0.1" "--alpha nan" "--alpha x" "--alpha 0.5 --c -1" "--alpha 0.5 --gamma -1" ""; do
  # shellcheck disable=SC2086  # several arguments
  expect 2 predict $bad
done

report
