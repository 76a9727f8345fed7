#!/bin/sh
# Makes the source archive and the Debian packages, and checks them. The packages are built from the archive in a bare Debian 12 that has only the
# packages of scripts/setup.sh, without a network; in_root/packages.sh installs and uses them in another one.
# usage: scripts/release/packages.sh FOLDER                as root, with debootstrap: make, then check
#        scripts/release/packages.sh make FOLDER           FOLDER receives speclab-VERSION.tar.gz and the packages of the commit that is checked out
#        scripts/release/packages.sh check FOLDER ROOTS    prints a line "what|where|seconds|megabytes" for each step
# The root of the build and its log are in build/packages (3 GB). Making takes as long as a build, checking five minutes.
# Exit codes: 0; 1 something failed, and the log is named; 2 wrong arguments; 77 not possible here, with the reason.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$top/build/packages
version=$(sed -n 's/^project(speclab VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
# All files have the time of the commit, so that two calls give the same bytes.
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
export SOURCE_DATE_EPOCH DEBIAN_FRONTEND=noninteractive

build() {
  tar -C "$root/root" -xzf "$folder/speclab-$version.tar.gz"
  mv "$root/root/speclab-$version" "$root/root/speclab"
  "$top/scripts/enter_root.sh" "$root" sh -euc '
    cd /root/speclab
    scripts/setup.sh run
    apt-get install -y -qq --no-install-recommends dpkg-dev file lintian' >/dev/null
  # Reports link to the explorer if it was built; the root has no emscripten.
  if [ -e "$top/build/explorer/explorer.html" ]; then
    mkdir -p "$root/root/speclab/build/explorer"
    cp "$top/build/explorer/explorer.html" "$root/root/speclab/build/explorer/"
  fi
  unshare --net "$top/scripts/enter_root.sh" "$root" sh -euc '
    cd /root/speclab
    cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr -DSPECLAB_TESTS=OFF -DSPECLAB_CUDA=OFF
    cmake --build --preset release
    cd build/release
    for again in 1 2; do cpack -G DEB -B packages$again; done
    for package in packages1/*.deb; do cmp "$package" "packages2/${package#*/}"; done
    lintian --allow-root --fail-on error packages1/*.deb
    bin/speclab reproduce --only table1 --out /root/table1'
  rm -f "$folder"/*.deb
  cp "$root/root/speclab/build/release/packages1"/*.deb "$folder/"
  cp "$root/root/table1/table1/result.json" "$work/table1.json"
}

make() {
  folder=$(realpath -m "$1") root=$work/root
  mkdir -p "$folder" "$work"
  git -C "$top" archive --prefix="speclab-$version/" HEAD | gzip -9n >"$folder/speclab-$version.tar.gz"
  rm -rf "$root"
  "$top/scripts/make_root.sh" "$root" bookworm ca-certificates
  # In the background, because a condition would switch off "set -e".
  build >"$work/build.log" 2>&1 &
  wait $! || {
    tail -n 20 "$work/build.log" >&2
    echo "packages.sh: no packages were made; the log is $work/build.log" >&2
    exit 1
  }
}

check() {
  root=$2/packages
  rm -rf "$root"
  mkdir -p "$2"
  "$top/scripts/make_root.sh" "$root" bookworm ca-certificates
  mkdir "$root/root/packages"
  cp "$1"/*.deb "$root/root/packages/"
  cp -r "$top/tests/install/consumer" "$root/root/"
  # The rule of the page that explains how to write one.
  sed -n '/^struct TimidRule/,/^};/p' "$top/docs/extending.md" >"$root/root/consumer/timid_rule.inc"
  cp "$top/scripts/release/Dockerfile" "$top/scripts/release/in_root/packages.sh" "$root/root/"
  [ ! -e "$work/table1.json" ] || cp "$work/table1.json" "$root/root/expected.json"
  "$top/scripts/enter_root.sh" "$root" sh /root/packages.sh
}

case "${1:-} $#" in
  "make 2") make "$2" ;;
  "check 3") check "$2" "$3" ;;
  "make "* | "check "* | *" 0" | *" 2" | *" 3" | -*) echo "packages.sh: FOLDER, make FOLDER, or check FOLDER ROOTS is needed" >&2; exit 2 ;;
  *) make "$1"; check "$1" "$work/roots" ;;
esac
