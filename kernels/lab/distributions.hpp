// Compares distributions of the tokens that kernels emit with distributions computed from the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lab/kernel_check.hpp"

namespace speclab {

/// One test of a distribution, over a small vocabulary, in which every row depends on the token before it.
struct DistributionCase {
  std::int32_t vocab = 8;
  std::int32_t gamma = 3;
  Dtype dtype = Dtype::f32;
  VerifyRule rule;
  std::uint64_t seed = 20;
};

/// p-values by name, and the distance of the rule's distribution.
struct DistributionTests {
  std::vector<std::pair<std::string, double>> p_values;
  /// Total variation between the first gamma + 1 tokens and the target's; 0 for exact rules.
  double total_variation = 0;
  /// False if a result has no token; then nothing else is tested.
  bool valid = true;

  double least() const;
};

/// Returns whether the rule keeps the target's distribution.
bool keeps_distribution(KernelRule method);

/// Tests emitted tokens, which are filled up to gamma + 1 by plain decoding of the target if the round ended
/// before. All tokens jointly (Pearson, G), and each token given those before it, are compared with plain
/// decoding; accepted lengths and emitted tokens with the distribution of one round, followed along every
/// branch; the share of first tokens that are accepted with sum min(p, q). With `exact` false, tests that
/// need the rule's own round distribution are skipped. Rules that do not keep the target's distribution are
/// compared only with their own.
DistributionTests test_distribution(const DistributionCase& distribution, const BatchRunner& runner,
                                    Implementation implementation, bool exact, std::uint64_t requests,
                                    std::int32_t requests_a_batch);

}  // namespace speclab
