#!/bin/sh
# Reproduces every table and figure at a small size and looks at the page in headless Chromium.
# usage: report_page.sh SPECLAB SOURCE_DIR
set -eu
speclab=$1 source=$2
[ -f "$source/data/austen.txt" ] || { echo "skipped: no data/austen.txt (scripts/setup.sh makes it)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"
code=0
"$speclab" reproduce --out "$folder" --set plan.length=64 --set plan.trials=16 --set search.max_gamma=4 --quiet ||
  code=$?
# At this size an interval may miss; only a page that could not be made is a failure here.
[ "$code" -le 1 ] || { echo "reproduce ended with $code" >&2; exit 1; }
# Figures 2, 3 (two), 4 (two) and 5, one of the neural recordings, one of the printed numbers and twelve of the cases
# of tables; Figure 1 is coloured text.
figures=20
sh "$(dirname "$0")/screenshot.sh" "$folder/report.html" "$folder/page.png" "$figures"
grep -q 'class="accepted"' "$folder/report.html" || { echo "Figure 1 holds no accepted token" >&2; exit 1; }
