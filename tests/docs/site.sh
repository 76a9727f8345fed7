#!/bin/sh
# Builds the site and checks its links.
# usage: site.sh SPECLAB_BINARY SOURCE_DIR
set -eu
cd "$2"
SPECLAB=$1 scripts/site.sh
python3 -B tests/docs/site_links.py build/site
