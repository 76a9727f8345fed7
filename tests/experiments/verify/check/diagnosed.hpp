// A pair on which every planted fault shows, and the diagnosis of a rule's sequences on it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/verify/check/diagnosis.hpp"
#include "sim/sequences.hpp"
#include "tests/experiments/rule_of.hpp"

namespace speclab {

constexpr int diagnosed_gamma = 2;
constexpr int diagnosed_length = 3;

/// Returns the pair of mutants_slow_test.cpp.
inline Setup diagnosed_setup(const std::string& rule, int seed = 23) {
  ModelFactory factory;
  return build_setup(
      read_config({{"title", "diagnosis"},
                   {"seed", seed},
                   {"models",
                    {{"target", {{"kind", "table"}, {"rows", {{5, 3, 2}, {1, 4, 5}, {0, 6, 4}}}}},
                     {"draft", {{"kind", "table"}, {"rows", {{1, 3, 6}, {7, 2, 1}, {2, 2, 6}}}}}}},
                   {"rule", {{"kind", rule}}},
                   {"gamma", diagnosed_gamma}}),
      factory);
}

/// Returns 100,000 sequences that the rule emits.
inline std::vector<Token> diagnosed_samples(const Setup& setup) {
  SimulationSize simulation = setup.simulation;
  simulation.trials = 100000;
  return speculative_sequences(setup.target, setup.draft, setup.rule.sampled, diagnosed_gamma, simulation,
                               diagnosed_length, Control{});
}

/// Returns the candidates for the pair, which are the same for every rule and seed.
inline const std::vector<CandidateLaw>& diagnosed_laws() {
  static const std::vector<CandidateLaw> laws =
      candidate_laws(diagnosed_setup("token"), diagnosed_gamma, diagnosed_length, Candidates::all, Control{});
  return laws;
}

inline std::vector<LikelihoodFit> diagnosis_of(const std::string& rule, int seed = 23) {
  const Setup setup = diagnosed_setup(rule, seed);
  return diagnose(diagnosed_laws(), setup.target.vocab(), diagnosed_length, diagnosed_samples(setup));
}

inline bool names(const LikelihoodFit& fit, const std::string& rule) {
  return fit.name == rule || std::find(fit.also.begin(), fit.also.end(), rule) != fit.also.end();
}

}  // namespace speclab
