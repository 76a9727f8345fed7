// Builds the set-up of a config whose models are recorded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/recorded.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/setup.hpp"
#include "sim/models/recorded_model.hpp"

namespace speclab {

namespace {

bool rates_alone(const ConfigReader& config) {
  return config[&Config::experiment]->recordings == Recordings::rates_alone;
}

/// Returns the names of experiments whose use of recordings is `least` or listed after it.
std::string experiments_with(Recordings least) {
  std::vector<std::string> names;
  for (const Experiment* experiment : experiments())
    if (experiment->recordings >= least) names.push_back(experiment->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void refuse_what_does_not_follow(const ConfigReader& config) {
  const Experiment& experiment = *config[&Config::experiment];
  if (experiment.recordings == Recordings::none) {
    throw ConfigError(
        "/experiment",
        "\"{}\" needs rows or tokens, which recorded models lack; these experiments run them: {}",
        experiment.name, experiments_with(Recordings::decoding));
  }
  const bool lenient_rate = rates_alone(config) && config[&Config::rule].name() == "lenient";
  if (config[&Config::rule].name() != Config().rule.name() && !lenient_rate) {
    throw ConfigError(
        config[&Config::rule].path + "/kind",
        "two columns do not determine rounds of \"{}\"; recorded models run with \"token\", and where only rates are needed (experiment {}) also with \"lenient\"; speclab plan recording --rule also takes \"block\", and rates from rows",
        config[&Config::rule].name(), experiments_with(Recordings::rates_alone));
  }
  for (const ModelConfig* model : {&config[&Config::models]->target, &config[&Config::models]->draft}) {
    if (!sampling_of(*model, config[&Config::sampling]).identity()) {
      throw ConfigError(
          model->path,
          "a recorded text has the sampling options that it was drawn with; leave them out, and record another text for others");
    }
  }
  const SimulationConfig& simulation = config[&Config::simulation];
  if (!is_empty(simulation.prompt) || simulation.prompt_tokens > 0) {
    throw ConfigError("/simulation",
                      "recorded models have no prompts; leave out \"prompt\" and \"prompt_tokens\"");
  }
}

}  // namespace

bool is_recorded(const ConfigReader& config) {
  if (!config[&Config::models]) return false;
  const auto& [target, draft] = *config[&Config::models];
  const RecordedParameters* of_target = recorded_parameters(target);
  const RecordedParameters* of_draft = recorded_parameters(draft);
  if (of_target == nullptr && of_draft == nullptr) return false;
  const ModelConfig& other = of_target == nullptr ? target : draft;
  if (of_target == nullptr || of_draft == nullptr || of_target->file != of_draft->file ||
      of_target->draft_file != of_draft->draft_file) {
    throw ConfigError(other.path,
                      "target and draft of a recording go together: both of kind \"recorded\", with the "
                      "same files");
  }
  if (of_target->column) {
    throw ConfigError(target.path + "/column", "the target's column is logp; a column is of the draft");
  }
  refuse_what_does_not_follow(config);
  return true;
}

std::optional<Setup> recorded_setup(const ConfigReader& config, ModelFactory& factory) {
  if (!is_recorded(config)) return std::nullopt;
  const auto& [target, draft] = *config[&Config::models];
  const auto ratios = recorded_ratios(*recorded_parameters(target),
                                      recorded_parameters(draft)->column.value_or(""), target.path, factory);
  SimulationSize simulation = simulation_size(config);
  simulation.prompts.clear();
  for (std::uint32_t trial = 0; trial < simulation.trials; ++trial) {
    simulation.prompts.push_back(
        RecordedModel::prompt(static_cast<std::uint32_t>(ratios->size() * trial / simulation.trials)));
  }
  using Recorded = RecordedModel;
  const bool rates = rates_alone(config);
  return Setup{
      .target = Model(Recorded(ratios, rates ? Recorded::Side::target_rate : Recorded::Side::target)),
      .draft = Model(Recorded(ratios, rates ? Recorded::Side::draft_rate : Recorded::Side::draft)),
      .rule = make_rule(config[&Config::rule], [&] { return config[&Config::gamma]; }),
      .rule_config = config[&Config::rule],
      .simulation = std::move(simulation),
      .wanted = wanted_interval(config),
      .engine = config[&Config::engine]};
}

}  // namespace speclab
