#!/bin/sh
# Makes what a release consists of, for the commit that is checked out, and tries it where nothing else is installed.
# usage: scripts/release.sh FOLDER [--twice] [--check] [ARTEFACT...]
#   ARTEFACT   wheel, ...: a script of scripts/release; default: all of them
#   --twice    makes each again from a clone in another folder, and compares the bytes
#   --check    tries each in bare Debian 12 and 13, which lack a compiler; as root, with debootstrap
# Writes the files and SHA256SUMS to FOLDER; with --check also checks.txt, the table of seconds and megabytes that it prints.
# Each script has `make FOLDER`, and `check FOLDER ROOTS`, which prints lines "what|where|seconds|megabytes". Files have the time of the commit.
# Exit codes: 0; 1 something could not be made, differs, or failed its check; 2 wrong arguments; 77 no root could be made (scripts/make_root.sh).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
known=$(cd "$top/scripts/release" && ls -- *.sh | sed 's/\.sh$//')
fail() { echo "release.sh: $1" >&2; exit "${2:-2}"; }
[ $# -ge 1 ] || fail "a folder is needed"
case $1 in -*) fail "$1 is not a folder: the first argument is the folder for the files" ;; esac
folder=$(realpath -m "$1")
shift
twice='' check='' artefacts=''
for word in "$@"; do
  case $word in
    --twice) twice=yes ;;
    --check) check=yes ;;
    *)
      echo "$known" | grep -qx -- "$word" || fail "\"$word\" is not one of: $(echo $known), --twice, --check"
      artefacts="$artefacts $word" ;;
  esac
done
artefacts=${artefacts:-$known}
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for artefact in $artefacts; do
  "$top/scripts/release/$artefact.sh" make "$folder" || fail "$artefact was not made" 1
done
if [ -n "$twice" ]; then
  git clone -q "$top" "$scratch/clone"
  cp -r "$top/data" "$scratch/clone/" 2>/dev/null || true
  mkdir "$scratch/again"
  PATH=$PATH:$top/build/wheel-tools/python3.13/bin  # a Python that was made the first time is used again
  for artefact in $artefacts; do
    "$scratch/clone/scripts/release/$artefact.sh" make "$scratch/again" || fail "$artefact was not made a second time" 1
  done
  for file in "$scratch/again"/*; do
    cmp "$file" "$folder/$(basename "$file")" || fail "$(basename "$file") differs when it is made again" 1
    echo "$(basename "$file"): the same bytes twice"
  done
fi
(cd "$folder" && find . -maxdepth 1 -type f ! -name SHA256SUMS ! -name checks.txt -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
if [ -n "$check" ]; then
  code=0
  : >"$scratch/checks"
  for artefact in $artefacts; do
    "$top/scripts/release/$artefact.sh" check "$folder" "$scratch/roots" >>"$scratch/checks" || code=$?
  done
  { echo "what|where|seconds|megabytes"; cat "$scratch/checks"; } | column -t -s '|' | tee "$folder/checks.txt"
  [ $code -ne 77 ] || exit 77
  [ $code -eq 0 ] || fail "a check failed: see above" 1
fi
cat "$folder/SHA256SUMS"
