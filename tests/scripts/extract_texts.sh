#!/usr/bin/env bash
# Tests scripts/extract_texts.py on made-up packages: the extracted and the omitted texts, and equal bytes of two runs.
# usage: texts.sh SPECLAB_BINARY SOURCE_DIR
set -euo pipefail

extract=$2/scripts/extract_texts.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# same FILE: checks that the file equals standard input (with printf escapes).
same() {
  if ! diff <(printf "$(cat)") "$1"; then
    echo "FAILED $1"
    failures=$((failures + 1))
  fi
}

page() { # ROOT LANGUAGE NAME BODY
  local folder=$1/usr/share/libreoffice/help/$2/text/a
  mkdir -p "$folder"
  printf '<html><head><title>T</title></head><body><p id="nav">Menu</p><div id="DisplayArea">%s
<div id="DEBUG"><p>debug</p></div></div></body></html>' "$4" >"$folder/$3"
}
page en en-US b.html '<h1 id="h">Save &amp; go</h1><p id="p1">Press <span class="MAC">Cmd</span><span>Ctrl</span>,
  then<br>wait.</p><p>No id.</p><p id="p2">LibreOffice</p><p id="p3">Only English.</p><p id="p4"></p>'
page de de b.html '<h1 id="h">Sichern &amp; los</h1><p id="p1">Strg, dann warten.</p><p id="p2">LibreOffice</p><p id="p4">Leer</p>'
page en en-US a.html '<h1 id="h">Save &amp; go</h1><p id="x">First.</p>'
page de de a.html '<h1 id="h">Sichern &amp; los</h1><p id="x">Erstens.</p>'
page en en-US untranslated.html '<p id="u">Alone.</p>'
for run in 1 2; do
  python3 "$extract" help en de en.txt de.txt docs.txt >log
  same en.txt <<<'Save & go\nFirst.\nPress Ctrl, then wait.\n'
  same de.txt <<<'Sichern & los\nErstens.\nStrg, dann warten.\n'
  same docs.txt <<<'Save & go\nFirst.\n\f\nSave & go\nPress Ctrl, then wait.\nNo id.\nLibreOffice\nOnly English.\n\f\nAlone.\n'
done

mkdir -p include/deep/preprocessed
for i in $(seq 10 42); do printf 'header %s\f' "$i" >include/deep/$i.hpp; done
echo no | tee include/deep/05.h >include/deep/preprocessed/05.hpp
python3 "$extract" headers include headers.txt >log
same headers.txt <<<'header 10 \n\f\nheader 20 \n\f\nheader 30 \n\f\nheader 40 \n'

mkdir lists
for name in a a-twin b c d e; do
  short=${name%-twin}
  printf 'Package: %s\nDescription-md5: 0\nDescription-en: short %s\n Long %s,\n more.\n .\n End.\n\n' "$name" "$short" "$short"
done >lists/deb_debian_dists_x_main_i18n_Translation-en
python3 "$extract" descriptions lists descriptions.txt >log
same descriptions.txt <<<'Long a,\nmore.\n\nEnd.\n%%%%%%%%\nshort a\n\f\nLong e,\nmore.\n\nEnd.\n%%%%%%%%\nshort e\n'

# Without input: a message, a non-zero exit, no file.
for arguments in "help de en x y z" "headers none out" "descriptions none out" "nothing"; do
  if python3 "$extract" $arguments >log 2>err || [[ ! -s err || -e out || -e x ]]; then
    echo "FAILED: extract_texts.py $arguments"
    failures=$((failures + 1))
  fi
done
[[ $failures -eq 0 ]]
