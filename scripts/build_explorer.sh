#!/bin/sh
# Builds the explorer: the engine as WebAssembly from the program's own sources, and one page that holds everything.
# Needs Debian's emscripten (scripts/setup.sh explorer).
# usage: scripts/build_explorer.sh [FOLDER]     writes FOLDER/explorer.html, by default build/explorer
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/explorer}
mkdir -p "$out/include"
command -v em++ >/dev/null || {
  echo "build_explorer.sh: em++ is missing; scripts/setup.sh explorer installs it" >&2
  exit 1
}

# The text of room 4 is the first 100,000 bytes of "Pride and Prejudice", up to the end of a paragraph.
[ -s data/austen.txt ] || {
  echo "build_explorer.sh: data/austen.txt is missing; scripts/setup.sh explorer makes it" >&2
  exit 1
}
sed -n '/^PRIDE AND PREJUDICE/,$p' data/austen.txt | head -c 100000 | sed '$d' >"$out/excerpt.txt"

# Only these headers are linked, because the rest of /usr/include is for this machine's processor.
for folder in boost Random123 fmt hwy nlohmann tbb oneapi; do
  ln -sfn "/usr/include/$folder" "$out/include/$folder"
done
ln -sfn /usr/include/eigen3/Eigen "$out/include/Eigen"

for table in server_settings devices models model_families harmless_keys; do
  cmake -DIN="serving/advisor/$table.json" -DOUT="$out/$table.json.cpp" -P scripts/cmake/embed.cmake
done

# The bindings and the sources that they call. Names in anonymous namespaces differ only within a folder, so the
# sources that read recordings or models are separate units.
sources="explorer/engine.cpp
  analysis/theory/theorems.cpp analysis/theory/optimal_gamma.cpp
  analysis/exact/rational.cpp analysis/exact/losslessness.cpp analysis/exact/context_rows.cpp analysis/exact/context_chain.cpp
  analysis/exact/chain_distributions.cpp analysis/exact/transitions.cpp
  analysis/statistics/acceptance_log.cpp analysis/statistics/acceptance_metrics.cpp
  analysis/statistics/cell_layout.cpp analysis/statistics/goodness_of_fit.cpp analysis/statistics/round_replay.cpp
  analysis/statistics/intervals.cpp analysis/statistics/mean_accepted.cpp
  analysis/cost/cost_model.cpp analysis/cost/mixers.cpp analysis/cost/roofline.cpp
  analysis/cost/speedup_curve.cpp analysis/cost/device_speed.cpp
  serving/advisor/acceptance_file.cpp serving/advisor/all_log_formats.cpp serving/advisor/log_format.cpp
  serving/advisor/log_source.cpp serving/advisor/json_records.cpp
  serving/advisor/prometheus_page.cpp serving/advisor/log_formats/*.cpp
  experiments/recording/json_document.cpp experiments/recording/named_records.cpp
  serving/advisor/planning.cpp serving/advisor/memory_fit.cpp
  serving/advisor/server_settings.cpp $out/server_settings.json.cpp
  experiments/base/format/json_io.cpp experiments/base/format/config_error.cpp
  experiments/base/support/csv.cpp experiments/base/support/printable.cpp experiments/base/support/shell_word.cpp
  experiments/base/support/text_files.cpp
  sim/text/utf8.cpp sim/text/corpus.cpp sim/text/input_stream.cpp sim/text/text_file.cpp sim/text/subword.cpp
  sim/models/kneser_ney.cpp sim/models/ngram_model.cpp sim/models/ngram_level.cpp sim/models/table_model.cpp
  sim/models/recorded_model.cpp sim/models/model.cpp sim/drafters/lookup.cpp sim/decode.cpp sim/sequences.cpp sim/acceptance_stream.cpp"
models="serving/advisor/presets.cpp serving/advisor/model_config.cpp serving/advisor/model_keys.cpp
  serving/advisor/model_families.cpp serving/advisor/layer_experts.cpp serving/advisor/layer_mixers.cpp
  serving/advisor/stored_numbers.cpp serving/advisor/head_config.cpp
  $out/devices.json.cpp $out/models.json.cpp $out/model_families.json.cpp
  $out/harmless_keys.json.cpp"
recorded="analysis/recorded/recording.cpp analysis/recorded/recording_estimates.cpp analysis/recorded/expected_rounds.cpp
  analysis/recorded/row_measures.cpp analysis/recorded/text_fit.cpp"
recording="experiments/recording/recording_file.cpp experiments/recording/recording_source.cpp
  serving/advisor/recording_plan.cpp experiments/recording/log_probability.cpp
  experiments/recording/columns.cpp experiments/recording/scored_text.cpp experiments/recording/row_files.cpp
  experiments/recording/array_rows.cpp"
formats="experiments/recording/formats/csv.cpp experiments/recording/formats/json_lines.cpp
  experiments/recording/formats/openai_completions.cpp experiments/recording/formats/scored_lists.cpp
  experiments/recording/formats/vllm.cpp
  experiments/recording/formats/safetensors.cpp experiments/recording/formats/kl_base.cpp"
rules="experiments/catalog/rules/*.cpp experiments/base/format/family.cpp experiments/base/format/object_type.cpp
  experiments/base/format/value_types.cpp analysis/theory/optimal_tree.cpp sim/rank_acceptance.cpp"
# Sources that read dropped files, and those made for each rule, are compiled for size.
units=
unit() {
  for source in $2; do echo "#include \"$source\""; done >"$out/$1_all.cpp"
  em++ -std=c++20 "$3" -DNDEBUG -DFMT_HEADER_ONLY -DHWY_COMPILE_ONLY_SCALAR -fwasm-exceptions -Wall -Wextra \
    -Wno-potentially-evaluated-expression -I. -isystem "$out/include" -include explorer/engine/wasm.hpp \
    -c "$out/$1_all.cpp" -o "$out/$1.o" &
  units="$units $!"
}
unit engine "$sources" -O2
unit models "$models" -Os
unit recorded "$recorded" -Os
unit recording "$recording" -Os
unit formats "$formats" -Os
unit rules "$rules" -Os
for job in $units; do wait "$job"; done
em++ -O2 -fwasm-exceptions "$out/engine.o" "$out/models.o" "$out/recorded.o" "$out/recording.o" "$out/formats.o" "$out/rules.o" \
  -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sFILESYSTEM=0 --no-entry -o "$out/engine.wasm"
python3 scripts/bundle_explorer.py "$out"
