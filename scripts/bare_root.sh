#!/bin/sh
# Runs the README's two commands on a bare Debian 12: a root made by debootstrap (minbase) with git and certificates, which
# lacks every package that setup.sh forgets. It tests the commit that is checked out, not changes to it.
# usage: scripts/bare_root.sh [FOLDER]     as root, with debootstrap; FOLDER (default: a temporary one) takes 5 GB and
#                                          keeps root/, run.log and test.log. Exit 77: not possible here, with the reason.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can change the root folder"
command -v debootstrap >/dev/null || skip "debootstrap is missing (apt install debootstrap)"
unshare --mount true 2>/dev/null || skip "this container may not mount"
folder=$(realpath -m "${1:-$(mktemp -d)/bare}")
root=$folder/root
if [ -e "$root" ]; then
  [ -e "$root/root/both.sh" ] || { echo "bare_root.sh: $root exists and is not one of mine; name another folder" >&2; exit 2; }
  rm -rf "$root"
fi
mkdir -p "$folder"

# Packages come from the same place as this machine's, through the same proxy and certificates.
mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' | head -n 1)
debootstrap --variant=minbase --include=ca-certificates,git bookworm "$root" "${mirror:-http://deb.debian.org/debian}" \
  >"$folder/debootstrap.log" 2>&1 || { tail -n 3 "$folder/debootstrap.log" >&2; exit 2; }
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
cp -r /etc/ssl/certs "$root/etc/ssl/"
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list.d /etc/apt/keyrings "$root/etc/apt/" 2>/dev/null || true
for file in /etc/apt/sources.list /etc/pip.conf; do [ ! -e "$file" ] || cp "$file" "$root$file"; done
cp -r /usr/share/keyrings "$root/usr/share/"
git clone -q "$top" "$root/root/project"

# The mounts end with the namespace in any case.
cat >"$root/root/both.sh" <<'END'
cd /root/project
code=0
for command in run test; do
  started=$(date +%s)
  if scripts/$command.sh >/root/$command.log 2>&1 </dev/null; then result=0; else result=$?; code=1; fi
  echo "scripts/$command.sh: exit $result after $(($(date +%s) - started)) s"
done
exit $code
END
code=0
unshare --mount --propagation private sh -c '
  for mounted in proc dev sys; do mount --rbind "/$mounted" "$0/$mounted"; done
  exec chroot "$0" /usr/bin/env HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /root/both.sh' "$root" || code=$?
cp "$root/root/run.log" "$root/root/test.log" "$folder/" 2>/dev/null || true
grep -E 'tests passed|\((Failed|Skipped|Timeout|Not Run)\)|^Skipped' "$folder/test.log" || true
echo "logs: $folder/run.log $folder/test.log"
exit "$code"
