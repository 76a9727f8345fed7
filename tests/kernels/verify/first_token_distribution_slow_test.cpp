// Tests the distribution of the first token over many requests with the same rows: exact kernels have the
// target's, the sigmoid approximation the one that sigmoid_distribution.hpp computes.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/bounds.hpp"
#include "tests/kernels/verify/sigmoid_distribution.hpp"
#include "tests/kernels/verify/verify_comparison.hpp"
#include "tests/planned_power.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = 16;
constexpr std::int32_t requests = 1000;

/// Requests that all have the first one's rows.
struct OneDistribution : LogitBatch {
  OneDistribution() : LogitBatch({.requests = requests, .gamma = 1, .vocab = vocab}, test_seed(41)) {
    for (std::int32_t request = 1; request < requests; ++request) {
      for (Token id = 0; id < vocab; ++id) {
        target_logit(request, 0, id) = target_logit(0, 0, id);
        draft_logit(request, 0, id) = draft_logit(0, 0, id);
      }
    }
    store();
    draw();
  }

  std::vector<double> target_row() const { return probabilities(batch, true, 0, 0); }
  std::vector<double> sigmoid_row() const {
    const std::vector<double> target_logits(target.begin(), target.begin() + vocab);
    const std::vector<double> draft_logits(draft.begin(), draft.begin() + vocab);
    return sigmoid_first_token_distribution(target_logits, draft_logits, batch.rule.sigmoid_alpha,
                                            batch.rule.sigmoid_beta);
  }

  /// Returns how often each id came first.
  std::vector<std::uint64_t> first_tokens(Implementation implementation) {
    run_emulated(implementation, batch);
    std::vector<std::uint64_t> counts(vocab);
    for (std::size_t i = 0; i < requests; ++i) {
      const Token first = accepted[i] > 0 ? drafted[i] : next[i];
      ++counts.at(static_cast<std::size_t>(first));
    }
    return counts;
  }
};

}  // namespace

// Null: the first token has this distribution; false alarms at p_value_bound. Pearson's statistic, and the
// exact tails of rare classes.
TEST_CASE("long: exact kernels emit the target's distribution, and the sigmoids do not") {
  OneDistribution batch;
  batch.batch.rule.sigmoid_alpha = -1000;
  batch.batch.rule.sigmoid_beta = 1000;
  const auto target = batch.target_row();
  const auto distribution = batch.sigmoid_row();
  const auto p_value = [&](Implementation implementation, const std::vector<double>& null) {
    return fit_test(batch.first_tokens(implementation), null, minimum_expectation_for_power).p();
  };
  for (const ImplementationInfo& info : implementations()) {
    CAPTURE(info.name);
    if (info.exact) CHECK(p_value(info.implementation, target) > p_value_bound);
  }
  CHECK(p_value(Implementation::wagner_sigmoid, distribution) > p_value_bound);
  // The power was planned from the sigmoid's distribution, which these samples have.
  const PlannedTest plan = planned_fit_test(target, distribution, requests, minimum_expectation_for_power);
  CHECK(planned_power(plan, p_value_bound) > 1 - 1e-9);
  CHECK(p_value(Implementation::wagner_sigmoid, target) < p_value_bound);
}

TEST_CASE("the sigmoids' distribution where they reject often") {
  OneDistribution batch;
  batch.batch.rule.sigmoid_alpha = 4;
  batch.batch.rule.sigmoid_beta = 5;
  const auto distribution = batch.sigmoid_row();
  const auto counts = batch.first_tokens(Implementation::wagner_sigmoid);
  CHECK(fit_test(counts, distribution, minimum_expectation_for_power).p() > p_value_bound);
  std::uint64_t rejected = 0;
  for (const std::int32_t accepted : batch.accepted) rejected += accepted == 0 ? 1 : 0;
  CHECK(rejected > requests / 10);
  // Another constant has another distribution, which the test refutes.
  batch.batch.rule.sigmoid_beta = 1000;
  CHECK(fit_test(counts, batch.sigmoid_row(), minimum_expectation_for_power).p() < p_value_bound);
}
