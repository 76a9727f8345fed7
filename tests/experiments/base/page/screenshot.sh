#!/bin/sh
# Opens a page in headless Chromium, offline, and checks it: the expected number of figures, each drawn and of a visible size, nothing wider
# than the window, and a picture of the whole page that is not blank.
# usage: screenshot.sh PAGE.html OUT.png EXPECTED_FIGURES
set -eu
[ $# -eq 3 ] || { echo "usage: $0 PAGE.html OUT.png EXPECTED_FIGURES" >&2; exit 2; }
page=$1 picture=$2 expected=$3
width=1200

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
  echo "skipped: no chromium (Debian package chromium)"
  exit 77
fi
fail() { echo "$page: $1" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chromium_at() {  # chromium_at WIDTH HEIGHT OPTION...: the copy of the page, with no way to a network
  size=$1,$2
  shift 2
  HOME=$folder timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --hide-scrollbars --no-first-run --user-data-dir="$folder/profile" --host-resolver-rules="MAP * ~NOTFOUND" \
    --window-size="$size" "$@" "file://$folder/page.html" 2>"$folder/log" || { cat "$folder/log" >&2; return 1; }
}

cp "$page" "$folder/page.html"
cat >>"$folder/page.html" <<'SCRIPT'
<script>
addEventListener("load", () => {
  const drawn = svg => {
    const box = svg.getBoundingClientRect();
    return box.width > 200 && box.height > 40 && svg.querySelectorAll("path, circle, rect").length > 5;
  };
  const all = [...document.querySelectorAll(".plot > svg")], root = document.documentElement;
  root.dataset.measured = `figures ${all.length} blank ${all.filter(svg => !drawn(svg)).length} ` +
    `width ${root.scrollWidth} height ${root.scrollHeight} end`;
});
</script>
SCRIPT
measure() {  # measure WIDTH: sets figures, blank, wide and high
  chromium_at "$1" 1000 --dump-dom >"$folder/dom.html" || fail "chromium failed"
  measured=$(sed -n 's/.*data-measured="\(figures [^"]* end\)".*/\1/p' "$folder/dom.html" | head -n 1)
  [ -n "$measured" ] || fail "the page did not finish loading"
  # shellcheck disable=SC2086  # words of the line above
  set -- $measured
  figures=$2 blank=$4 wide=$6 high=$8
}

# Headless Chromium has no window narrower than 500.
measure 500
[ "$wide" -le 500 ] || fail "on a narrow screen the page is $wide pixels wide"
measure $width
[ "$figures" -eq "$expected" ] || fail "$figures figures, expected $expected"
[ "$blank" -eq 0 ] || fail "$blank of $figures figures are blank"
[ "$wide" -le $width ] || fail "the page is $wide pixels wide in a window of $width"

# A taller picture would exceed a texture; the part that a reader sees first is within.
[ "$high" -le 16000 ] || high=16000
rm -f "$picture"
chromium_at $width "$high" --screenshot="$folder/picture.png" >/dev/null || fail "chromium failed"
[ -s "$folder/picture.png" ] || fail "no picture"
bytes=$(wc -c <"$folder/picture.png")
# Text and curves compress badly; a blank page of this size takes a few kB.
[ "$bytes" -gt $((20000 + 5000 * expected)) ] || fail "the picture is nearly blank ($bytes bytes)"
mkdir -p "$(dirname "$picture")"
mv "$folder/picture.png" "$picture"
echo "$page: $figures figures, $wide x $high, $bytes bytes of picture"
