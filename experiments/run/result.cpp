#include "experiments/run/result.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_value.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

const Typed<Counts>& counts_type() {
  const auto counted = count<std::uint64_t>();
  static const auto type = object<Counts>(
      "counts", "Counts of work; those that an experiment does not count are left out.",
      {field<&Counts::contexts>("contexts", counted, "Contexts in which the acceptance was computed."),
       field<&Counts::searches>("searches", counted, "Beam searches."),
       field<&Counts::identical>("identical", counted, "Searches with the beams of plain search."),
       field<&Counts::rounds>("rounds", counted, "Rounds, each one target step."),
       field<&Counts::drafted>("drafted", counted, "Drafted tokens."),
       field<&Counts::draft_runs>("draft_runs", counted, "Draft runs, one after the other."),
       field<&Counts::examined>("examined", counted, "Positions that the rule reached."),
       field<&Counts::accepted>("accepted", counted, "Accepted drafted tokens."),
       field<&Counts::emitted>("emitted", counted, "Emitted tokens."),
       field<&Counts::target_rows>("target_rows", counted, "Rows of the target."),
       field<&Counts::draft_rows>("draft_rows", counted, "Rows of the draft."),
       field<&Counts::plain_rows>("plain_rows", counted, "Rows of the target in plain search.")});
  return type;
}

const Typed<PositionResult>& position_type() {
  static const auto type = object<PositionResult>(
      "position", "Acceptance at one drafted position.",
      {field<&PositionResult::unconditional>("unconditional", interval_type(), "P[accepted]."),
       field<&PositionResult::conditional>("conditional", interval_type(),
                                           "P[accepted | those before were accepted].")});
  return type;
}

const Typed<EngineResult>& engine_type() {
  static const auto type = object<EngineResult>(
      "engine", "How decoding ran, with counts of work that are the same on every machine.",
      {field<&EngineResult::name>("name", text(), "plain, fast or iid."),
       field<&EngineResult::random_blocks>("random_blocks", count<std::uint64_t>(), "Philox blocks used."),
       field<&EngineResult::residual_passes>("residual_passes", count<std::uint64_t>(),
                                             "Residuals drawn by a pass over the vocabulary.")});
  return type;
}

const Typed<Reproduction>& reproduction_type() {
  static const auto type =
      choice<Reproduction>({{words(Reproduction::reproduces), Reproduction::reproduces},
                            {words(Reproduction::within_input_rounding), Reproduction::within_input_rounding},
                            {words(Reproduction::does_not_reproduce), Reproduction::does_not_reproduce}});
  return type;
}

std::vector<Field> cell_fields() {
  return {field<&CellResult::label>("label", text(), "Name of the cell."),
          field<&CellResult::set>("set", map(any_json()), "What this cell sets, by JSON pointer."),
          sparse_field<&CellResult::printed>("printed", map(text()), "Printed values by metric."),
          sparse_field<&CellResult::measured>("measured", map(text()), "Printed measurements by name."),
          sparse_field<&CellResult::note>("note", text(), "Remark."),
          sparse_field<&CellResult::partial>("partial", boolean(), "True for a cell that was interrupted."),
          field<&CellResult::formula_alpha>("formula_alpha",
                                            choice<AlphaSource>({{"given", AlphaSource::given},
                                                                 {"exact", AlphaSource::exact},
                                                                 {"measured", AlphaSource::measured}}),
                                            "Where the alpha of the closed forms comes from."),
          field<&CellResult::exact_alpha>("exact_alpha", any_number(),
                                          "The acceptance rate, when it is one number in every context."),
          sparse_field<&CellResult::formula>("formula", by_metric(any_number()), "Closed forms by metric."),
          sparse_field<&CellResult::simulated>("simulated", by_metric(interval_type()),
                                               "Simulated values with intervals, by metric."),
          sparse_field<&CellResult::proved>("proved", list(metric_type()),
                                            "Those of \"simulated\" that stand for a proof."),
          sparse_field<&CellResult::verdict>("verdict", by_metric(reproduction_type()),
                                             "How printed values relate to the formula."),
          sparse_field<&CellResult::agreement>("agreement", map(boolean()),
                                               "Whether the formula lies within the simulated interval."),
          field<&CellResult::rule>("rule", kind_of(rule_family()), "The rule, with measured parameters."),
          field<&CellResult::engine>("engine", engine_type(), "How decoding ran."),
          Field{.name = "counts",
                .type = counts_type().type,
                .sentence = "Counts of work.",
                .at = [](void* cell) -> void* {
                  auto& counts = static_cast<CellResult*>(cell)->counts;
                  return counts.rounds || counts.contexts ? &counts : nullptr;
                },
                .create = [](void* cell) -> void* { return &static_cast<CellResult*>(cell)->counts; }},
          sparse_field<&CellResult::positions>("positions", list(position_type()),
                                               "Acceptance at each drafted position, 1 to gamma.")};
}

/// Cells of an experiment: what all cells have, and the experiment's own part.
Typed<CellResult> cell_type(const Experiment& experiment) {
  std::vector<Field> fields = cell_fields();
  if (const TypePtr own = experiment.own_result()) {
    Field field{.name = experiment.own_key(), .type = own, .sentence = own->object()->sentence()};
    field.at = [](void* cell) -> void* { return static_cast<CellResult*>(cell)->own.get(); };
    field.create = [own](void* cell) -> void* {
      return (static_cast<CellResult*>(cell)->own = own->object()->make()).get();
    };
    fields.push_back(std::move(field));
  }
  return object<CellResult>("cell", "One cell of the grid.", std::move(fields));
}

Typed<Result> result_type(const Experiment& experiment) {
  return object<Result>(
      "result", "What a config gave.",
      {required(field<&Result::version>("speclab", text(), "Version of the program.")),
       required(field<&Result::title>("title", text(), "Title of tables and of the report.")),
       required(field<&Result::config>("config", config_type(), "The config with every default.")),
       required(field<&Result::interval_confidence>("interval_confidence", any_number(),
                                                    "Confidence of each interval.")),
       required(field<&Result::partial>("partial", boolean(), "True after an interrupt.")),
       required(field<&Result::cells>("cells", list(cell_type(experiment)), "The cells of the grid."))});
}

}  // namespace

const Typed<Interval>& interval_type() {
  static const auto type =
      object<Interval>("interval", "A value with its interval.",
                       {field<&Interval::estimate>("value", any_number(), "The estimate."),
                        field<&Interval::low>("low", any_number(), "Lower end; null: unbounded."),
                        field<&Interval::high>("high", any_number(), "Upper end; null: unbounded.")});
  return type;
}

const char* words(Reproduction verdict) {
  switch (verdict) {
    case Reproduction::reproduces:
      return "reproduces";
    case Reproduction::within_input_rounding:
      return "within input rounding";
    case Reproduction::does_not_reproduce:
      return "does not reproduce";
  }
  return "";
}

std::vector<PositionResult> position_results(const std::vector<Tally>& batches, int gamma,
                                             double confidence) {
  std::vector<PositionResult> positions;
  for (const PositionAcceptance& at : acceptance_by_position(batches, gamma, confidence))
    positions.push_back({at.unconditional, at.conditional});
  return positions;
}

const std::string* printed_value(const CellResult& cell, Metric metric) {
  for (const auto& [name, value] : cell.printed) {
    if (name == metric_name(metric)) return &value;
  }
  return nullptr;
}

Json result_json(const Result& result) {
  Json json;
  write(result_type(*result.config.experiment), result, json);
  return json;
}

Result read_result(const Json& json) {
  const auto config = json.is_object() ? json.find("config") : json.end();
  if (!json.is_object() || config == json.end()) throw ConfigError("/config", "missing: not a result");
  const Config read_first = read_config(*config);
  return read(result_type(*read_first.experiment), json, "");
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
                                     double confidence) {
  ByMetric<Interval> simulated;
  for (const Estimate& estimate : estimates(batches, cost, confidence)) {
    const auto metric = metric_named(estimate.name);
    if (estimate.interval && metric) simulated.emplace_back(*metric, *estimate.interval);
  }
  return simulated;
}

}  // namespace speclab
