#!/bin/sh
# Reproduces every table and figure at a small size and checks the page in headless Chromium: all figures are drawn, Table 1 begins on the
# second screen at the latest (on a phone: the third), sections have the paper's order, and paper shows folded parts.
# usage: report_page.sh SPECLAB SOURCE_DIR
set -eu
speclab=$1 source=$2
[ -f "$source/data/austen.txt" ] || { echo "skipped: no data/austen.txt (scripts/setup.sh makes it)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"
code=0
"$speclab" reproduce --out "$folder" --set simulation.length=64 --set simulation.trials=16 --set search.max_gamma=4 --quiet ||
  code=$?
# At this size an interval may miss; only a page that cannot be made is a failure here.
[ "$code" -le 1 ] || { echo "reproduce ended with $code" >&2; exit 1; }
# Figures 2, 3 (two), 4 (two) and 5, one of the neural recordings, one of the printed numbers and twelve of the cases of tables; Figure 1 is
# coloured text.
figures=20
sh "$(dirname "$0")/screenshot.sh" "$folder/report.html" "$folder/page.png" "$figures"
grep -q 'class="accepted"' "$folder/report.html" || { echo "Figure 1 holds no accepted token" >&2; exit 1; }

# Where sections begin is measured in a frame of a desktop's and of a phone's width, because Chromium has no window below 500.
cp "$folder/report.html" "$folder/framed.html"
begins() {  # begins WIDTH: "id:pixels" for each section
  cat >"$folder/frame.html" <<FRAME
<body style="margin:0"><iframe src="framed.html" style="width:$1px;height:900px;border:0"></iframe><script>
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  document.body.dataset.sections = [...page.querySelectorAll("main > section")]
    .map(section => section.id + ":" + Math.round(section.getBoundingClientRect().top)).join(" ") + " .";
});
</script>
FRAME
  HOME=$folder timeout 120 "$(command -v chromium || command -v chromium-browser)" --headless --no-sandbox --disable-gpu \
    --disable-dev-shm-usage --allow-file-access-from-files --user-data-dir="$folder/profile" --window-size=1600,1000 \
    --dump-dom "file://$folder/frame.html" 2>/dev/null | sed -n 's/.*data-sections="\([^"]*\)".*/\1/p'
}
for bound in 1440:1200 390:2500; do
  width=${bound%:*} most=${bound#*:}
  found=$(begins "$width")
  table1=$(printf '%s\n' "$found" | tr ' ' '\n' | sed -n 's/^table1://p')
  [ -n "$table1" ] || { echo "at $width pixels there is no Table 1: $found" >&2; exit 1; }
  [ "$table1" -le "$most" ] || { echo "at $width pixels Table 1 begins at $table1, below $most" >&2; exit 1; }
  order=$(printf '%s\n' "$found" | tr ' ' '\n' | sed -n 's/:.*//p' | tr '\n' ' ')
  wanted="overview table1 figure1 figure2 figure3 figure4 figure5 table2-4 table3 table5 table5-factors claims figure-neural \
neural-table2-4 neural-table3 neural-table5 how-this-was-made "
  [ "$order" = "$wanted" ] || { echo "sections are in the order $order" >&2; exit 1; }
done

# On paper folded parts are open, with the script and without: a page with all parts open has the same length.
pages_of() {  # pages_of FILE: pages of its print
  HOME=$folder timeout 120 "$(command -v chromium || command -v chromium-browser)" --headless --no-sandbox --disable-gpu \
    --disable-dev-shm-usage --user-data-dir="$folder/profile" --print-to-pdf="$folder/page.pdf" "file://$1" 2>/dev/null
  grep -ac '/Type */Page$' "$folder/page.pdf"
}
sed 's/<details/<details open/g' "$folder/report.html" >"$folder/open.html"
open=$(pages_of "$folder/open.html")
[ "$(pages_of "$folder/report.html")" -eq "$open" ] || { echo "a printed page leaves out what is folded" >&2; exit 1; }
# The page's script is its last element.
sed '/^<script>/,$d' "$folder/report.html" >"$folder/still.html"
without=$(pages_of "$folder/still.html")
[ "$without" -eq "$open" ] || { echo "without a script $without of $open pages are printed" >&2; exit 1; }
