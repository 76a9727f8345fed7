// Prepares what the analyses of all closed classes share: a config's set-up, and its chain over contexts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/exact/context_chain.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"

namespace speclab {

struct Config;

struct ExactTask {
  /// Throws ConfigError for a config that `speclab exact` cannot analyse (analyse_exactly).
  ExactTask(const Config& given, bool simulates);

  std::shared_ptr<const Config> config;  ///< includes the section "search"
  bool simulate;
  JobList jobs;
  std::shared_ptr<const Setup> setup;
  Grammar target_grammar, draft_grammar;  ///< empty without one
  int memory = 0;                         ///< tokens that rows depend on, besides grammars
  ContextChain chain;
  int max_gamma = 0;
  double confidence = 0;  ///< of each interval

  bool has_grammar() const { return !target_grammar.empty() || !draft_grammar.empty(); }
  /// Returns the tokens after a text's prompt, which grammars follow. All prompts have one length.
  std::span<const Token> emitted(std::span<const Token> text) const {
    return text.subspan(setup->simulation.prompts.front().size());
  }
  /// Returns the distribution of contexts at which the simulation's trials start.
  std::vector<double> start_distribution() const;
};

}  // namespace speclab
