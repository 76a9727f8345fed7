// `speclab prove --all`: every rule on the same random instances, in exact arithmetic.
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
/// What the rules of the catalogue want examined, in its order, lossy rules last.
std::vector<SurveyTask> survey_tasks();

/// Instance `number` of a survey for one rule: order-0 or order-1 tables of small fractions over 2..4 ids,
/// with zeros, point masses, equal rows and disjoint supports among them; gamma 1..3 and 1..3 drafts, lowered
/// until the branches are few. Addressed by (seed, number). For rules that are lossless at temperature 0 the
/// target's rows are points.
ProofTask survey_instance(const SurveyTask& survey, std::uint64_t seed, std::uint32_t number);

/// The instance where a rule is furthest from the target.
struct SurveyCounterexample : Counterexample {
  std::string command;  ///< what a reader types to see it again
};

/// Tokens that a rule emits, as a share of the most that any lossless scheme emits given what the rule drafts
/// (analysis/exact/optimum.hpp).
struct OptimumShare {
  std::uint64_t proved = 0;    ///< instances whose optimum is proved in fractions
  std::uint64_t attained = 0;  ///< of these, those where the rule emits exactly so much
  std::uint64_t above = 0;     ///< of these, those where it emits more, and so cannot be lossless
  double mean = 0;             ///< over all instances
  double least = 0;
  double most = 0;
  /// The instance of the most, if above 1, else of the least; empty when all are attained.
  std::string command;
};

struct SurveyRow {
  std::string rule;  ///< its label
  ExpectedLossless expected = ExpectedLossless::never;
  bool as_expected = false;  ///< lossless on every instance, where that is expected
  std::uint64_t instances = 0;
  std::uint64_t lossless = 0;  ///< instances
  ProofNumber worst_tv;
  double mean_tv = 0;
  double mean_acceptance = 0;
  double mean_optimal_transport_bound = 0;
  std::uint64_t branches = 0;
  std::optional<OptimumShare> optimum;           ///< where it was asked for, of rules with an optimum
  std::optional<std::uint64_t> within_p_over_l;  ///< instances where the first token stayed at most at p/l
  std::optional<SurveyCounterexample> counterexample;
};

struct Survey {
  std::uint64_t instances = 0;
  std::uint64_t seed = 1;
  Arithmetic arithmetic = Arithmetic::rational;
  bool partial = false;
  std::vector<SurveyRow> rules;
  bool as_expected = false;  ///< of every rule
};
template <>
const Typed<Survey>& described();

/// Every surveyed rule on `instances` instances, with `optimum` beside the optimum. Progress counts
/// instances; a stop leaves the result partial.
Survey prove_all(std::uint32_t instances, std::uint64_t seed, bool optimum, const Control& control);

Listing survey_text(const Survey& survey);

}  // namespace speclab
