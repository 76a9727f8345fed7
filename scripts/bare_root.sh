#!/bin/sh
# Runs the README's two commands on a bare Debian 12: a root made by debootstrap (minbase) with git and certificates, which
# lacks every package that setup.sh forgets. It tests the commit that is checked out, not changes to it.
# usage: scripts/bare_root.sh [FOLDER]     as root, with debootstrap; FOLDER (default: a temporary one) takes 5 GB and
#                                          keeps root/, run.log and test.log. Exit 77: not possible here, with the reason.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$(mktemp -d)/bare}")
root=$folder/root
if [ -e "$root" ]; then
  [ -e "$root/root/both.sh" ] || { echo "bare_root.sh: $root exists and is not one of mine; name another folder" >&2; exit 2; }
  rm -rf "$root"
fi
mkdir -p "$folder"

"$top/scripts/make_root.sh" "$root" bookworm ca-certificates,git
git clone -q "$top" "$root/root/project"

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
"$top/scripts/enter_root.sh" "$root" sh /root/both.sh || code=$?
cp "$root/root/run.log" "$root/root/test.log" "$folder/" 2>/dev/null || true
grep -E 'tests passed|\((Failed|Skipped|Timeout|Not Run)\)|^Skipped' "$folder/test.log" || true
echo "logs: $folder/run.log $folder/test.log"
exit "$code"
