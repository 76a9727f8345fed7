#!/bin/sh
# pip install ./kernels/python into a fresh environment, without the GPU's side, then the package from another folder: without torch its
# library, and with torch, where PYTHON has it, the code of docs/kernels-python.md. Says how large the wheel is and how long it took.
#   installed.sh PYTHON SOURCE_DIR
set -eu
python=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH SPECLAB_KERNELS_LIBRARY
"$python" -m venv --system-site-packages "$scratch/env"
start=$(date +%s)
"$scratch/env/bin/pip" wheel -q --no-deps -w "$scratch" -Ccmake.define.SPECLAB_CUDA=OFF -Cbuild-dir="$scratch/build" "$source/kernels/python"
wheel=$(echo "$scratch"/speclab_kernels-*-py3-none-*.whl)
echo "$(basename "$wheel"): $(($(date +%s) - start)) s, $(du -k "$wheel" | cut -f1) KiB"
"$scratch/env/bin/pip" install -q "$wheel"
cd "$scratch"
"$scratch/env/bin/python" - "$source/docs/kernels-python.md" <<'CODE'
import importlib.util
import subprocess
import sys
import speclab_kernels
library = speclab_kernels.library()
assert library.implementations()[0] == "fused" and library.device_name() is None
assert "built without CUDA" in library.c.speclab_last_error().decode()
file = importlib.util.find_spec("speclab_kernels").submodule_search_locations[0] + "/libspeclab_kernels.so"
needed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
assert "torch" not in needed and "speclab_kernels/libboost_context" in needed, needed
if importlib.util.find_spec("torch") is None:
    print("torch is not installed: the page's code did not run")
    sys.exit()
page = open(sys.argv[1], encoding="utf-8").read()
names = {}
exec(page[page.index("## One call"):].split("```python\n", 1)[1].split("```", 1)[0], names)
assert names["result"].tokens.shape == (2, 5) and (names["result"].counts >= 1).all()
print("the page's code ran")
CODE
