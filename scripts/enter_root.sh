#!/bin/sh
# Runs a command in a root that scripts/make_root.sh made. The mounts end with the command.
# usage: scripts/enter_root.sh ROOT COMMAND...
set -eu
root=$1
shift
exec unshare --mount --propagation private sh -c '
  root=$1
  shift
  for mounted in proc dev sys; do mount --rbind "/$mounted" "$root/$mounted"; done
  exec chroot "$root" /usr/bin/env HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$@"
