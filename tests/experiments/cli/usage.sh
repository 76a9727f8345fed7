#!/usr/bin/env bash
# Tests help and usage.
# usage: usage.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"
verbs="run reproduce sweep compare predict plan prove check bench exact convert list config validate schema completion version"

expect 0 --help
for verb in $verbs; do says out "  $verb "; done
for verb in $verbs; do
  expect 0 "$verb" --help
  says out "Examples:"
  says out "usage: speclab $verb"
  silent err "speclab $verb --help"
done
expect 2
expect 2 frobnicate
says err 'error: unknown verb "frobnicate"'
expect 2 rnu
says err 'did you mean "run"?'
for verb in run sweep check exact validate; do
  expect 2 "$verb"
  says err "error: missing config"
  expect 2 "$verb" "$first" --nonsense
  says err "--nonsense"
  expect 2 "$verb" no_such_config.json
  says err "error: no_such_config.json: no such file"
done
mkdir near
cp "$first" near/first.json
expect 2 run near/frist.json
says err 'error: near/frist.json: no such file; did you mean "first.json"?'
expect 2 run configs/frist.json
says err 'did you mean "first.json"?'
# Keys of the config are not options.
expect 2 run "$first" --gamma 3
says err "--gamma is a key of the config, no option: --set gamma=3"
expect 2 validate "$first" --trials=8
says err "--set simulation.trials=8"
expect 2 exact "$first" --top-k 2
says err "--set sampling.top_k=2"
expect 2 predict --gama 3
says err "unrecognised option"
expect 2 run "$first" "$first"
expect 2 list everything
expect 2 run "$first" --thre 1
expect 2 run "$first" --threads many
for threads in -1 4097 2147483647; do
  expect 2 run "$first" --threads $threads
  says err "--threads $threads: expected 0 (all cores) to 4096"
done
expect 2 validate /dev/zero
says err "/dev/zero: is a device without an end"
expect 2 validate "$first" --set gamma
says err "expected path=value"
expect 2 validate "$first" --set gama=3
says err '/gama: unknown key "gama" in config; did you mean "gamma"?'
expect 2 validate "$first" --set 'sweep./gama=[1,2]'
says err '/gama: unknown key "gama" in config; did you mean "gamma"? (in the cell gama = 1)'
expect 0 validate "$first" --set 'sweep./gamma=[1,2]' --set rule.kind=block
says out "valid: 2 cells,"
expect 2 validate "$first" --set verifier.kind=block
says err '/verifier: unknown key "verifier" in config'
expect 2 validate "$first" --set title.x=3
says err "/title/x"
expect 2 validate "$first" --set gamma=
says err '"" is not an integer'
expect 0 validate "$first" --set /models/draft/alpha=0.9 --set models.target.vocab=50
says out "valid: 1 cell,"
expect 2 sweep "$first"
says err "/sweep: missing"
expect 2 reproduce --only tabel1 --configs "$source_dir/configs/paper" --out results
says err 'unknown "tabel1"; did you mean "table1"?'
expect 2 reproduce --configs "$work"
says err "no configs there"
mkdir named
cp "$first" "named/a b.json"
expect 2 reproduce --configs named --out results
says err '"a b" cannot be the name of a section'
checks=$((checks + 1))
[[ ! -e results ]] || fail "a config was run although another's name is refused"
# A config that is named twice is run once. The summary covers all cells, however many there are.
mkdir swept
cat >swept/large.json <<'JSON'
{"title": "Large", "experiment": "predict", "sweep": {"/alpha": {"from": 0.1, "to": 0.9, "count": 3000}, "/gamma": {"from": 1, "to": 7, "step": 1}}}
JSON
expect 0 reproduce --configs swept --only large,large, --quiet --out reproduced
says reproduced/summary.csv "all 21000 cells"
says reproduced/report.html "21,000 cells are more than a page can show"
# A report of some configs, or of changed ones, has its own folder. A report with more sections is not replaced without --force.
for name in one two; do sed 's/3000/30/' swept/large.json >swept/$name.json; done
rm swept/large.json
expect 0 reproduce --configs swept --quiet --out all
cp all/summary.csv summary.csv
expect 0 reproduce --configs swept --quiet --out all
expect 2 reproduce --configs swept --only one --quiet --out all
says err "all: its report would lose these sections: two"
expect 2 reproduce --configs swept --set confidence=0.9 --quiet --out all
says err "holds the results of another config"
expect 2 reproduce --configs swept --set nonsense=4 --quiet --out all --force
says err "nonsense=4: none of these configs reads it"
same all/summary.csv summary.csv
mkdir away
checks=$((checks + 1))
(cd away && "$speclab" reproduce --configs "$work/swept" --only one --set confidence=0.9 -q) || fail "a part in a folder of its own"
checks=$((checks + 1))
[[ ! -e away/out/report.html && -s $(echo away/out/reproduce-confidence=0.9-only=one-*/report.html) ]] || fail "a part replaces the report"
same all/summary.csv summary.csv
expect 0 reproduce --configs swept --only one --quiet --out all --force
checks=$((checks + 1))
[[ $(wc -l <all/summary.csv) -lt $(wc -l <summary.csv) ]] || fail "--force does not overwrite the report"
expect 2 run "$first" --out all
says err "all holds a report of reproduce"
for only in "" ","; do expect 2 reproduce --configs swept --only "$only" --quiet --out all; done
# Characters that a terminal would obey are escaped, and output of megabytes is cut.
expect 2 validate "$first" --set $'title.x=\e[31m'
says err "/title/x"
expect 2 validate "$first" --set $'a\e[31m=1'
says err 'a\x1b[31m'
expect 2 validate "$first" --set $'title=caf\xe9'
says err "byte 4 of the value is not UTF-8"
printf '{"a\\u0000b": 1}' >nul.json
expect 2 validate nul.json
says err 'unknown key "a\x00b"'
python3 -c "print('{\"' + 'k' * 3000000 + '\": 1}')" >long.json
expect 2 validate long.json
says err "bytes left out"
checks=$((checks + 1))
[[ $(wc -c <err) -lt 6000 ]] || fail "a long key is printed in full"
expect 0 version
says out "speclab "
expect 0 --version
# Entries of configs are listed with their examples.
expect 0 help token
says out "Algorithm 1"
says out "accepts with probability 0.6, emits (0.5, 0.3, 0.2)"
expect 0 help lenient
says out "lenience"
expect 0 help temperature
says out "/sampling/temperature"
says out "/compare/drafters/0/temperature"
checks=$((checks + 1))
grep -qF "compare.drafters" out && fail "a key has two spellings"
expect 0 list serving.requests
says out "/serving/requests"
expect 0 list /serving/requests
says out "requests of serving"
expect 2 help temprature
says err 'did you mean "temperature"?'
expect 2 help xyzzyxyzzy
checks=$((checks + 1))
[[ $(wc -c <err) -lt 200 ]] || fail "a word that is like no name gets all names"
expect 2 help tokn
says err 'nothing is called "tokn"; did you mean "token"?'
expect 2 help rnu
says err 'did you mean "run"?'
expect 0 list
says out "fault-resample-target"

# Without a standard error, messages are lost, and everything else is as before.
mkfifo pipe
exec 8<>pipe 9>pipe 8<&- # a pipe without a reader
for words in "predict --alpha .8 --c .05" "predict" "run $first ${small[*]} --out ended" "exact $markov --set nothing=1"; do
  code=0
  # shellcheck disable=SC2086
  "$speclab" $words >out 2>err || code=$?
  cp out wanted
  for place in /dev/full '&-' '&9'; do
    status=0
    eval "\"\$speclab\" $words >out 2>$place" || status=$?
    checks=$((checks + 1))
    [[ $status -eq $code ]] || fail "exit code $status, not $code, with standard error $place: speclab $words"
    same out wanted
  done
done
python "assert data['partial'] is False" ended/result.json

report
