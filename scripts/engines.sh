#!/bin/sh
# Makes the environments of serving engines for speclab.audit, in build/engines/NAME, from pinned versions on PyPI.
# usage: scripts/engines.sh [NAME...]     Without a name: lists the engines, with size and time.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || exec python3 -P -B python/speclab/engines/_alone.py list
for name; do
  python3 -P -B python/speclab/engines/_alone.py install "$name" "build/engines/$name"
done
