#!/bin/sh
# Makes the source archive and the Debian packages, and checks them. The packages are built from the archive in a bare root that has only the
# packages of scripts/setup.sh, without a network. check_packages.sh then installs and uses them in another bare root.
# usage: scripts/release/packages.sh FOLDER [SUITE...]   as root, with debootstrap. SUITE: bookworm (default), trixie. FOLDER receives
#                            speclab-VERSION.tar.gz and SUITE/*.deb. Roots and logs are in build/packages (3 GB a suite). Takes as long as a
#                            build, and five minutes. It takes the commit that is checked out, not changes to it.
# Exit codes: 0; 1 something failed, and the log is named; 2 wrong arguments; 77 not possible here, with the reason.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { echo "packages.sh: a folder for the packages is needed" >&2; exit 2; }
folder=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- bookworm
for suite in "$@"; do
  case $suite in bookworm | trixie) ;; *) echo "packages.sh: \"$suite\" is not bookworm or trixie" >&2; exit 2 ;; esac
done
work=$top/build/packages
version=$(sed -n 's/^project(speclab VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
# All files have the time of the commit, so that two calls give the same bytes.
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p "$folder" "$work"
git -C "$top" archive --prefix="speclab-$version/" HEAD | gzip -9n >"$folder/speclab-$version.tar.gz"

# Builds the packages of a suite in its root.
build() {
  root=$work/$1-build
  rm -rf "$root"
  "$top/scripts/make_root.sh" "$root" "$1" ca-certificates
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
    for again in 1 2; do
      rm -rf packages$again _CPack_Packages
      cpack -G DEB -B packages$again
    done
    for package in packages1/*.deb; do cmp "$package" "packages2/${package#*/}"; done
    lintian --allow-root --fail-on error packages1/*.deb
    bin/speclab reproduce --only table1 --out /root/table1'
  mkdir -p "$folder/$1"
  rm -f "$folder/$1"/*.deb
  cp "$root/root/speclab/build/release/packages1"/*.deb "$folder/$1/"
  cp "$root/root/table1/table1/result.json" "$work/$1-table1.json"
}

code=0
for suite in "$@"; do
  start=$(date +%s)
  # In the background, because a condition would switch off "set -e".
  build "$suite" >"$work/$suite-build.txt" 2>&1 &
  if wait $!; then
    echo "$suite: built and packed in $(($(date +%s) - start)) s, of which lintian says: $(grep -c '^W: ' "$work/$suite-build.txt") warnings, no errors"
    "$top/scripts/release/check_packages.sh" "$folder/$suite" "$suite" "$work/$suite-table1.json" || code=1
  else
    tail -n 20 "$work/$suite-build.txt" >&2
    echo "packages.sh: no packages for $suite; the log is $work/$suite-build.txt" >&2
    code=1
  fi
done
exit $code
