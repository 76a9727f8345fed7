// Distributions of what kernels emit, against distributions computed from the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lab/kernel_check.hpp"

namespace speclab {

/// One test of a distribution: a small vocabulary, in which every row depends on the token before.
struct DistributionCase {
  std::int32_t vocab = 8;
  std::int32_t gamma = 3;
  Dtype dtype = Dtype::f32;
  VerifyRule rule;
  std::uint64_t seed = 20;
};

/// p-values by name, and what the rule's distribution is.
struct DistributionTests {
  std::vector<std::pair<std::string, double>> p_values;
  double total_variation = 0;  ///< of the first gamma + 1 tokens to the target's: 0 for exact rules
  bool valid = true;           ///< false where a result is without a token: nothing else is then tested

  double least() const;
};

/// Whether the rule leaves the target's distribution as it is.
bool keeps_distribution(KernelRule method);

/// Emitted tokens, filled up to gamma + 1 by plain decoding of the target where the round ended before:
/// jointly (Pearson, G), and each token given those before it, against plain decoding. Accepted lengths and
/// emitted tokens against the distribution of one round, followed along every branch. The share of first
/// tokens that are accepted against sum min(p, q). With `exact` false only what does not ask for the rule's
/// own distribution. Rules that do not keep the distribution are compared with their own alone.
DistributionTests test_distribution(const DistributionCase& distribution, const BatchRunner& runner,
                                    Implementation implementation, bool exact, std::uint64_t requests,
                                    std::int32_t requests_a_batch);

}  // namespace speclab
