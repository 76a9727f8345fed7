#!/bin/sh
# Builds the site, checks its links, and opens its pages in a browser.
# usage: site.sh SPECLAB_BINARY SOURCE_DIR
set -eu
cd "$2"
SPECLAB=$1 scripts/site.sh
python3 -B tests/docs/site_links.py build/site
python=$(tests/docs/environment.sh)
exec "$python" -B tests/docs/site_browser.py build/site
