// Tests the distributions of the tokens that kernels emit against those computed from the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lab/kernel_check.hpp"

namespace speclab {

/// One test of a distribution, over a small vocabulary. Every row depends on the token before it.
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

/// Tests emitted tokens, after completing each request to gamma + 1 tokens by sampling from the target alone.
/// Tests all tokens jointly (Pearson, G), and each token given those before it, against the target's
/// distribution; accepted lengths and emitted tokens against the distribution of one round, computed over all
/// branches; and the share of first tokens that are accepted against sum min(p, q). If `exact` is false, the
/// tests that need the rule's own round distribution are skipped. Rules that do not keep the target's
/// distribution are tested against their own only.
DistributionTests test_distribution(const DistributionCase& distribution, const BatchRunner& runner,
                                    Implementation implementation, bool exact, std::uint64_t requests,
                                    std::int32_t requests_a_batch);

}  // namespace speclab
