// What one cell runs: the models and the rule that its config names, and how much of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/simulation_config.hpp"
#include "experiments/run/until.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The models, ready to decode, and everything else that a cell of "models" needs.
struct Setup {
  Model target;  ///< with its sampling options, unless `argmax_target`
  Model draft;   ///< with its sampling options
  RulePrograms rule;
  RuleConfig rule_config;  ///< as the config has it, with parameters that were measured on the models
  std::shared_ptr<const Vocabulary> vocabulary = {};  ///< of the target; null without text
  SimulationSize simulation;                          ///< with its prompts
  std::optional<WantedInterval> wanted = {};          ///< when the simulation ends, unless it is of one size
  std::optional<double> exact_alpha =
      {};  ///< the rule's acceptance rate, when it is one number in every context
  Engine engine = Engine::automatic;
  bool argmax_target = false;  ///< the target means the argmax of its rows, which the rule takes itself
};

/// The size of the simulation of a config, without its prompts.
SimulationSize simulation_size(const ConfigReader& config);

/// What a config says of its target or draft before it is built. Throws ConfigError for a model that cannot
/// be built, and for a config without models.
ModelFacts facts_of_model(const ConfigReader& config, bool draft);

/// Throws ConfigError for whatever build_setup can refuse without building a model.
void check_setup(const ConfigReader& config);

/// What models of a config are built from. `target` is null for the target itself.
ModelRequest model_request(const ConfigReader& config, ModelFactory& factory, const Model* target);

/// The prompts of a config for a target with `vocab` tokens and, when `vocabulary` is not null, these words.
/// Throws ConfigError for tokens outside the vocabulary, and for text without one.
std::vector<std::vector<Token>> build_prompts(const ConfigReader& config, ModelFactory& factory,
                                              const Vocabulary* vocabulary, std::int32_t vocab);

/// Builds what the config names. Throws ConfigError where parts do not fit: a file that cannot be read,
/// vocabularies that differ, an alpha that cannot be reached, a prompt token outside the vocabulary.
Setup build_setup(const ConfigReader& config, ModelFactory& factory);

/// The same of recorded models; nothing when neither model is recorded. Trials start at positions spread
/// evenly over the text, which goes on from one sequence to the next and from the last to the first. Throws
/// ConfigError for whatever does not follow from two columns: another rule than token verification, sampling
/// options, other drafts, prompts, experiments that look at rows or tokens.
std::optional<Setup> recorded_setup(const ConfigReader& config, ModelFactory& factory);

/// Whether the models of a config are recorded. Throws ConfigError as recorded_setup does.
bool is_recorded(const ConfigReader& config);

/// Throws ConfigError, naming the experiment, for a rule that drafts several sequences or a tree.
void require_one_draft(const RuleConfig& rule, const std::string& experiment);

}  // namespace speclab
