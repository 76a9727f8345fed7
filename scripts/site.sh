#!/bin/sh
# Builds the documentation as a site of static pages in build/site, which load nothing from other hosts.
# usage: scripts/site.sh [--serve [PORT]]     --serve shows it at http://127.0.0.1:8000/ until Ctrl-C
# Needs Python 3.11 with venv and the program (SPECLAB, or build/release/bin/speclab). The Python package (scripts/test.sh builds it) adds
# its reference and the outputs of the notebooks; the explorer (scripts/build_explorer.sh) is shown if it was built.
set -eu
cd "$(dirname "$0")/.."
port=
case "${1:-}" in
  "") ;;
  --serve) port=${2:-8000} ;;
  *) echo "site.sh: \"$1\" is not --serve" >&2; exit 2 ;;
esac
program=$(realpath -m "${SPECLAB:-build/release/bin/speclab}")
[ -x "$program" ] || { echo "site.sh: $program is missing; scripts/run.sh builds it, or set SPECLAB to the program" >&2; exit 2; }

environment=build/site-environment
if ! cmp -s scripts/site/requirements.txt "$environment/installed"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install -q --disable-pip-version-check -r scripts/site/requirements.txt
  cp scripts/site/requirements.txt "$environment/installed"
fi

export PYTHONPATH="$PWD/build/release/python" PYTHONDONTWRITEBYTECODE=1 SITE_PACKAGE=yes
"$environment/bin/python" -c "import speclab" 2>/dev/null || {
  SITE_PACKAGE=no
  echo "Left out: the functions of Python and the outputs of notebooks, because the package cannot be imported; scripts/test.sh builds it"
}
[ -f build/explorer/explorer.html ] || echo "Left out: the explorer, which scripts/build_explorer.sh builds"
"$environment/bin/python" scripts/site/stage.py build/site-pages "$program"
rm -rf build/site
"$environment/bin/python" -m sphinx -q -W --keep-going -j auto -c scripts/site -d build/site-state build/site-pages build/site
echo "Open build/site/index.html in a browser."
[ -z "$port" ] || exec python3 -m http.server --bind 127.0.0.1 --directory build/site "$port"
