#!/bin/sh
# Installs a build under a temporary prefix, builds another project against it, and runs the installed program
# from another folder.
#   run.sh BUILD_DIR SOURCE_DIR CXX
set -eu
build=$1 source=$2 cxx=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() { echo "install/consumer: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$prefix" > "$scratch/install.log" || { cat "$scratch/install.log"; fail "install"; }
# Other projects may need neither the source folder nor the build folder.
if grep -rlF -e "$source" -e "$build" "$prefix/lib"*/cmake "$prefix/lib"*/*/cmake 2>/dev/null; then
  fail "an installed CMake file names the source or build folder"
fi

cp -r "$source/tests/install/consumer" "$scratch/consumer"
# The rule of the page that explains how to write one.
sed -n '/^struct TimidRule/,/^};/p' "$source/docs/extending.md" > "$scratch/consumer/timid_rule.inc"
cmake -G Ninja -S "$scratch/consumer" -B "$scratch/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug > "$scratch/consumer.log" 2>&1 &&
  cmake --build "$scratch/consumer/build" >> "$scratch/consumer.log" 2>&1 ||
  { cat "$scratch/consumer.log"; fail "the consumer does not build"; }
"$scratch/consumer/build/consumer" > "$scratch/consumer.out"
cat "$scratch/consumer.out"
grep -qx "formula 3.6893" "$scratch/consumer.out" || fail "another value of Eq. 1"
# 64000 rounds: one standard deviation of the mean is .008, and the seed is fixed.
grep -q "^simulated 3\.[67]" "$scratch/consumer.out" || fail "the simulation is far from Eq. 1"
# 1 / 3.6893.
grep -qx "steps a token 0.2711" "$scratch/consumer.out" || fail "another number of steps"
"$scratch/consumer/build/c_consumer" > "$scratch/c_consumer.out" || { cat "$scratch/c_consumer.out"; fail "the C consumer"; }
grep -qx "kernels [0-9]*, workspace known" "$scratch/c_consumer.out" || fail "another answer of the C library"
"$scratch/consumer/build/rule" > "$scratch/rule.out"
grep -qx "distance 0, of the faulty copy 1/10" "$scratch/rule.out" || { cat "$scratch/rule.out"; fail "another proof"; }

# The C example of docs/gpu.md, by pkg-config.
pc=$(find "$prefix" -name speclab-kernels.pc)
if command -v pkg-config > /dev/null; then
  flags=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs speclab-kernels)
  # shellcheck disable=SC2086
  cc -Wall -Wextra -Werror -o "$scratch/verify" "$source/tests/install/consumer/verify.c" $flags || fail "the C example"
  [ "$(LD_LIBRARY_PATH=${pc%/pkgconfig/*} "$scratch/verify")" = "accepted 1, next 1" ] || fail "another decision of the C example"
else
  echo "skipped: the C example, since pkg-config is missing"
fi

mkdir "$scratch/elsewhere"
cd "$scratch/elsewhere"
"$prefix/bin/speclab" version
"$prefix/bin/speclab" reproduce --only claims --out "$scratch/out" > "$scratch/reproduce.log" 2>&1 ||
  { cat "$scratch/reproduce.log"; fail "the installed program cannot reproduce the claims"; }
test -s "$scratch/out/report.html" || fail "no report"
test -s "$scratch/out/claims/result.json" || fail "no result"
for file in python/speclab/_plots/__main__.py python/speclab/_paper/report.typ results/engines/audit.json kernels/results/nvidia-h200.csv; do
  test -s "$prefix/share/speclab/$file" || fail "$file is not installed"
done
test -z "$(ls -A .)" || fail "files were left in the working folder"
echo "install/consumer: ok"
