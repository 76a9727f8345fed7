#!/bin/sh
# Installs what is missing with apt and makes the default corpus, data/austen.txt.
# usage: scripts/setup.sh [run|test]     "test" adds what the tests and the formatter need
set -eu
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build libboost-dev libboost-program-options-dev nlohmann-json3-dev libfmt-dev
  librandom123-dev libtbb-dev libhwy-dev libbenchmark-dev libeigen3-dev libsentencepiece-dev
  gnuplot-nox fonts-dejavu-core python3 ca-certificates"
if [ "${1:-run}" = test ]; then
  packages="$packages doctest-dev python3-numpy chromium clang-format"
fi

missing=
for package in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  command="apt-get update && apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" -ne 0 ]; then
    echo "These packages are missing. As root, run:" >&2
    echo "  $command" >&2
    exit 1
  fi
  echo "Installing:$missing"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# Six novels of Jane Austen, from a Debian package of R data; R itself is not needed. Without them everything else works,
# and the experiments that need them say so.
fetch_corpus() {
  root=$PWD
  cd "$1"
  apt-get download -qq r-cran-janeaustenr 2>/dev/null || {
    [ "$(id -u)" -eq 0 ] && apt-get update -qq && apt-get download -qq r-cran-janeaustenr
  } || return 1
  dpkg-deb -x r-cran-janeaustenr_*.deb package
  mkdir -p "$root/data"
  python3 "$root/scripts/extract_austen.py" package/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb \
    "$root/data/austen.txt"
}
if [ ! -s data/austen.txt ]; then
  echo "Extracting data/austen.txt from the package r-cran-janeaustenr"
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  (fetch_corpus "$folder") || {
    echo "data/austen.txt could not be made: the package r-cran-janeaustenr cannot be downloaded." >&2
    echo "Run apt-get update as root and try again; until then its experiments will not run." >&2
  }
fi
