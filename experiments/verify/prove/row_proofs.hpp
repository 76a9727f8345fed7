// Proves one step in the contexts of a recording: rows of real models, cut to their most probable tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/top_rows.hpp"
#include "experiments/verify/prove/proof.hpp"

namespace speclab {

/// The proofs of one rule in many contexts.
struct RowProofs {
  RuleConfig rule;
  std::uint64_t contexts = 0;
  std::uint64_t lossless = 0;    ///< contexts in which the distribution is the target's
  std::uint64_t candidates = 0;  ///< tokens of the largest row
  double largest_tv = 0;
  double mean_acceptance = 0, least_acceptance = 0, most_acceptance = 0;
  std::optional<double> mean_bound;  ///< bound for lossless rules; empty unless known in every context
  std::uint64_t branches = 0;
  std::optional<std::string> counterexample;  ///< from the first context where the rule is not lossless
  Arithmetic arithmetic = Arithmetic::floating_point;
};
template <>
const Typed<RowProofs>& described();

/// Returns the task of a context: both rows over the union of their tokens, as top-k sampling has them. Each
/// row holds probabilities whose logarithms were recorded, normalised exactly. The round has one position.
ProofTask row_task(const TopRows& rows, const RuleConfig& rule);

/// Proves the rule in each context. Throws UsageError if a context has more than `limit` branches
/// (`branch_limit` if it is empty).
RowProofs prove_rows(const std::vector<TopRows>& rows, const RuleConfig& rule, Arithmetic arithmetic,
                     std::optional<double> limit);

Listing row_proofs_text(const RowProofs& proofs);
std::string row_proofs_headline(const RowProofs& proofs);

}  // namespace speclab
