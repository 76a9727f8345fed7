#!/bin/sh
# Builds the explorer: the engine as WebAssembly from the program's own sources, and one page that holds everything.
# Needs Debian's emscripten (scripts/setup.sh explorer).
# usage: scripts/build_explorer.sh [FOLDER]     writes FOLDER/explorer.html, by default build/explorer
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/explorer}
mkdir -p "$out/include"
command -v em++ >/dev/null || {
  echo "build_explorer.sh: em++ is missing; scripts/setup.sh explorer installs it" >&2
  exit 1
}

# Headers without a library. The rest of /usr/include belongs to this machine's own processor.
for folder in boost Random123 fmt nlohmann; do
  ln -sfn "/usr/include/$folder" "$out/include/$folder"
done
ln -sfn /usr/include/eigen3/Eigen "$out/include/Eigen"

# One translation unit of the bindings and the sources that they call.
sources="explorer/engine.cpp
  analysis/theory/theorems.cpp analysis/theory/optimal_gamma.cpp
  analysis/exact/rational.cpp analysis/exact/losslessness.cpp analysis/exact/context_chain.cpp
  analysis/exact/chain_distributions.cpp analysis/exact/direct_stationary.cpp analysis/exact/transitions.cpp"
for source in $sources; do echo "#include \"$source\""; done >"$out/engine_all.cpp"

em++ -std=c++20 -O2 -DNDEBUG -DFMT_HEADER_ONLY -fwasm-exceptions -Wall -Wextra \
  -I. -I"$out/include" -include explorer/engine/wasm.hpp "$out/engine_all.cpp" \
  -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sFILESYSTEM=0 --no-entry -o "$out/engine.wasm"
python3 scripts/bundle_explorer.py "$out/engine.wasm" "$out/explorer.html"
