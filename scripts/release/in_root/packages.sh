#!/bin/sh
# Installs packages in a bare Debian, uses and removes them: a first answer, a table of the paper, a proof and a table from the text with the
# program; other projects with the libraries. Prints a line "what|where|seconds|megabytes" for each step; megabytes are those by which an
# installation grows the root. scripts/release/packages.sh runs it in /root, beside packages/, consumer/, the Dockerfile and
# expected.json, a result.json of `reproduce --only table1` that the installed program must give.
# Exit codes: 0; 1 a step failed, and what it printed.
set -eu
step() {
  before=$(used) start=$(date +%s.%N)
  sh -euc "$2" >/root/log 2>&1 </dev/null || { cat /root/log >&2; echo "failed: $1" >&2; exit 1; }
  echo "$start $(date +%s.%N) $before $(used)" | awk -v what="$1" -v where="$where" '{
    mb = ($4 - $3) * 1024 / 1e6
    grown = (mb * mb > 0.01) ? sprintf("%.1f", mb) : ""
    printf "%s|%s|%.1f|%s\n", what, where, $2 - $1, grown }'
}
used() { du -skx --exclude=/root --exclude=/var/cache/apt --exclude=/var/lib/apt/lists / 2>/dev/null | cut -f1; }
cd /root
. /etc/os-release
where="Debian $VERSION_ID"
for package in packages/*.deb; do
  echo "$(basename "$package")|file||$(stat -c %s "$package" | awk '{ printf "%.2f", $1 / 1e6 }')"
done
step "apt-get update" "apt-get update -qq"
# Without the recommended Python, as in a container.
step "apt install speclab" "apt-get install -y -qq --no-install-recommends ./packages/speclab_*.deb"
step "first answer: speclab predict" "speclab predict --alpha 0.8 --c 0.05 | grep γ"
step "speclab reproduce --only table1" "speclab reproduce --only table1 --out table1"
[ ! -e expected.json ] || step "its result has the bytes of the build tree's" "cmp table1/table1/result.json expected.json"
step "speclab prove --rule block" "speclab prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact"
[ ! -e /usr/share/speclab/data/austen.txt ] || step "speclab reproduce --only table3, from the text" "speclab reproduce --only table3 --out table3"
step "nothing refers to the build" "! grep -rlE '/root/speclab|/build/release' /usr/bin/speclab /usr/share/speclab /usr/share/doc/speclab table1"
step "apt purge speclab" "apt-get purge -y -qq --autoremove speclab; test ! -e /usr/bin/speclab; test ! -e /usr/share/speclab"
step "apt install libspeclab-kernels1" "apt-get install -y -qq --no-install-recommends ./packages/libspeclab-kernels1_*.deb"
step "apt install libspeclab-dev, a compiler and CMake" "apt-get install -y -qq --no-install-recommends ./packages/libspeclab-dev_*.deb g++ cmake make pkg-config"
step "a C program by pkg-config" "cc -Wall -Werror consumer/verify.c -o verify \$(pkg-config --cflags --libs speclab-kernels); ./verify; ./verify | grep -x 'accepted 1, next 1'"
step "find_package by doors, configured" "cmake -S consumer -B consumer/build -DCMAKE_BUILD_TYPE=Release"
step "built: a rule of docs/extending.md, a server, C" "cmake --build consumer/build"
step "the rule is proved and its faulty copy refuted" "consumer/build/rule; consumer/build/rule | grep -x 'distance 0, of the faulty copy 1/10'"
step "the server and C programs run" "consumer/build/consumer && consumer/build/c_consumer"
step "apt install speclab-doc" "apt-get install -y -qq ./packages/speclab-doc_*.deb; test -s /usr/share/doc/speclab-doc/docs/tutorial.md"
step "apt purge all" "apt-get purge -y -qq --autoremove libspeclab-dev libspeclab-kernels1 speclab-doc; test ! -e /usr/include/speclab; test ! -e /usr/include/speclab_kernels.h"
# Docker cannot run in the root, but its commands can.
step "RUN of the Dockerfile" "mkdir -p /packages; cp packages/speclab_*.deb /packages/; $(sed -n '/^RUN/,/[^\\]$/p' Dockerfile | sed 's/^RUN//'); speclab version"
