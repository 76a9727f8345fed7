#include "experiments/verify/exact/exact_task.hpp"

#include <algorithm>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/until.hpp"

namespace speclab {

namespace {

int memory_of(const Model& model, const char* path) {
  if (const auto memory = model.memory()) return *memory;
  throw ConfigError(
      path,
      "reads contexts of any length; exact needs models that read a fixed number of tokens: tables, n-grams and mixtures of them");
}

/// Returns a model's grammar. Throws ConfigError for other sampling options that remember.
Grammar grammar_of(const ModelConfig& model, const Config& config) {
  RequestLaw others = sampling_of(model, config.sampling);
  Grammar grammar = std::exchange(others.grammar, {});
  if (!others.remembers()) return grammar;
  throw ConfigError(
      sampling_path(model),
      "exact follows a grammar, but no penalty and no \"min_tokens\", whose rows depend on every token before them; \"run\" simulates them, and \"prove\" enumerates short texts");
}

/// Throws ConfigError, before models are built, for a config that `speclab exact` cannot analyse.
void check_exact(const Config& config) {
  check_setup(config);
  // Only rules of trees have measured parameters (the shape), and exact does not support trees.
  if (config.rule.entry().measure || !make_rule(config.rule, 1).sampled->decides_by_position()) {
    throw ConfigError(
        "/rule/kind",
        "exact needs a rule of one draft that decides position by position, such as token or lenience; this one looks at several positions or drafts at once");
  }
  require_every_gamma(config.rule, "exact");
}

/// Returns the number of tokens on which the models' rows depend, besides the grammars.
int memory_of(ExactTask& task) {
  std::shared_ptr<const Setup> setup = task.setup;
  if (task.has_grammar()) {
    Config config = *task.config;
    config.sampling = {};
    config.models->target.sampling.reset();
    config.models->draft.sampling.reset();
    setup = task.jobs.setup(config);
  }
  return std::max(memory_of(setup->target, "/models/target"), memory_of(setup->draft, "/models/draft"));
}

ContextChain chain_of(const ExactTask& task) {
  const Setup& setup = *task.setup;
  TextKey key;
  if (task.has_grammar()) {
    key = [&](std::span<const Token> text) {
      std::vector<Token> found;
      for (const Grammar* grammar : {&task.target_grammar, &task.draft_grammar}) {
        if (grammar->empty()) continue;
        const GrammarState& state = state_after(*grammar, task.emitted(text));
        found.push_back(static_cast<Token>(&state - grammar->data()));
      }
      const auto last = text.last(std::min(text.size(), static_cast<std::size_t>(task.memory)));
      found.insert(found.end(), last.begin(), last.end());
      return found;
    };
  }
  try {
    return build_context_chain(setup.target, setup.draft, setup.rule.enumerated, task.memory,
                               setup.simulation.prompts, {}, key);
  } catch (const ChainError& error) {
    throw ConfigError("/models", error.what());
  }
}

}  // namespace

ExactTask::ExactTask(const Config& given, bool simulates) : simulate(simulates) {
  refuse_many_cells(given, "exact analyses");
  refuse_until(given, "exact computes without error, and simulates a fixed number of trials in addition");
  check_exact(given);
  if (simulate) check_fast_engine(given);
  const auto whole = std::make_shared<Config>(given);
  whole->add_section("search");
  config = whole;
  target_grammar = grammar_of(whole->models->target, *whole);
  draft_grammar = grammar_of(whole->models->draft, *whole);
  setup = jobs.setup(*whole);
  memory = memory_of(*this);
  chain = chain_of(*this);
  max_gamma = whole->section<SearchSection>().max_gamma;
}

std::vector<double> ExactTask::start_distribution() const {
  std::vector<double> distribution(chain.contexts.size());
  const std::uint32_t trials = setup->simulation.trials;
  for (std::uint32_t trial = 0; trial < trials; ++trial)
    distribution[static_cast<std::size_t>(chain.starts[trial % chain.starts.size()])] += 1.0 / trials;
  return distribution;
}

}  // namespace speclab
