#!/usr/bin/env bash
# Tests plot, refusals of paper, and the pages of verbs that do not make a run.
# usage: plot.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"
/usr/bin/python3 -I -c "import matplotlib" 2>/dev/null || { echo "skipped: no matplotlib (apt install python3-matplotlib)"; exit 77; }

cat >sweep.json <<'JSON'
{"title": "t", "experiment": "predict", "sweep": {"/alpha": [0.5, 0.6, 0.7], "/cost/c": [0.01, 0.2], "/gamma": [1, 3]}}
JSON
expect 0 run sweep.json --out made --quiet
before=$(sha256sum made/result.json)
speedup=(--x alpha --y speedup --series gamma --where c=0.2)
# A point in a name is no ending.
for format in svg pdf png; do
  expect 0 plot made "${speedup[@]}" --format $format --out pictures/v1.2
  says out "pictures/v1.2.$format"
  [[ -s pictures/v1.2.$format ]] || fail "no pictures/v1.2.$format"
done
says pictures/v1.2.svg "γ = 3"
cp pictures/v1.2.svg drawn_before.svg
# Further keys make further figures.
expect 0 plot made --x alpha --series gamma --out pictures/both.svg
says out "pictures/both-2.svg"
expect 0 plot made --heat --x alpha --series gamma --where /cost/c=0.01 --log y --size 170x80 --out pictures/cells.svg
# The experiment's figures are written into the result's folder; the result itself stays unchanged.
expect 0 plot made/result.json
says out "made/plot-1.svg"
[[ $(sha256sum made/result.json) == "$before" ]] || fail "plot changed result.json"

# A picture of a partial result says so.
silent err "a complete result"
mkdir partial
sed 's/"partial": *false/"partial": true/' made/result.json >partial/result.json
expect 0 plot partial "${speedup[@]}" --out partial/a.svg
says err "partial results"
says partial/a.svg "partial results"

# Bad input gives exit code 2 and names what exists; nothing is written.
rm -rf pictures
expect 2 plot made --x nonsense --out pictures/a.svg
says err "made: x nonsense: the cells set no such key; there are alpha, c, gamma, label"
silent out "a refusal"
expect 2 plot made --where c=0.7 --out pictures/a.svg
says err "there are 0.01, 0.2"
expect 2 plot made --y spedup --out pictures/a.svg
says err 'y spedup: no such metric; did you mean "speedup"'
expect 2 plot made --y regret --out pictures/a.svg
says err "no cell has it"
expect 2 plot made --out pictures/a.gif
expect 2 plot made --format jpg --out pictures/a
says err "expected svg, pdf, png"
expect 2 plot made --size 85 --out pictures/a.svg
says err "WIDTHxHEIGHT"
expect 2 plot made --size 40x20 --out pictures/a.svg
says err "are left above the legend"
expect 2 plot made --log z --out pictures/a.svg
says err "--log z: expected x, y, color"
expect 2 plot made --where c --out pictures/a.svg
says err "where c: expected KEY=VALUE"
expect 2 plot made --format svg --out pictures/a.pdf
says err "is no svg file"
expect 2 plot missing --out pictures/a.svg
says err "missing: no such file"
mkdir empty
expect 2 plot empty --out pictures/a.svg
says err "holds no result.json"
expect 2 plot
printf 'a,b\n1,2\n' >table.csv
expect 2 plot table.csv --out pictures/a.svg
says err "expected result.json or its folder"
printf '{"x": 1}' >other.json
expect 2 plot other.json --out pictures/a.svg
# Python is the program that --python names, and runs nothing of the working folder.
expect 2 plot made --python python3 --out pictures/a.svg
says err "expected a path with a /"
expect 2 plot made --python ./nowhere --out pictures/a.svg
says err "./nowhere is not there"
/usr/bin/python3 -m venv --without-pip bare
expect 2 plot made --python bare/bin/python --out pictures/a.svg
says err "has no matplotlib"
says err "pip install matplotlib; --python names another"
SPECLAB_PYTHON=bare/bin/python expect 2 plot made --out pictures/a.svg
says err "bare/bin/python has no matplotlib"
# Without typst, paper ends before any work.
expect 2 paper --results none --python bare/bin/python
says err "has no typst: python3 -m venv"
expect 2 paper report.html
says err "expected a name that ends in .pdf"
[[ ! -e none/summary.csv && ! -e none/paper ]] || fail "paper worked before it refused"
[[ ! -e pictures ]] || fail "bad input left pictures/"
mkdir _plots
echo "open('$PWD/intruder', 'w')" | tee matplotlib.py json.py _plots/__main__.py >_plots/__init__.py
echo "backend: module://intruder" >matplotlibrc
expect 0 plot made "${speedup[@]}" --out speedup.svg
[[ ! -e intruder ]] || fail "a program of the working folder was run"
rm -r _plots matplotlib.py json.py matplotlibrc
same speedup.svg drawn_before.svg

# Pages of other verbs have a headline, a figure and the result.
expect 0 prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact --out proof
says proof/report.html "block is lossless on these rows, exactly."
says proof/report.html '<figure class="drawing" id="figure-1">'
[[ -s proof/figure-1.svg ]] || fail "no proof/figure-1.svg"
python "assert data['lossless'] is True" proof/result.json
expect 1 prove --rule lenient --lenience .5 --target .5,.3,.2 --draft .1,.3,.6 --out lossy
says lossy/report.html "is not lossless"
expect 0 plan alpha 0.75 --c 0.02 --out plan
says plan/report.html "Draft γ ="
expect 0 exact "$markov" --no-simulation --out exact
says exact/report.html "tokens per target step, exactly"
expect 0 check "$source_dir/configs/check_token.json" --set check.samples=2000 --out check
says check/report.html "Equal: no difference"
expect 2 plan alpha 0.75 --c 0.02 --out sweep.json
says err "Not a directory"

# A file too large for memory is refused before it is read.
mkdir huge
truncate -s 1T huge/result.json
expect 2 plot huge
says err "huge/result.json: /cells: all of them at once, as they are drawn, need at least"

report
