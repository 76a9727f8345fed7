# Shared by shell tests of the program from outside. Source it with the arguments of the script:
#   . "$2/tests/program.bash" "$@"     # SPECLAB_BINARY SOURCE_DIR
# Then end with `report`. Each script works in its own folder, which is removed at the end.
# shellcheck shell=bash disable=SC2034  # variables are used by the scripts
set -euo pipefail

speclab=$1
source_dir=$2
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
# A version manager's python3 is a script, which starts in twice the time of the program itself. No test here needs installed packages.
interpreter=$(python3 -c 'import sys; print(sys.executable)')
python3() { "$interpreter" -S "$@"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0
failures=0

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
  if [[ -s err ]]; then head -c 400 err | sed 's/^/  stderr: /'; fi
}

# Succeeds where the program is built with a sanitizer, which takes more memory and time.
sanitized() { grep -qF -e __asan_init -e __tsan_init "$speclab"; }

# expect CODE ARGUMENTS...: runs the program, writes its output to ./out and ./err, and checks the exit code.
expect() {
  local code=$1 status=0
  shift
  checks=$((checks + 1))
  timeout 600 "$speclab" "$@" >out 2>err || status=$?
  [[ $status -eq $code ]] || fail "exit code $status, not $code: speclab $*"
}

# says FILE TEXT: checks that the file contains the text.
says() {
  checks=$((checks + 1))
  grep -qF -- "$2" "$1" || fail "./$1 does not say: $2"
}

silent() {
  checks=$((checks + 1))
  [[ ! -s $1 ]] || fail "./$1 is not empty: $2"
}

same() {
  checks=$((checks + 1))
  cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# python CODE FILE...: `data` is the JSON of the first file.
python() {
  local code=$1
  shift
  checks=$((checks + 1))
  python3 -I -c "import json, sys
data = json.load(open(sys.argv[1]))
$code" "$@" >python_out 2>&1 || fail "$(tail -1 python_out): $code"
}

# another_program JOURNAL: gives the journal the first line that a program of other sources writes, with the sum that goes with it.
another_program() {
  python3 - "$1" <<'PYTHON'
import hashlib, json, pathlib, sys
file = pathlib.Path(sys.argv[1])
first, rest = file.read_text().split("\n", 1)
head = json.loads(first[17:]) | {"program": "0123456789abcdef" * 4}
text = json.dumps(head, separators=(",", ":"))
file.write_text(f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {text}\n{rest}")
PYTHON
}

report() {
  printf '%d checks, %d failures\n' "$checks" "$failures"
  [[ $failures -eq 0 ]]
}

first=$source_dir/configs/first.json
check=$source_dir/configs/check_token.json
markov=$source_dir/configs/exact_markov.json
small=(--set simulation.trials=16 --set simulation.length=300)
