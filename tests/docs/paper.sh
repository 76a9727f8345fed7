#!/bin/sh
# Typesets the report of `speclab paper`, and traces its numbers.
# usage: paper.sh SPECLAB_BINARY SOURCE_DIR
set -eu
cd "$2"
python=$(tests/docs/environment.sh)
exec "$python" -B tests/docs/paper.py "$1"
