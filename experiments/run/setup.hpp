// Builds a cell's set-up: its models, its rule, and the size of its simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/simulation_config.hpp"
#include "experiments/run/until.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Everything that a cell with "models" decodes with.
struct Setup {
  Model target;  ///< includes its sampling options, unless `argmax_target`
  Model draft;   ///< includes its sampling options
  RulePrograms rule;
  RuleConfig rule_config;  ///< the rule's config, including parameters measured on the models
  std::shared_ptr<const Vocabulary> vocabulary = {};  ///< the target's; null without text
  SimulationSize simulation;                          ///< includes its prompts
  std::optional<WantedInterval> wanted = {};          ///< simulation.until; empty: fixed size
  std::optional<double> exact_alpha = {};             ///< rule's acceptance rate, if equal in every context
  Engine engine = Engine::automatic;
  bool argmax_target = false;  ///< the target is the argmax of its rows, and the rule computes it
};

/// Returns a context as text: its tokens, or how many they are.
std::string context_words(std::span<const Token> context);

/// Returns a simulation's size, without prompts.
SimulationSize simulation_size(const ConfigReader& config);

/// Returns the facts that are known about a target or draft before it is built. Throws ConfigError for a
/// model that cannot be built, and without models.
ModelFacts facts_of_model(const ConfigReader& config, bool draft);

/// Throws ConfigError for everything that build_setup can refuse without building a model.
void check_setup(const ConfigReader& config);

/// Returns the request to build a config's model. `target` is null for the target itself.
ModelRequest model_request(const ConfigReader& config, ModelFactory& factory, const Model* target);

/// Returns a config's prompts for a target with `vocab` tokens and the words of `vocabulary` (null: none).
/// Throws ConfigError for tokens outside the vocabulary, and for text without a vocabulary.
std::vector<std::vector<Token>> build_prompts(const ConfigReader& config, ModelFactory& factory,
                                              const Vocabulary* vocabulary, std::int32_t vocab);

/// Builds the set-up. Throws ConfigError if parts do not fit: an unreadable file, different vocabularies, an
/// unreachable alpha, a prompt token outside the vocabulary.
Setup build_setup(const ConfigReader& config, ModelFactory& factory);
/// Builds a set-up that shares nothing with others.
Setup build_setup(const ConfigReader& config);

/// Builds the set-up of recorded models; returns nothing if neither model is recorded. Trials start at
/// positions spread evenly over the text, which is read as a circle of sequences. Throws ConfigError for
/// everything that two columns do not determine: rules other than token verification, sampling options, other
/// drafts, prompts, experiments that need rows or tokens.
std::optional<Setup> recorded_setup(const ConfigReader& config, ModelFactory& factory);

/// Returns true if the models are recorded. Throws ConfigError as recorded_setup does.
bool is_recorded(const ConfigReader& config);

/// Throws ConfigError, naming `experiment`, for a rule that drafts several sequences or a tree.
void require_one_draft(const RuleConfig& rule, const std::string& experiment);

}  // namespace speclab
