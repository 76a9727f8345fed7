#!/usr/bin/env bash
# Tests the configs that come with the program. A config that needs a text runs with it, or says what is missing.
# usage: shipped_configs.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

cd "$source_dir"
for config in configs/*.json configs/paper/*.json configs/smollm2/*.json; do
  checks=$((checks + 1))
  status=0
  changes=()
  # The 120 cells of its sweep take 16 s to prepare. The long suite runs them in tests/python/configs_test.py.
  if [[ $config == configs/rules_gamma.json ]]; then changes=(--set 'sweep={"/gamma": [1]}'); fi
  message=$("$speclab" validate "$config" "${changes[@]}" 2>&1) || status=$?
  if [[ $status -ne 0 && $message != *"need libllama: run scripts/setup.sh neural"* ]]; then
    missing=$(grep -o 'data/[a-z_.-]*[a-z]' <<<"$message" | head -1) || true
    if [[ -z $missing || -f $missing ]]; then
      fail "$config: $message"
    elif [[ $message != *"scripts/setup.sh"* ]]; then
      fail "$config: the message does not name the script that makes $missing: $message"
    fi
  fi
done

report
