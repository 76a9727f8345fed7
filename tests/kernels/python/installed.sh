#!/bin/sh
# Tests the package as it is installed, without GPU code. First a wheel by scripts/wheels/build_wheels.sh, in an environment that has nothing else,
# with no program on the PATH: it runs the tests of the C interface. Then pip install ./kernels/python: if PYTHON has torch, it runs the code of
# docs/kernels-python.md. Both run in another folder. Prints how large they are and how long it took.
#   installed.sh PYTHON SOURCE_DIR
set -eu
python=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH SPECLAB_KERNELS_LIBRARY
"$source/scripts/wheels/build_wheels.sh" "$scratch/wheels" cpu
"$python" -m venv "$scratch/bare"
"$scratch/bare/bin/pip" install -q --no-index "$scratch"/wheels/speclab_kernels-*+cpu-py3-none-manylinux_2_28_x86_64.whl
packages=$("$scratch/bare/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
version=$("$scratch/bare/bin/python" -c 'from importlib.metadata import version; print(version("speclab-kernels").split("+")[0])')
cp "$source/tests/kernels/c/c_api.py" "$scratch"
cd "$scratch"
env -i PATH=/nonexistent "$scratch/bare/bin/python" -B c_api.py "$packages/speclab_kernels/libspeclab_kernels.so" "$version" none "$packages" without

"$python" -m venv --system-site-packages "$scratch/env"
start=$(date +%s)
"$scratch/env/bin/pip" install -q --no-deps --config-settings=cmake.define.SPECLAB_CUDA=OFF --config-settings=build-dir="$scratch/build" \
  "$source/kernels/python"
"$scratch/env/bin/python" - "$source/docs/kernels-python.md" "$(($(date +%s) - start))" <<'CODE'
import importlib.util
import os
import sys
import speclab_kernels
library = speclab_kernels.library()
assert library.implementations()[0] == "fused" and library.device_name() is None
assert "built without CUDA" in library.c.speclab_last_error().decode()
file = importlib.util.find_spec("speclab_kernels").submodule_search_locations[0] + "/libspeclab_kernels.so"
print(f"pip install: {sys.argv[2]} s, the library has {os.path.getsize(file)} bytes")
if importlib.util.find_spec("torch") is None:
    print("torch is not installed: the page's code did not run")
    sys.exit()
page = open(sys.argv[1], encoding="utf-8").read()
names = {}
exec(page[page.index("## One call"):].split("```python\n", 1)[1].split("```", 1)[0], names)
assert names["result"].tokens.shape == (2, 5) and (names["result"].counts >= 1).all()
print("the page's code ran")
CODE
