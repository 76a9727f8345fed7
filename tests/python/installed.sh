#!/bin/sh
# Runs pip install . in a fresh environment, then the program and the quick start of docs/python.md in another folder. Prints the size of the
# wheel and the duration.
#   installed.sh PYTHON SOURCE_DIR
set -eu
python=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH
"$python" -m venv "$scratch/env"
start=$(date +%s)
"$scratch/env/bin/pip" install -q "$source"
echo "pip install: $(($(date +%s) - start)) s, $(du -sh "$scratch/env"/lib/python*/site-packages/speclab | cut -f1) installed"
cd "$scratch"
"$scratch/env/bin/speclab" predict --alpha 0.8 --c 0.05 >"$scratch/predicted"
"$scratch/env/bin/python" - "$source/docs/python.md" <<'CODE'
import doctest, sys
import speclab
page = open(sys.argv[1], encoding="utf-8").read()
quick = page[page.index("## Quick start"):]
quick = quick[: quick.index("\n## ", 1)]
code = quick.split("```python\n", 1)[1].split("```", 1)[0]
test = doctest.DocTestParser().get_doctest(code, {}, "quick start", None, 0)
result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
assert result.attempted > 3 and result.failed == 0
print(f"speclab {speclab.__version__} from {speclab.__file__}")
CODE
