// `speclab prove --all`: proves every rule on the same random instances, in exact arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/verify/prove/proof.hpp"
#include "sim/control.hpp"

namespace speclab {

/// A rule with one choice of parameters.
struct SurveyTask {
  const RuleKind* kind = nullptr;
  const SurveyedRule* rule = nullptr;
};
/// Returns all parameters to examine, in the catalogue's order, lossy rules last.
std::vector<SurveyTask> survey_tasks();

/// Returns instance `number` for a rule, addressed by (seed, number): order-0 or order-1 tables of small
/// fractions over 2..4 ids, among them zeros, point masses, equal rows and disjoint supports; gamma 1..3 and
/// 1..3 drafts, lowered until there are few branches. For rules that are lossless at temperature 0, target
/// rows are point masses.
ProofTask survey_instance(const SurveyTask& survey, std::uint64_t seed, std::uint32_t number);

/// The instance on which a rule differs most from the target.
struct SurveyCounterexample : Counterexample {
  std::string command;  ///< command that shows the instance
};

/// The expected tokens that a rule emits, divided by the most that a lossless scheme emits with the same
/// drafted tokens (analysis/exact/optimum.hpp).
struct OptimumShare {
  std::uint64_t proved = 0;    ///< instances whose optimum is proved in fractions
  std::uint64_t attained = 0;  ///< of these, instances where the rule emits exactly the optimum
  std::uint64_t above = 0;     ///< of these, instances where it emits more, so cannot be lossless
  double mean = 0;             ///< mean share over all instances
  double least = 0;
  double most = 0;
  /// Command for the instance with the largest share if that is above 1, else with the smallest; empty if all
  /// attain the optimum.
  std::string command;
};

struct SurveyRow {
  std::string rule;  ///< label of the rule
  ExpectedLossless expected = ExpectedLossless::never;
  bool as_expected = false;  ///< lossless on every instance, if that is expected
  std::uint64_t instances = 0;
  std::uint64_t lossless = 0;  ///< instances on which it is lossless
  ProofNumber worst_tv;
  double mean_tv = 0;
  double mean_acceptance = 0;
  double mean_optimal_transport_bound = 0;
  std::uint64_t branches = 0;
  std::optional<OptimumShare> optimum;  ///< if requested, for rules with an optimum
  std::optional<SurveyCounterexample> counterexample;
};

struct Survey {
  std::uint64_t instances = 0;
  std::uint64_t seed = 1;
  Arithmetic arithmetic = Arithmetic::rational;
  bool partial = false;
  std::vector<SurveyRow> rules;
  bool as_expected = false;  ///< true if every rule is as expected
};
SPECLAB_IS_DESCRIBED(Survey);

/// Proves every surveyed rule on `instances` instances; with `optimum` also computes optima. Progress counts
/// instances; a stop leaves the result partial.
Survey prove_all(std::uint32_t instances, std::uint64_t seed, bool optimum, const Control& control);

Listing survey_text(const Survey& survey);
std::string survey_headline(const Survey& survey);
/// Returns a figure of each rule's acceptance beside the optimal transport bound.
std::vector<Figure> survey_figures(const Survey& survey);

}  // namespace speclab
