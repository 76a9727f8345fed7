#include "experiments/run/result.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"

namespace speclab {

SPECLAB_CHOICE(Reproduction, {words(Reproduction::reproduces), Reproduction::reproduces},
               {words(Reproduction::within_input_rounding), Reproduction::within_input_rounding},
               {words(Reproduction::does_not_reproduce), Reproduction::does_not_reproduce},
               {words(Reproduction::cut_off), Reproduction::cut_off});

SPECLAB_RESULT(InputFile, "input", file, bytes, sha256);
SPECLAB_RESULT(PositionAcceptance, "position", unconditional, conditional);
SPECLAB_RESULT(UntilResult, "until", reached, looks, max_looks, trials, batches);
SPECLAB_RESULT(EngineResult, "engine", name, random_blocks, residual_passes, why_plain);
SPECLAB_RESULT(Counts, "counts", contexts, searches, identical, rounds, drafted, draft_runs, examined,
               accepted, emitted, target_rows, draft_rows, plain_rows);

namespace {

/// Describes the cells of an experiment: the common part, and the experiment's own.
Typed<CellResult> make_cell_type(const Experiment& experiment) {
  std::vector<Field> fields = result_fields<CellResult>(
      {{"label", &CellResult::label},
       {"set", &CellResult::set},
       sparse<CellResult>("printed", &CellResult::printed),
       sparse<CellResult>("measured", &CellResult::measured),
       sparse<CellResult>("note", &CellResult::note),
       sparse("partial", &CellResult::partial),
       {"formula_alpha", &CellResult::formula_alpha,
        choice<AlphaSource>({{"given", AlphaSource::given},
                             {"exact", AlphaSource::exact},
                             {"measured", AlphaSource::measured}})},
       {"exact_alpha", &CellResult::exact_alpha},
       sparse("formula", &CellResult::formula, by_metric(any_number())),
       sparse("simulated", &CellResult::simulated, by_metric(described<Interval>())),
       sparse("proved", &CellResult::proved, metric_type()),
       sparse("verdict", &CellResult::verdict, by_metric(described<Reproduction>())),
       sparse("agreement", &CellResult::agreement),
       {"rule", &CellResult::rule, kind_of(rule_family())},
       {"engine", &CellResult::engine},
       {"until", &CellResult::until},
       sparse("counts", &CellResult::counts),
       sparse("positions", &CellResult::positions)});
  if (const TypePtr own = experiment.own_result) {
    Field field;
    field.name = experiment.own_key;
    field.type = own;
    field.at = [](void* cell) -> void* { return static_cast<CellResult*>(cell)->own.address().get(); };
    field.create = [own](void* cell) -> void* {
      return (static_cast<CellResult*>(cell)->own = own->object()->make()).address().get();
    };
    fields.push_back(std::move(field));
  }
  return object<CellResult>("cell", "", std::move(fields));
}

/// Returns the description, made once per experiment: for a small cell making it takes longer than reading.
Typed<CellResult> cell_type(const Experiment& experiment) {
  static std::mutex mutex;
  static std::map<const Experiment*, Typed<CellResult>> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(&experiment);
  return found != known.end() ? found->second
                              : known.emplace(&experiment, make_cell_type(experiment)).first->second;
}

Typed<Result> result_type(const Experiment& experiment) {
  return result_object<Result>("result", {{"speclab", &Result::version},
                                          {"format", &Result::format},
                                          {"title", &Result::title},
                                          {"config", &Result::config},
                                          {"inputs", &Result::inputs},
                                          {"corpora", &Result::corpora},
                                          {"interval_confidence", &Result::interval_confidence},
                                          {"partial", &Result::partial},
                                          {"cells", &Result::cells, cell_type(experiment)}});
}

}  // namespace

const char* words(Reproduction verdict) {
  return std::array{"reproduces", "within input rounding", "does not reproduce", "cut off instead of rounded"}
      .at(static_cast<std::size_t>(verdict));
}

double half_unit_of(const std::string& printed) {
  const auto end = printed.find_first_of("eE");
  const std::string digits = printed.substr(0, end);
  const auto point = digits.find('.');
  const int places = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  const int exponent = end == std::string::npos ? 0 : std::stoi(printed.substr(end + 1));
  return 0.5 * std::pow(10.0, exponent - places);
}

Reproduction judged(double value, double least, double most, const std::string& printed) {
  // The slack accepts either rounding of a value exactly between two, such as 1.525.
  const double half_unit = half_unit_of(printed) * (1 + 1e-9);
  const double goal = std::stod(printed);
  if (std::abs(value - goal) <= half_unit) return Reproduction::reproduces;
  return least <= goal + half_unit && most >= goal - half_unit ? Reproduction::within_input_rounding
                                                               : Reproduction::does_not_reproduce;
}

const ShownConfig& ResultHead::shown() const { return *config; }

Counts counts_of(const Tally& tally) {
  Counts counts;
  counts.rounds = tally.rounds;
  counts.drafted = tally.drafted;
  counts.examined = tally.examined;
  counts.accepted = tally.accepted;
  counts.emitted = tally.emitted;
  return counts;
}

const std::string* printed_value(const CellResult& cell, Metric metric) {
  return find(cell.printed, metric_name(metric));
}

Json cell_json(const Experiment& experiment, const CellResult& cell) {
  Json json;
  write(cell_type(experiment), cell, json);
  return json;
}

CellResult read_cell(const Experiment& experiment, const Json& json) {
  return read(cell_type(experiment), json, "");
}

void HeldCells::each(const std::function<void(const CellResult& cell)>& use) const {
  for (const CellResult& cell : result_.cells) {
    end_if_stopped();
    use(cell);
  }
}

void HeldCells::each_json(const std::function<void(const Json& cell)>& use) const {
  each([&](const CellResult& cell) { use(cell_json(*result_.shown().experiment, cell)); });
}

void write_text(const Result& result, const CellSource& cells,
                const std::function<void(const std::string& piece)>& out) {
  const auto type = result_type(*result.shown().experiment);
  Json json;
  write(type, Result{result, {}}, json);
  std::string text = json.dump(1);
  constexpr std::string_view no_cells = "[]\n}";
  text.resize(text.size() - no_cells.size());  // "cells" is the last key
  out(text + "[");
  bool first = true;
  cells.each_json([&](const Json& cell) {
    text = (first ? "\n" : ",\n") + cell.dump(1);
    boost::algorithm::replace_all(text, "\n", "\n  ");
    out(text);
    first = false;
  });
  out(first ? "]\n}\n" : "\n ]\n}\n");
}

ResultHead result_head(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string head;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(" \"cells\": [")) return read_result(parse_json(head + " \"cells\": []}"));
    head += line + "\n";
    if (!line.starts_with(head.size() > line.size() + 1 ? " " : "{")) break;  // written by another program
  }
  if (!stream.is_open() || stream.bad()) throw ConfigError("/", "cannot be read: {}", std::strerror(errno));
  head.append(std::istreambuf_iterator<char>(stream), {});
  return read_result(parse_json(head));
}

Result read_result(const Json& json) {
  const auto config = json.is_object() ? json.find("config") : json.end();
  if (json.is_object() && json.contains("command"))
    throw ConfigError("/command", "not the result of a run: {} made it", json["command"].dump());
  if (!json.is_object() || config == json.end()) throw ConfigError("/config", "missing: not a result");
  constexpr const char* way_out = "run its config again, or read it with the program that wrote it";
  require_format(json, result_format, way_out);
  try {
    const Config read_first = read_config(*config);
    return read(result_type(*read_first.experiment), json, "");
  } catch (const ConfigError& error) {
    throw ConfigError(error.path, "{}; another version of speclab wrote this result, or it was changed: {}",
                      error.what(), way_out);
  }
}

Agreement agreement(const CellResult& cell) {
  Agreement found{0, cell.agreement.size()};
  for (const auto& [name, held] : cell.agreement) found.held += held ? 1 : 0;
  return found;
}

Agreement agreement(const Result& result) {
  Agreement all;
  for (const CellResult& cell : result.cells) {
    const Agreement one = agreement(cell);
    all.held += one.held;
    all.compared += one.compared;
  }
  return all;
}

ByMetric<Interval> simulated_metrics(const std::vector<Tally>& batches, const CostRatios& cost,
                                     double confidence, Independence independence, const RunLimits& limits) {
  ByMetric<Interval> simulated;
  for (const Estimate& estimate : estimates(batches, cost, confidence, independence, limits)) {
    const auto metric = metric_named(estimate.name);
    if (estimate.interval && metric) simulated.emplace_back(*metric, *estimate.interval);
  }
  return simulated;
}

bool has_unknown_error(const CellResult& cell) {
  return std::ranges::any_of(cell.simulated, [](const auto& metric) { return !metric.second.bounded(); });
}

}  // namespace speclab
