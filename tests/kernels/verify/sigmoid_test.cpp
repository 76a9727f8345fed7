// Tests the sigmoid approximation: compares the kernels with their reference, and computes how far its
// distribution is from the target's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/distribution/divergence.hpp"
#include "core/rules/sigmoid.hpp"
#include "tests/kernels/verify/sigmoid_distribution.hpp"
#include "tests/kernels/verify/verify_comparison.hpp"

using namespace speclab;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Scale constants. With the paper's, nearly nothing is rejected; from 4 to 5 a sigmoid of these logits is
/// close to an exponential, and much is rejected.
struct Scale {
  double alpha;
  double beta;

  void put(LogitBatch& logits) const {
    logits.batch.rule.sigmoid_alpha = alpha;
    logits.batch.rule.sigmoid_beta = beta;
  }
};

/// Returns the band. A sigmoid in single precision is right to about 1e-7 (Eq. 5's argument, exponential and
/// division each round), so that differences summed over the vocabulary have errors up to 2e-7 per id, and
/// ratios up to 4e-7.
double band_of(std::int32_t vocab) { return 1e-6 + 4e-7 * vocab; }

Comparison run_and_compare(LogitBatch& logits) {
  run_emulated(Implementation::wagner_sigmoid, logits.batch);
  return compare(logits, verify_sigmoid_reference(logits.batch), band_of(logits.batch.vocab));
}

std::vector<double> logits_of(const std::vector<float>& rows, std::size_t row, std::size_t vocab) {
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * vocab);
  return {first, first + static_cast<std::ptrdiff_t>(vocab)};
}

double sum(const std::vector<double>& row) {
  double total = 0;
  for (const double probability : row) total += probability;
  return total;
}

}  // namespace

TEST_CASE("verification by sigmoids decides as its reference does") {
  int requests = 0;
  int within = 0;
  int rejecting = 0;
  for (const Scale scale : {Scale{4, 5}, Scale{-10, 10}, Scale{-1000, 1000}}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 7, 64, 1000, 5000}) {
        for (const std::int32_t gamma : {0, 1, 4}) {
          CAPTURE(scale.beta);
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 3, .gamma = gamma, .vocab = vocab, .dtype = dtype}, 21);
          scale.put(logits);
          const Comparison found = run_and_compare(logits);
          CHECK(found.different == 0);
          requests += 3;
          within += found.within_band;
          for (const std::int32_t accepted : logits.accepted) rejecting += accepted < gamma ? 1 : 0;
        }
      }
    }
  }
  MESSAGE(within << " of " << requests << " decisions within the band, " << rejecting << " with a rejection");
  CHECK(within < requests / 10);
  CHECK(rejecting > 40);
}

TEST_CASE("several tiles, ragged lengths and rows that are not aligned") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    LogitBatch logits({.requests = 4, .gamma = 3, .vocab = 17001, .dtype = dtype, .padding = 3}, 22);
    const std::vector<std::int32_t> lengths = {3, 0, 2, 5};
    logits.batch.lengths = lengths.data();
    Scale{4, 5}.put(logits);
    CHECK(run_and_compare(logits).different == 0);
    CHECK(logits.flags[3] == flag_length_out_of_range);
  }
}

TEST_CASE("the comparison finds other scale constants") {
  LogitBatch logits({.requests = 20, .gamma = 3, .vocab = 64}, 23);
  Scale{4, 5}.put(logits);
  run_emulated(Implementation::wagner_sigmoid, logits.batch);
  logits.batch.rule.sigmoid_beta = 30;
  CHECK(compare(logits, verify_sigmoid_reference(logits.batch), band_of(64)).different > 0);
}

TEST_CASE("bits of the sigmoid do not depend on the order of threads, the slot or the batch") {
  LogitBatch logits({.requests = 3, .gamma = 2, .vocab = 9001}, 24);
  using Kept = KeptWorkspace<wagner::SigmoidProgram>;
  const auto bits = Kept(logits.batch, simt::Order::forward).cumulative();
  const auto next = logits.next;
  for (const simt::Order order : {simt::Order::backward, simt::Order::shuffled}) {
    CHECK(Kept(logits.batch, order, 0xff).cumulative() == bits);
    CHECK(logits.next == next);
  }
  for (std::int32_t request = 0; request < 3; ++request) {
    const auto alone = Kept(part_of(logits.batch, request, 1), simt::Order::forward).cumulative();
    CHECK(std::equal(alone.begin(), alone.end(), bits.begin() + std::int64_t{request} * 9001));
    CHECK(logits.next == next);
  }
}

TEST_CASE("no residual anywhere, ids of weight 0, and invalid rows") {
  LogitBatch logits({.requests = 4, .gamma = 1, .vocab = 100, .distance = 0}, 25);
  for (Token id = 0; id < 100; ++id) {
    // p_hat < q_hat everywhere, though the softmaxes are the same.
    logits.target_logit(0, 0, id) -= 2;
    if (id < 50) logits.target_logit(1, 0, id) = -infinity;
    if (id >= 50) logits.draft_logit(1, 0, id) = -infinity;
  }
  logits.target_logit(2, 0, 3) = std::numeric_limits<float>::quiet_NaN();
  logits.target_logit(3, 0, 99) = infinity;
  logits.store();
  logits.drafted = {5, 5, 3, 99};
  std::vector<double> uniforms(8, 1 - 1e-6);
  logits.batch.uniforms = uniforms.data();
  Scale{-10, 10}.put(logits);
  run_emulated(Implementation::wagner_sigmoid, logits.batch);
  const auto expected = verify_sigmoid_reference(logits.batch);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(logits.accepted[i] == 0);
    CHECK(logits.next[i] == expected[i].next);
  }
  CHECK(logits.flags[0] == flag_zero_residual);
  CHECK(logits.next[1] >= 50);
  CHECK(logits.flags[1] == 0);
  for (const std::size_t i : {2U, 3U}) {
    CHECK(logits.next[i] == invalid_token);
    CHECK(logits.flags[i] == flag_invalid_row);
  }
}

TEST_CASE("the distribution of the sigmoid is that of core's rule where logits are log-probabilities") {
  LogitBatch logits({.requests = 5, .gamma = 1, .vocab = 30}, 26);
  for (std::int32_t request = 0; request < 5; ++request) {
    const auto target = probabilities(logits.batch, true, request, 0);
    const auto draft = probabilities(logits.batch, false, request, 0);
    std::vector<double> target_logits;
    std::vector<double> draft_logits;
    for (const double probability : target) target_logits.push_back(std::log(probability));
    for (const double probability : draft) draft_logits.push_back(std::log(probability));
    for (const double beta : {2.0, 1000.0}) {
      const SigmoidRule rule(-beta, beta);
      const auto replacement = rule.replacement(row_view(target), row_view(draft));
      double residual = 0;
      for (Token id = 0; id < 30; ++id) residual += replacement[id];
      const double rejected = 1 - rule.acceptance_rate(row_view(target), row_view(draft));
      const auto distribution = sigmoid_first_token_distribution(target_logits, draft_logits, -beta, beta);
      CHECK(sum(distribution) == doctest::Approx(1).epsilon(1e-13));
      for (Token id = 0; id < 30; ++id) {
        const auto i = static_cast<std::size_t>(id);
        const double expected = draft[i] * rule.acceptance(id, row_view(target), row_view(draft)) +
                                rejected * replacement[id] / residual;
        CHECK(distribution[i] == doctest::Approx(expected).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE(
    "with the paper's constants nearly every draft is accepted, and the output has the draft's "
    "distribution") {
  LogitBatch logits({.requests = 20, .gamma = 4, .vocab = 1000}, 27);
  for (std::size_t request = 0; request < 20; ++request) {
    const auto target = logits_of(logits.target, request * 5, 1000);
    const auto draft = logits_of(logits.draft, request * 4, 1000);
    const auto target_row = probabilities(logits.batch, true, static_cast<std::int64_t>(request), 0);
    const auto draft_row = probabilities(logits.batch, false, static_cast<std::int64_t>(request), 0);
    const double of_draft = total_variation(row_view(target_row), row_view(draft_row));
    for (const double beta : {1000.0, 10000.0}) {
      const double of_sigmoid = sigmoid_total_variation(target, draft, -beta, beta);
      CHECK(of_sigmoid > 0.999 * of_draft);
      CHECK(of_sigmoid < of_draft);
    }
    // At a hundredth of the scale verification corrects little more.
    CHECK(sigmoid_total_variation(target, draft, -10, 10) > 0.95 * of_draft);
    // As a check of this test: a sigmoid close to an exponential does correct.
    CHECK(sigmoid_total_variation(target, draft, 4, 5) < 0.95 * of_draft);
  }
  run_emulated(Implementation::wagner_sigmoid, logits.batch);
  int kept = 0;
  for (const std::int32_t accepted : logits.accepted) kept += accepted;
  CHECK(kept >= 79);
  run_emulated(Implementation::wagner_exact, logits.batch);
  kept = 0;
  for (const std::int32_t accepted : logits.accepted) kept += accepted;
  CHECK(kept < 60);
}
