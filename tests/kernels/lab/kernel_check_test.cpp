#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/lab/distributions.hpp"
#include "kernels/lab/kernel_check.hpp"
#include "kernels/lab/made_overlap.hpp"
#include "tests/bounds.hpp"
#include "tests/kolmogorov_smirnov.hpp"

using namespace speclab;

namespace {

constexpr Implementation any_implementation = Implementation::fused;
constexpr std::uint64_t requests = 8000;
constexpr std::int32_t requests_a_batch = 500;

/// Returns a runner that decides by the reference in a kernel's place and then applies `fault` to the result.
template <class Fault>
BatchRunner reference_with(const Fault& fault) {
  return [fault](Implementation, const VerifyBatch& batch) {
    const auto verdicts = verify_reference(batch);
    for (std::int32_t i = 0; i < batch.requests; ++i) {
      const ReferenceDecision& verdict = verdicts[static_cast<std::size_t>(i)];
      batch.accepted[i] = verdict.accepted;
      batch.next[i] = verdict.next;
      batch.flags[i] = 0;
      fault(batch, i);
    }
  };
}

const BatchRunner reference = reference_with([](const VerifyBatch&, std::int32_t) {});

DistributionCase distribution_case(const VerifyRule& rule) { return {8, 3, Dtype::f32, rule, test_seed(20)}; }

double min_p(const BatchRunner& runner, const VerifyRule& rule, bool exact = true) {
  return test_distribution(distribution_case(rule), runner, any_implementation, exact, requests,
                           requests_a_batch)
      .least();
}

KernelCheckOptions small_options() {
  KernelCheckOptions options;
  options.implementations = {implementations().front()};
  options.dtypes = {Dtype::bf16};
  return options;
}

bool all_passed(const std::vector<KernelCheckRow>& rows) {
  for (const KernelCheckRow& row : rows) {
    if (row.outcome == CheckOutcome::failed) MESSAGE(row.test << ": " << row.detail);
  }
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const KernelCheckRow& row) {
    return row.outcome == CheckOutcome::passed;
  });
}

}  // namespace

TEST_CASE("the reference has the distributions that it is tested for") {
  for (const VerifyRule& rule : checked_rules()) {
    CAPTURE(rule_name(rule));
    const DistributionTests tests = test_distribution(distribution_case(rule), reference, any_implementation,
                                                      true, requests, requests_a_batch);
    CHECK(tests.p_values.size() == (keeps_distribution(rule.method) ? 10 : 3));
    CHECK(tests.least() > p_value_bound);
    CHECK(tests.total_variation == 0);
  }
}

TEST_CASE("p-values of tests of distributions are uniform") {
  // Each seed gives one p-value, so that they are independent.
  std::vector<double> first_accepted;
  std::vector<double> jointly;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const DistributionTests tests =
        test_distribution({17, 2, Dtype::f32, {}, test_seed(100) + seed}, reference, any_implementation, true,
                          2000, requests_a_batch);
    jointly.push_back(tests.p_values.front().second);
    first_accepted.push_back(tests.p_values.back().second);
  }
  CHECK(kolmogorov_smirnov(jointly).p > p_value_bound);
  CHECK(kolmogorov_smirnov(first_accepted).p > p_value_bound);
  MESSAGE("Kolmogorov-Smirnov p: " << kolmogorov_smirnov(jointly).p << " and "
                                   << kolmogorov_smirnov(first_accepted).p);
}

TEST_CASE("planted faults are found by the tests of distributions") {
  const VerifyRule token;
  // A fault: the next token of every 16th request is the id above it.
  CHECK(min_p(reference_with([](const VerifyBatch& batch, std::int32_t i) {
                if (i % 16 == 0) batch.next[i] = (batch.next[i] + 1) % batch.vocab;
              }),
              token) < p_value_bound);
  // A fault: every 16th rejection is dropped; the token after it stays.
  CHECK(min_p(reference_with([](const VerifyBatch& batch, std::int32_t i) {
                if (i % 16 == 0 && batch.accepted[i] < batch.gamma) ++batch.accepted[i];
              }),
              token) < p_value_bound);
  // A fault: block verification decided token by token has the target's distribution, but not its own
  // accepted lengths.
  const auto by_tokens = [](Implementation which, const VerifyBatch& batch) {
    VerifyBatch other = batch;
    other.rule = VerifyRule{};
    reference(which, other);
  };
  VerifyRule block;
  block.method = KernelRule::block;
  const DistributionTests tests = test_distribution(distribution_case(block), by_tokens, any_implementation,
                                                    true, requests, requests_a_batch);
  for (const auto& [name, p] : tests.p_values) {
    CAPTURE(name);
    if (name == "accepted length" || name == "emitted tokens") {
      CHECK(p < p_value_bound);
    } else if (name.starts_with("token")) {
      CHECK(p > p_value_bound);
    }
  }
  // A result without a token fails the test, but does not refute a rule.
  const BatchRunner without_token = reference_with([](const VerifyBatch& batch, std::int32_t i) {
    if (i == 7) batch.next[i] = invalid_token;
  });
  CHECK(min_p(without_token, token) == 0);
  CHECK_FALSE(test_distribution(distribution_case({}), without_token, any_implementation, false, requests,
                                requests_a_batch)
                  .valid);
}

TEST_CASE("a rule with another distribution is refuted, and its distance stated") {
  // With the paper's constants the sigmoid does this: it accepts nearly everything.
  const BatchRunner keeps_all =
      reference_with([](const VerifyBatch& batch, std::int32_t i) { batch.accepted[i] = batch.gamma; });
  const DistributionTests tests = test_distribution(distribution_case({}), keeps_all, any_implementation,
                                                    false, requests, requests_a_batch);
  CHECK(tests.least() < p_value_bound);
  CHECK(tests.total_variation > 0.1);
  CHECK(tests.total_variation < 1);
}

TEST_CASE("fused kernels pass in the emulator; runners that decide otherwise do not") {
  const KernelCheckOptions options = small_options();
  CHECK(all_passed(check_edges(options)));
  CHECK(all_passed(check_bits(options)));

  RequestBatch host({6, 3, 300, Dtype::bf16}, 5);
  host.make({1, 3, 1});
  host.run(runner_of(CheckPlace::emulator), Implementation::fused);
  CHECK(decision_agreement(Implementation::fused, host.batch).different == 0);
  ++host.batch.accepted[3];
  CHECK(decision_agreement(Implementation::fused, host.batch).different == 1);
}

TEST_CASE("the fused kernel in the emulator has the target's distribution") {
  const DistributionTests tests =
      test_distribution({8, 2, Dtype::bf16, {}, test_seed(20)}, runner_of(CheckPlace::emulator),
                        Implementation::fused, true, 1000, 64);
  CHECK(tests.least() > p_value_bound);
}

TEST_CASE("what was tested is said in a few lines") {
  KernelCheckReport report;
  report.level = 0.001;
  report.requests = 1000;
  report.failures = 1;
  report.rows = {{"edge: a", "fused", Dtype::f32, CheckOutcome::passed, ""},
                 {"edge: b", "fused", Dtype::f32, CheckOutcome::failed, "accepted 7"},
                 {"edge: c", "fused", Dtype::f32, CheckOutcome::passed, ""},
                 {"distribution, block", "fused", Dtype::f32, CheckOutcome::left_out,
                  "verifies by the token rule only"}};
  const std::string text = kernel_check_text(report);
  CHECK(text.find("passed    fused, f32: edges: 2\n") != std::string::npos);
  CHECK(text.find("FAILED    fused, f32: edge: b: accepted 7\n") != std::string::npos);
  CHECK(text.find("left out  fused, f32: verifies by the token rule only: 1\n") != std::string::npos);
  CHECK(text.find("1 of 4 rows failed") != std::string::npos);
}
