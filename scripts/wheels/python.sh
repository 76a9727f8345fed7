#!/bin/sh
# Makes the Python that compiles the wheel for 3.12 and later, where none is here, as on Debian 12: Debian 13's source of Python 3.13, from the
# mirror of this machine's packages. apt checks its signature and checksum. A Python that is there already is kept.
# usage: scripts/wheels/python.sh FOLDER     writes FOLDER/bin/python3.13; FOLDER.log is the log
# Exit codes: 0; 1 it could not be compiled; 2 something is missing.
set -eu
scripts=$(cd "$(dirname "$0")/.." && pwd)
suite=trixie source=python3.13
keys=/usr/share/keyrings/debian-archive-keyring.gpg
fail() { echo "python.sh: $1" >&2; exit "${2:-2}"; }
[ $# -eq 1 ] || fail "FOLDER"
folder=$(realpath -m "$1")
works() { "$folder/bin/$source" -c 'import ctypes, ensurepip, ssl, venv, zlib'; }
if works 2>/dev/null; then exit 0; fi

out="or put Python 3.12 or later, with venv and headers, into PATH"
command -v apt-get >/dev/null || fail "apt-get is missing, since this is not Debian: $out"
missing=
for package in debian-archive-keyring g++ make xz-utils libssl-dev zlib1g-dev libffi-dev; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] || fail "packages are missing: as root, run apt-get install$missing; $out"

# Apt reads this one source, with lists and caches of its own, so that those of the system do not change.
work=$folder.work
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source"
: >"$folder.log"
mirror=$("$scripts/make_root.sh" --mirror)
echo "deb-src [signed-by=$keys] $mirror $suite main" >"$work/sources.list"
apt() {
  apt-get -q -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Dir::Etc::sourcelist="$work/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null "$@" >>"$folder.log" 2>&1
}
cd "$work/source"
{ apt update --error-on=any && apt source --download-only $source; } || {
  tail -n 5 "$folder.log" >&2
  fail "the source package $source of $suite cannot be had from $mirror: try again, $out"
}
archive=$(echo ${source}_*.orig.tar.xz)
echo "python.sh: compiles $archive, SHA-256 $(sha256sum <"$archive" | cut -d' ' -f1)" >&2
tar -xf "$archive" --strip-components=1
{
  # It only runs pip and the build: compiling it matters more than its speed.
  ./configure --prefix="$folder" --without-static-libpython --disable-test-modules --with-ensurepip=no OPT="-O1 -DNDEBUG" &&
    make -j "$(nproc)" && make altinstall DESTDIR="$work/installed"
} >>"$folder.log" 2>&1 || { tail -n 5 "$folder.log" >&2; fail "Python cannot be compiled: the whole log is $folder.log; $out" 1; }
rm -rf "$folder"
mv "$work/installed$folder" "$folder"
works 2>>"$folder.log" || { tail -n 5 "$folder.log" >&2; fail "$folder/bin/$source lacks a module: the whole log is $folder.log" 1; }
rm -rf "$work"
