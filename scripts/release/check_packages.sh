#!/bin/sh
# Installs packages in a bare Debian 12, uses and removes them, and prints a table of seconds and megabytes: a first answer, a table of the
# paper, a proof and a run on the corpus with the program; other projects with the libraries.
# usage: scripts/release/check_packages.sh FOLDER [RESULT]   as root, with debootstrap. FOLDER has the packages. RESULT is a result.json of
#                                             `reproduce --only table1` that the installed program must give.
# Exit codes: 0; 1 a step failed, and what it printed; 77 not possible here, with the reason.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
packages=$(realpath "$1") result=${2:-}
root=$top/build/packages/check
export DEBIAN_FRONTEND=noninteractive
rm -rf "$root"
"$top/scripts/make_root.sh" "$root" bookworm ca-certificates
mkdir "$root/root/packages"
cp "$packages"/*.deb "$root/root/packages/"
cp -r "$top/tests/install/consumer" "$root/root/consumer"
sed -n '/^struct TimidRule/,/^};/p' "$top/docs/extending.md" >"$root/root/consumer/timid_rule.inc"
cp "$top/scripts/release/Dockerfile" "$root/root/"
[ -z "$result" ] || cp "$result" "$root/root/expected.json"
cat >"$root/root/check.sh" <<'END'
# step TEXT COMMAND: runs a command and prints its seconds, and the megabytes by which the root has grown if it installs something.
step() {
  before=$(used) start=$(date +%s.%N)
  sh -euc "$2" >/root/log 2>&1 </dev/null || { cat /root/log; echo "FAILED: $1"; exit 1; }
  echo "$start $(date +%s.%N) $before $(used) $1" |
    awk '{ mb = ($4 - $3) * 1024 / 1e6; text = $0
           for (i = 1; i <= 4; ++i) sub(/^[^ ]+ /, "", text)
           grown = (mb * mb > 0.01) ? sprintf("%7.1f MB", mb) : ""
           printf "%-60s %7.1f s %s\n", text, $2 - $1, grown }'
}
used() { du -skx --exclude=/root --exclude=/var/cache/apt --exclude=/var/lib/apt/lists / 2>/dev/null | cut -f1; }
cd /root
. /etc/os-release
echo "$PRETTY_NAME"
for package in packages/*.deb; do
  echo "$(basename "$package" | sed 's/_.*//') $(stat -c %s "$package") $(dpkg-deb -f "$package" Installed-Size)" |
    awk '{ printf "  %-20s %6.2f MB, installed %6.1f MB\n", $1, $2 / 1e6, $3 / 1024 }'
done
step "apt-get update" "apt-get update -qq"
# Without the recommended Python, as in a container.
step "apt install speclab" "apt-get install -y -qq --no-install-recommends ./packages/speclab_*.deb"
step "first answer: speclab predict" "speclab predict --alpha 0.8 --c 0.05 | grep γ"
step "speclab reproduce --only table1" "speclab reproduce --only table1 --out table1"
[ ! -e expected.json ] || step "its result has the bytes of the build tree's" "cmp table1/table1/result.json expected.json"
step "speclab prove --rule block" "speclab prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact"
[ ! -e /usr/share/speclab/data/austen.txt ] || step "speclab run configs/rules_austen.json, fewer tokens" "speclab run configs/rules_austen.json --set simulation.tokens=20000"
step "nothing refers to the build" "! grep -rlE '/root/speclab|/build/release' /usr/bin/speclab /usr/share/speclab /usr/share/doc/speclab table1"
step "apt purge speclab" "apt-get purge -y -qq --autoremove speclab; ! test -e /usr/bin/speclab; ! test -e /usr/share/speclab"
step "apt install libspeclab-kernels1" "apt-get install -y -qq --no-install-recommends ./packages/libspeclab-kernels1_*.deb"
step "apt install libspeclab-dev, a compiler and CMake" "apt-get install -y -qq --no-install-recommends ./packages/libspeclab-dev_*.deb g++ cmake make pkg-config"
step "a C program by pkg-config" "cc -Wall -Werror consumer/verify.c -o verify \$(pkg-config --cflags --libs speclab-kernels); ./verify; ./verify | grep -x 'accepted 1, next 1'"
step "find_package by doors, configured" "cmake -S consumer -B consumer/build -DCMAKE_BUILD_TYPE=Release"
step "built: a rule of docs/extending.md, a server, C" "cmake --build consumer/build"
step "the rule is proved and its faulty copy refuted" "consumer/build/rule; consumer/build/rule | grep -x 'distance 0, of the faulty copy 1/10'"
step "the server and C programs run" "consumer/build/consumer && consumer/build/c_consumer"
step "apt install speclab-doc" "apt-get install -y -qq ./packages/speclab-doc_*.deb; test -s /usr/share/doc/speclab-doc/docs/tutorial.md"
step "apt purge all" "apt-get purge -y -qq --autoremove libspeclab-dev libspeclab-kernels1 speclab-doc; ! ls /usr/lib/*/libspeclab* /usr/include/speclab*"
# Docker cannot run in the root, but its commands can.
step "RUN of the Dockerfile" "mkdir -p /packages; cp packages/speclab_*.deb /packages/; $(sed -n '/^RUN/,/[^\\]$/p' Dockerfile | sed 's/^RUN//'); speclab version"
END
"$top/scripts/enter_root.sh" "$root" sh /root/check.sh
