// Builds what one cell runs: the models and the rule that its config names, and the size of the simulation.
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

/// The models, ready to decode, and everything else that a cell with "models" needs.
struct Setup {
  Model target;  ///< includes its sampling options, unless `argmax_target`
  Model draft;   ///< includes its sampling options
  RulePrograms rule;
  RuleConfig rule_config;  ///< the config's rule, with parameters that were measured on the models
  std::shared_ptr<const Vocabulary> vocabulary = {};  ///< the target's; null without text
  SimulationSize simulation;                          ///< includes its prompts
  std::optional<WantedInterval> wanted = {};  ///< interval at which the simulation ends; empty: fixed size
  std::optional<double> exact_alpha = {};  ///< the rule's acceptance rate, if it is the same in every context
  Engine engine = Engine::automatic;
  bool argmax_target = false;  ///< the target is the argmax of its rows, which the rule computes
};

/// Returns the size of a config's simulation, without its prompts.
SimulationSize simulation_size(const ConfigReader& config);

/// Returns the facts about a config's target or draft that are known before it is built. Throws ConfigError
/// for a model that cannot be built, and for a config without models.
ModelFacts facts_of_model(const ConfigReader& config, bool draft);

/// Throws ConfigError for everything that build_setup can refuse without building a model.
void check_setup(const ConfigReader& config);

/// Returns the request from which a model of a config is built. `target` is null for the target itself.
ModelRequest model_request(const ConfigReader& config, ModelFactory& factory, const Model* target);

/// Returns the prompts of a config for a target with `vocab` tokens and the words of `vocabulary` (null: no
/// words). Throws ConfigError for tokens outside the vocabulary, and for text without a vocabulary.
std::vector<std::vector<Token>> build_prompts(const ConfigReader& config, ModelFactory& factory,
                                              const Vocabulary* vocabulary, std::int32_t vocab);

/// Builds the models and the rule that the config names. Throws ConfigError if parts do not fit: a file that
/// cannot be read, vocabularies that differ, an alpha that cannot be reached, a prompt token outside the
/// vocabulary.
Setup build_setup(const ConfigReader& config, ModelFactory& factory);

/// Builds the set-up of recorded models; returns nothing if neither model is recorded. Trials start at
/// positions spread evenly over the text, which continues from one sequence to the next and from the last to
/// the first. Throws ConfigError for everything that does not follow from two columns: another rule than
/// token verification, sampling options, other drafts, prompts, experiments that need rows or tokens.
std::optional<Setup> recorded_setup(const ConfigReader& config, ModelFactory& factory);

/// Returns true if the models of a config are recorded. Throws ConfigError as recorded_setup does.
bool is_recorded(const ConfigReader& config);

/// Throws ConfigError, naming `experiment`, for a rule that drafts several sequences or a tree.
void require_one_draft(const RuleConfig& rule, const std::string& experiment);

}  // namespace speclab
