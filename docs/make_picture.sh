#!/bin/sh
# Makes docs/page.png, the README's picture of the page that `speclab reproduce` writes, from out/report.html: its headline and
# its Figure 3 side by side. Needs Debian's chromium.
# usage: docs/make_picture.sh [REPORT.html]
set -eu
cd "$(dirname "$0")/.."
report=$(realpath "${1:-out/report.html}")
page=$(mktemp --suffix=.html)
trap 'rm -f "$page"' EXIT
frame="flex:1;height:720px;border:1px solid #d0d7de"
cat >"$page" <<END
<body style="margin:8px;display:flex;gap:8px;background:white">
<iframe src="file://$report" style="$frame" scrolling="no"></iframe>
<iframe src="file://$report#figure3" style="$frame" scrolling="no"></iframe>
</body>
END
chromium --headless --no-sandbox --hide-scrollbars --window-size=1400,736 --virtual-time-budget=5000 \
  --screenshot="$PWD/docs/page.png" "file://$page" >/dev/null 2>&1
size=$(stat -c %s docs/page.png)
echo "docs/page.png: $size bytes"
[ "$size" -lt 200000 ] || { echo "make_picture.sh: more than 200,000 bytes" >&2; exit 1; }
