// Tests the exact programs that keep complete rows in scratch: decisions, bits, edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/verify/implementation.hpp"
#include "tests/kernels/verify/verify_comparison.hpp"

using namespace speclab;

namespace {

/// Error of sums of probabilities in single precision, with a margin: a probability from logits up to 20 is
/// right to 2e-6 of itself, and a cumulative sum is rounded at 6e-8.
constexpr double band = 1e-5;

constexpr Implementation exact_ones[] = {Implementation::baseline, Implementation::wagner_exact};
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Comparison run_and_compare(Implementation implementation, LogitBatch& logits) {
  run_emulated(implementation, logits.batch);
  return compare(logits, verify_reference(logits.batch), band);
}

/// A batch whose uniforms are all the same.
struct Constant {
  Constant(LogitBatch& logits, double u)
      : uniforms(static_cast<std::size_t>(logits.batch.requests * (logits.batch.gamma + 1)), u) {
    logits.batch.uniforms = uniforms.data();
  }
  std::vector<double> uniforms;
};

template <class Program>
void check_bits() {
  for (const std::int32_t vocab : {1000, 20001}) {
    CAPTURE(vocab);
    LogitBatch logits({.requests = 3, .gamma = 2, .vocab = vocab}, 5);
    const auto bits = KeptWorkspace<Program>(logits.batch, simt::Order::forward).cumulative();
    const auto next = logits.next;
    const auto accepted = logits.accepted;
    for (const simt::Order order : {simt::Order::forward, simt::Order::backward, simt::Order::shuffled}) {
      CHECK(KeptWorkspace<Program>(logits.batch, order, 0xff).cumulative() == bits);
      CHECK(logits.next == next);
      CHECK(logits.accepted == accepted);
    }
    for (std::int32_t request = 0; request < 3; ++request) {
      logits.next[static_cast<std::size_t>(request)] = no_token;
      const auto alone =
          KeptWorkspace<Program>(part_of(logits.batch, request, 1), simt::Order::forward).cumulative();
      CHECK(std::equal(alone.begin(), alone.end(), bits.begin() + std::int64_t{request} * vocab));
      CHECK(logits.next == next);
    }
    const auto pair = KeptWorkspace<Program>(part_of(logits.batch, 1, 2), simt::Order::forward).cumulative();
    CHECK(std::equal(pair.begin(), pair.end(), bits.begin() + vocab));
  }
}

}  // namespace

TEST_CASE("programs over whole rows decide as the reference does") {
  int requests = 0;
  int within = 0;
  for (const Implementation implementation : exact_ones) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 7, 64, 1000, 5000}) {
        for (const std::int32_t gamma : {0, 1, 4}) {
          CAPTURE(static_cast<int>(implementation));
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 3, .gamma = gamma, .vocab = vocab, .dtype = dtype}, 11);
          const Comparison found = run_and_compare(implementation, logits);
          CHECK(found.different == 0);
          requests += 3;
          within += found.within_band;
        }
      }
    }
  }
  MESSAGE(within << " of " << requests << " decisions within the band");
  CHECK(within < requests / 20);
}

TEST_CASE("several tiles, rows that are not aligned, temperatures, cut-offs and ragged lengths") {
  for (const Implementation implementation : exact_ones) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      CAPTURE(static_cast<int>(implementation));
      LogitBatch logits({.requests = 4, .gamma = 3, .vocab = 17001, .dtype = dtype, .padding = 3}, 12);
      std::vector<float> target_temperature(16);
      std::vector<float> draft_temperature(12);
      std::vector<float> target_cutoff(16);
      std::vector<float> draft_cutoff(12);
      for (std::size_t i = 0; i < 16; ++i) {
        target_temperature[i] = 0.5F + 0.25F * static_cast<float>(i % 5);
        target_cutoff[i] = i % 2 == 0 ? 2.0F : -infinite;
      }
      for (std::size_t i = 0; i < 12; ++i) {
        draft_temperature[i] = i == 2 ? 0.0F : 0.75F + 0.25F * static_cast<float>(i % 3);
        draft_cutoff[i] = i % 3 == 0 ? 1.0F : -infinite;
      }
      const std::vector<std::int32_t> lengths = {3, 0, 2, 1};
      logits.batch.target_options = {target_temperature.data(), target_cutoff.data(), nullptr};
      logits.batch.draft_options = {draft_temperature.data(), draft_cutoff.data(), nullptr};
      logits.batch.lengths = lengths.data();
      logits.draw();
      CHECK(run_and_compare(implementation, logits).different == 0);
    }
  }
}

TEST_CASE("the comparison finds another rule") {
  for (const Implementation implementation : exact_ones) {
    LogitBatch logits({.requests = 20, .gamma = 3, .vocab = 64}, 13);
    run_emulated(implementation, logits.batch);
    logits.batch.rule = {KernelRule::lenient, 0.5};
    CHECK(compare(logits, verify_reference(logits.batch), band).different > 0);
  }
}

TEST_CASE("bits do not depend on the order of threads, the slot or the batch") {
  check_bits<baseline::Program>();
  check_bits<wagner::Exact>();
}

TEST_CASE("equal and disjoint rows, and uniforms at both ends") {
  for (const Implementation implementation : exact_ones) {
    CAPTURE(static_cast<int>(implementation));
    for (const double u : {0.0, 0.5, 1.0}) {
      CAPTURE(u);
      LogitBatch equal({.requests = 2, .gamma = 2, .vocab = 50, .distance = 0}, 3);
      const Constant coins(equal, u);
      run_emulated(implementation, equal.batch);
      const auto expected = verify_reference(equal.batch);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(equal.accepted[i] == (u < 1 ? 2 : 0));
        CHECK(equal.next[i] == expected[i].next);
        // At u = 1 an acceptance draw of probability 1 fails, and leaves no residual.
        CHECK(equal.flags[i] == (u < 1 ? 0U : std::uint32_t{flag_zero_residual}));
      }

      LogitBatch disjoint({.requests = 2, .gamma = 1, .vocab = 40}, 4);
      for (std::int32_t request = 0; request < 2; ++request) {
        for (Token id = 0; id < 40; ++id) {
          (id < 20 ? disjoint.target_logit(request, 0, id) : disjoint.draft_logit(request, 0, id)) =
              -infinite;
        }
      }
      disjoint.store();
      disjoint.draw();
      const Constant same(disjoint, u);
      run_emulated(implementation, disjoint.batch);
      const auto found = verify_reference(disjoint.batch);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(disjoint.drafted[i] < 20);
        CHECK(disjoint.accepted[i] == 0);
        CHECK(disjoint.next[i] == found[i].next);
        CHECK(disjoint.next[i] >= 20);
      }
    }
  }
}

TEST_CASE("one-hot rows give their token at any uniform") {
  for (const Implementation implementation : exact_ones) {
    for (const double u : {0.0, 0.3, 1.0}) {
      LogitBatch logits({.requests = 1, .gamma = 1, .vocab = 9000}, 4);
      for (std::int32_t position = 0; position < 2; ++position) {
        for (Token id = 0; id < 9000; ++id) {
          logits.target_logit(0, position, id) = id == 8500 ? 1.0F : -infinite;
        }
      }
      for (Token id = 0; id < 9000; ++id) logits.draft_logit(0, 0, id) = id == 10 ? 1.0F : -infinite;
      logits.store();
      logits.drafted[0] = 10;
      const Constant same(logits, u);
      run_emulated(implementation, logits.batch);
      CHECK(logits.accepted[0] == 0);
      CHECK(logits.next[0] == 8500);
      CHECK(logits.flags[0] == 0);
    }
  }
}

TEST_CASE("invalid rows never become an id") {
  for (const Implementation implementation : exact_ones) {
    CAPTURE(static_cast<int>(implementation));
    for (const float invalidity : {not_a_number, infinite}) {
      LogitBatch logits({.requests = 4, .gamma = 1, .vocab = 300}, 6);
      logits.target_logit(0, 0, 299) = invalidity;
      logits.draft_logit(1, 0, 7) = invalidity;
      logits.target_logit(2, 1, 0) = invalidity;
      for (Token id = 0; id < 300; ++id) logits.target_logit(3, 0, id) = -infinite;
      logits.store();
      run_emulated(implementation, logits.batch);
      for (const std::size_t i : {0U, 1U, 3U}) {
        CHECK(logits.accepted[i] == 0);
        CHECK(logits.next[i] == invalid_token);
        CHECK((logits.flags[i] & flag_invalid_row) != 0);
      }
      // An invalid bonus row matters only when everything was accepted.
      const bool kept = logits.accepted[2] == 1;
      CHECK((logits.next[2] == invalid_token) == kept);
      CHECK((logits.flags[2] == flag_invalid_row) == kept);
    }
  }
}

TEST_CASE("tokens and lengths that cannot be are rejected and flagged") {
  for (const Implementation implementation : exact_ones) {
    CAPTURE(static_cast<int>(implementation));
    LogitBatch logits({.requests = 5, .gamma = 2, .vocab = 30}, 8);
    logits.drafted[0] = 30;
    logits.drafted[2] = -5;
    logits.draft_logit(2, 0, 4) = -infinite;
    logits.store();
    logits.drafted[4] = 4;
    const std::vector<std::int32_t> lengths = {2, 2, 2, 3, -1};
    logits.batch.lengths = lengths.data();
    run_emulated(implementation, logits.batch);
    const auto expected = verify_reference(logits.batch);
    const std::uint32_t flags[] = {flag_token_out_of_range, flag_token_out_of_range,
                                   flag_zero_draft_probability, flag_length_out_of_range,
                                   flag_length_out_of_range};
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      CHECK(logits.accepted[i] == 0);
      CHECK(logits.next[i] == expected[i].next);
      CHECK(logits.flags[i] == flags[i]);
    }
  }
}

TEST_CASE("more drafted tokens than a warp has lanes") {
  for (const Implementation implementation : exact_ones) {
    LogitBatch logits({.requests = 6, .gamma = 64, .vocab = 20, .distance = 0.05}, 9);
    const Comparison found = run_and_compare(implementation, logits);
    CHECK(found.different == 0);
    CHECK(*std::max_element(logits.accepted.begin(), logits.accepted.end()) > 32);
  }
}

TEST_CASE("the search steps over ids of weight 0 that roundings lead to") {
  // Cumulative sums as two orders of addition may leave them, one unit in the last place apart.
  LogitBatch logits({.requests = 2, .gamma = 0, .vocab = 4}, 10);
  std::vector<float> weights = {0.5F, 0, 0.5F, 0, 0.5F, 0.5F, 0, 0};
  std::vector<float> cumulative = {0.5F, 0x1.000002p-1F, 1, 1, 0.5F, 0x1.fffffep-1F, 0x1.fffffep-1F, 1};
  const std::vector<double> uniforms = {0x1.000001p-1, 1};
  logits.batch.uniforms = uniforms.data();
  std::vector<AcceptanceEnd> choices = {{0, 0}, {0, 0}};
  std::vector<double> sums(2);
  simt::EmulatedExecutor executor;
  executor.run<Search>(
      simt::launch_of<Search>(1),
      {logits.batch, 1, choices.data(), {weights.data(), 4, 1}, {cumulative.data(), 4, 1}, sums.data()});
  CHECK(logits.next[0] == 2);
  CHECK(logits.next[1] == 1);
}
