// Proves one step in each context of a recording: real models' rows, cut to their most probable tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/top_rows.hpp"
#include "experiments/verify/prove/proof.hpp"

namespace speclab {

/// Proofs of a rule in many contexts.
struct RowProofs {
  RuleConfig rule;
  std::uint64_t contexts = 0;
  std::uint64_t lossless = 0;    ///< contexts with the target's distribution
  std::uint64_t candidates = 0;  ///< number of tokens of the largest row
  double largest_tv = 0, mean_tv = 0;
  double mean_acceptance = 0, min_acceptance = 0, max_acceptance = 0;
  std::optional<double> mean_bound;  ///< bound on acceptance; empty unless known in every context
  std::uint64_t branches = 0;
  std::optional<std::string> counterexample;  ///< in the first context where the rule is not lossless
  Arithmetic arithmetic = Arithmetic::floating_point;
};
SPECLAB_IS_DESCRIBED(RowProofs);

/// Returns the task of a context, with one position: both rows over the union of their tokens, as under top-k
/// sampling, from the recorded log-probabilities, normalised exactly.
ProofTask row_task(const TopRows& rows, const RuleConfig& rule);

/// Proves the rule in each context. Throws UsageError if one has more than `limit` branches (empty:
/// `branch_limit`).
RowProofs prove_rows(const std::vector<TopRows>& rows, const RuleConfig& rule, Arithmetic arithmetic,
                     std::optional<double> limit);

Listing row_proofs_text(const RowProofs& proofs);
std::string row_proofs_headline(const RowProofs& proofs);

}  // namespace speclab
