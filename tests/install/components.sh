#!/bin/sh
# Installs each component of a build, as the Debian packages have them, under a temporary folder. Every file belongs to exactly one
# package, and each package has what its description promises.
#   components.sh BUILD_DIR
set -eu
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "install/components: $*" >&2; exit 1; }

for component in program kernels dev doc; do
  DESTDIR=$scratch/$component cmake --install "$build" --prefix /usr --component $component > "$scratch/log" || { cat "$scratch/log"; fail "$component"; }
  (cd "$scratch/$component/usr" && find . ! -type d | sort) > "$scratch/$component.txt"
done
# has COMPONENT PATTERN...
has() {
  component=$1
  shift
  for pattern in "$@"; do
    grep -Eqx "$pattern" "$scratch/$component.txt" || fail "$component has no file like $pattern"
  done
}
has program ./bin/speclab './share/man/man1/speclab\.1\.gz' ./share/bash-completion/completions/speclab './share/speclab/configs/first\.json' \
  './share/speclab/python/.*\.py' ./share/doc/speclab/copyright './share/doc/speclab/changelog\.Debian\.gz'
has kernels './lib.*/libspeclab_kernels\.so\.1' ./share/doc/libspeclab-kernels1/copyright
has dev './lib.*/libspeclab_kernels\.so' './lib.*/libspeclab_sim\.a' './lib.*/cmake/speclab/speclabConfig\.cmake' \
  './lib.*/pkgconfig/speclab-kernels\.pc' ./include/speclab_kernels.h './include/speclab/core/rules/token\.hpp' './include/speclab/serving/.*\.hpp'
has doc './share/doc/speclab-doc/docs/tutorial\.md' './share/doc/speclab-doc/docs/round\.svg' './share/doc/speclab-doc/README\.md'
# Libraries are in no other package: one for programs, one for who compiles.
[ "$(grep -c '\.so' "$scratch/kernels.txt")" = 1 ] || fail "the package of the library has other libraries"
twice=$(cat "$scratch"/*.txt | sort | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"
# The link for compilers leads to the library of the other package.
[ "$(readlink "$scratch"/dev/usr/lib*/libspeclab_kernels.so "$scratch"/dev/usr/lib*/*/libspeclab_kernels.so 2>/dev/null)" = libspeclab_kernels.so.1 ] ||
  fail "libspeclab_kernels.so leads elsewhere"
gzip -dc "$scratch/program/usr/share/man/man1/speclab.1.gz" > "$scratch/page"
for verb in $("$build/bin/speclab" help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p' | tr a-z A-Z); do
  grep -qx "\.SH $verb" "$scratch/page" || fail "the manual page has no $verb"
done
# A whole installation has the files of all packages and no others, but those of the Python package.
DESTDIR=$scratch/all cmake --install "$build" --prefix /usr > "$scratch/log"
(cd "$scratch/all/usr" && find . ! -type d ! -path './speclab/*' | sort) > "$scratch/whole"
cat "$scratch"/*.txt | sort | cmp - "$scratch/whole" || fail "a file is in no package"
echo "install/components: $(wc -l < "$scratch/whole") files, each in one package"
