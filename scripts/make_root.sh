#!/bin/sh
# Makes a bare Debian by debootstrap (minbase), whose packages come from the same place as this machine's, through the same proxy
# and certificates.
# usage: scripts/make_root.sh FOLDER [SUITE [PACKAGE,...]]     as root, with debootstrap; SUITE: bookworm (default), trixie.
#                                                              scripts/enter_root.sh runs commands in it; FOLDER.log is the log.
#                                                              Exit 77: not possible here, with the reason.
#        scripts/make_root.sh --mirror                         prints the address of that place
set -eu
sources="/etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list"
# shellcheck disable=SC2086
mirror=$(cat $sources 2>/dev/null |
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' | head -n 1)
mirror=${mirror:-http://deb.debian.org/debian}
[ "${1:-}" != --mirror ] || { echo "$mirror"; exit 0; }
skip() { echo "skipped: $1" >&2; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can change the root folder"
command -v debootstrap >/dev/null || skip "debootstrap is missing (apt install debootstrap)"
unshare --mount true 2>/dev/null || skip "this container may not mount"
root=$(realpath -m "$1") suite=${2:-bookworm} packages=${3:-ca-certificates}
mkdir -p "$(dirname "$root")"
debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
  { tail -n 3 "$root.log" >&2; exit 2; }
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
cp -r /etc/ssl/certs "$root/etc/ssl/"
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
cp -r /usr/share/keyrings "$root/usr/share/"
# Another suite keeps the sources that debootstrap wrote.
. /etc/os-release
if [ "$suite" = "${VERSION_CODENAME:-}" ]; then
  rm -f "$root/etc/apt/sources.list"
  cp -r /etc/apt/sources.list.d /etc/apt/keyrings "$root/etc/apt/" 2>/dev/null || true
  [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$root/etc/apt/"
fi
