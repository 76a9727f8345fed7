// Tests damaged rows, the ends of the unit interval, tails, and inputs at the edge of what is allowed.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/verify/fused_runs.hpp"

using namespace speclab;

TEST_CASE("an invalid row never becomes an id, and matters only where it is looked at") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient}) {
    for (const float invalidity : {nan, infinity}) {
      for (const bool in_target : {true, false}) {
        LogitBatch logits({.requests = 2, .gamma = 2, .vocab = 30, .distance = 0}, 4);
        logits.batch.rule.method = method;
        // Target and draft agree, so that everything before the damage is accepted.
        (in_target ? logits.target_logit(0, 1, 17) : logits.draft_logit(0, 1, 17)) = invalidity;
        logits.store();
        run_fused_on(logits);
        CHECK(logits.accepted == std::vector<std::int32_t>{1, 2});
        CHECK(logits.next[0] == invalid_token);
        CHECK(logits.flags[0] == flag_invalid_row);
        CHECK(logits.next[1] >= 0);
        CHECK(logits.flags[1] == 0);
      }
    }
    LogitBatch logits({.requests = 1, .gamma = 1, .vocab = 30, .distance = 0}, 4);
    for (Token id = 0; id < 30; ++id) logits.target_logit(0, 1, id) = -infinity;
    logits.store();
    run_fused_on(logits);
    CHECK(logits.accepted[0] == 1);
    CHECK(logits.next[0] == invalid_token);
    CHECK(logits.flags[0] == flag_invalid_row);
    // Nothing after a rejection is read.
    for (Token id = 0; id < 30; ++id) {
      logits.target_logit(0, 0, id) = id < 10 ? 0 : -infinity;
      logits.draft_logit(0, 0, id) = id < 10 ? -infinity : 0;
    }
    logits.store();
    logits.draw();
    run_fused_on(logits);
    CHECK(logits.accepted[0] == 0);
    CHECK(logits.next[0] >= 0);
    CHECK(logits.next[0] < 10);
    CHECK(logits.flags[0] == 0);
  }
}

TEST_CASE("drafted tokens that the draft could not draw are rejected and counted") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  LogitBatch logits({.requests = 3, .gamma = 1, .vocab = 20}, 6);
  logits.draft_logit(0, 0, 5) = -infinity;
  logits.store();
  logits.drafted = {5, 20, -1};
  logits.batch.drafted = logits.drafted.data();
  CHECK(compare(logits).different == 0);
  CHECK(logits.accepted == std::vector<std::int32_t>{0, 0, 0});
  CHECK(logits.flags == std::vector<std::uint32_t>{flag_zero_draft_probability, flag_token_out_of_range,
                                                   flag_token_out_of_range});
}

TEST_CASE("uniforms at both ends, and a target that equals the draft") {
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
    for (const double u : {0.0, 1.0}) {
      LogitBatch logits({.requests = 16, .gamma = 2, .vocab = 33}, 9);
      const std::vector<double> uniforms(16 * 3, u);
      for (std::int32_t request = 0; request < 16; ++request) {
        // The first and the last id have probability 0, so that neither end may draw them.
        for (std::int32_t i = 0; i < 3; ++i) {
          logits.target_logit(request, i, 0) = logits.target_logit(request, i, 32) =
              -std::numeric_limits<float>::infinity();
        }
      }
      logits.store();
      logits.batch.rule.method = method;
      logits.batch.addresses = nullptr;
      logits.batch.uniforms = uniforms.data();
      run_fused_on(logits);
      for (const Token next : logits.next) {
        CHECK(next > 0);
        CHECK(next < 32);
      }
      CHECK(compare(logits, u == 0 ? 0 : band).different == 0);
    }
    LogitBatch same({.requests = 16, .gamma = 3, .vocab = 1000, .dtype = Dtype::bf16, .distance = 0}, 2);
    same.batch.rule.method = method;
    run_fused_on(same);
    CHECK(same.accepted == std::vector<std::int32_t>(16, 3));
    CHECK(compare(same).different == 0);
  }
}

TEST_CASE("a rejection without residual samples the target") {
  // Given sums that are too small make the draft larger than the target everywhere.
  LogitBatch logits({.requests = 20, .gamma = 1, .vocab = 64, .distance = 0}, 2);
  std::vector<float> sums = log_sums(logits, false);
  for (float& sum : sums) sum -= 2;
  logits.batch.draft_options.log_sum_exp = sums.data();
  CHECK(compare(logits).different == 0);
  int rejected = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    if (logits.accepted[i] == 1) continue;
    ++rejected;
    CHECK(logits.flags[i] == flag_zero_residual);
    CHECK(logits.next[i] >= 0);
  }
  CHECK(rejected > 5);
}

TEST_CASE("residuals far below single precision's grain of the probabilities keep their distribution") {
  // Two ids differ by 2^-12 of themselves: only one of them has a residual, with a probability of about 1e-5.
  LogitBatch logits({.requests = 200, .gamma = 1, .vocab = 8, .spread = 0, .distance = 0}, 2);
  std::vector<double> uniforms;
  for (std::int32_t request = 0; request < 200; ++request) {
    logits.draft_logit(request, 0, 3) = 0x1p-12F;
    logits.draft_logit(request, 0, 6) = -0x1p-12F;
    uniforms.push_back(1);
    uniforms.push_back((request + 0.5) / 200);
  }
  logits.store();
  std::fill(logits.drafted.begin(), logits.drafted.end(), 3);
  logits.batch.addresses = nullptr;
  logits.batch.uniforms = uniforms.data();
  run_fused_on(logits);
  for (std::size_t i = 0; i < 200; ++i) {
    CHECK(logits.accepted[i] == 0);
    CHECK(logits.next[i] == 6);
  }
}

TEST_CASE("tails far below single precision's uniforms are reached") {
  // The first id has probability 2^-40: a uniform with 24 bits would never draw it.
  LogitBatch logits({.requests = 3, .gamma = 0, .vocab = 9, .spread = 0}, 2);
  for (std::int32_t request = 0; request < 3; ++request) {
    logits.target_logit(request, 0, 0) = static_cast<float>(std::log(0x1p-40 * 8));
  }
  logits.store();
  const double uniforms[] = {0x1p-41, 0x1p-42, 0x1p-39};
  logits.batch.addresses = nullptr;
  logits.batch.uniforms = uniforms;
  run_fused_on(logits);
  CHECK(logits.next == std::vector<Token>{0, 0, 1});
}

TEST_CASE("each request's address is its own") {
  LogitBatch logits({.requests = 60, .gamma = 2, .vocab = 500}, 2);
  run_fused_on(logits);
  const auto before = logits.next;
  logits.addresses[7].seed += 1;
  logits.addresses[8].trial += 100;
  logits.addresses[9].round += 1;
  run_fused_on(logits);
  for (std::size_t i = 0; i < 60; ++i) {
    const bool changed = i == 7 || i == 8 || i == 9;
    CHECK((logits.next[i] != before[i]) == changed);
  }
}

TEST_CASE("offsets beyond 2^31 elements") {
  // Rows lie 2^32 elements apart, in memory where only the rows' pages exist.
  constexpr std::int32_t vocab = 300;
  constexpr std::int64_t apart = (std::int64_t{1} << 32) + 8;
  LogitBatch near({.requests = 2, .gamma = 1, .vocab = vocab, .dtype = Dtype::bf16}, 14);
  run_fused_on(near);
  const auto accepted = near.accepted;
  const auto next = near.next;
  const std::size_t bytes = static_cast<std::size_t>(3 * apart + vocab) * sizeof(Bf16);
  void* const space =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(space != MAP_FAILED);
  auto* const far = static_cast<Bf16*>(space);
  for (std::int32_t request = 0; request < 2; ++request) {
    for (std::int32_t i = 0; i < 2; ++i) {
      for (Token id = 0; id < vocab; ++id) {
        far[request * 2 * apart + i * apart + id] = from_float<Bf16>(near.target_logit(request, i, id));
      }
    }
  }
  near.batch.target = {far, Dtype::bf16, 2 * apart, apart};
  run_fused_on(near);
  munmap(space, bytes);
  CHECK(near.accepted == accepted);
  CHECK(near.next == next);
}

TEST_CASE("certain drafts with ids that are none are rejected, and the target is sampled") {
  // Serving engines pad rejected drafts with -1, which is also no_token.
  constexpr std::int32_t vocab = 30;
  for (const Implementation implementation : {Implementation::fused, Implementation::cluster}) {
    for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
      for (const Token outside : {-1, vocab, vocab + 5}) {
        LogitBatch logits({.requests = 4, .gamma = 2, .vocab = vocab}, 6);
        logits.batch.rule = {method, 0.8};
        logits.batch.draft = {};
        if (unsupported_reason(implementation, logits.batch)) continue;
        std::fill(logits.drafted.begin(), logits.drafted.end(), outside);
        run_emulated(implementation, logits.batch);
        CHECK(compare(logits, verify_reference(logits.batch), band).different == 0);
        CHECK(logits.accepted == std::vector<std::int32_t>(4, 0));
        CHECK(logits.flags == std::vector<std::uint32_t>(4, flag_token_out_of_range));
      }
    }
  }
}

TEST_CASE("tokens are padded with -1, by every implementation") {
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const ImplementationInfo& info : implementations()) {
    CAPTURE(info.name);
    LogitBatch logits({.requests = 12, .gamma = 3, .vocab = 50, .distance = 0.5}, 8);
    std::vector<std::int32_t> lengths(12, 3);
    lengths[1] = 1;
    lengths[2] = 4;
    logits.target_logit(3, 0, 7) = not_a_number;
    logits.store();
    logits.batch.lengths = lengths.data();
    std::vector<Token> tokens(12 * 4, -7);
    std::vector<std::int32_t> counts(12, -7);
    logits.batch.tokens = tokens.data();
    logits.batch.counts = counts.data();
    run_emulated(info.implementation, logits.batch);
    for (std::int32_t request = 0; request < 12; ++request) {
      const auto at = static_cast<std::size_t>(request);
      const bool valid = logits.next[at] != invalid_token;
      std::vector<Token> expected(logits.drafted.begin() + request * 3,
                                  logits.drafted.begin() + request * 3 + logits.accepted[at]);
      if (valid) expected.push_back(logits.next[at]);
      CHECK(counts[at] == static_cast<std::int32_t>(expected.size()));
      expected.resize(4, no_token);
      CHECK(std::equal(expected.begin(), expected.end(), tokens.begin() + request * 4));
    }
    CHECK(counts[2] == 0);
    CHECK(counts[0] > 0);
  }
}
