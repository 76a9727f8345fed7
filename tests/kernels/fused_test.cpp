#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../bounds.hpp"
#include "logit_batch.hpp"
#include "speclab/kernels/verify/implementation.hpp"

using namespace speclab;

namespace {

/// Single precision's error of a probability or a mass, with room to spare: sums of 32 terms in a row, logits
/// up to 20, exp2f and expm1f right to 2 units.
constexpr double band = 1e-5;

std::uint64_t run_fused_on(LogitBatch& logits, simt::Order order = simt::Order::forward) {
  std::fill(logits.next.begin(), logits.next.end(), -7);
  return run_emulated(Implementation::fused, logits.batch, order);
}

struct Comparison {
  int within_band = 0;
  int different = 0;  ///< outside the band
};

Comparison compare(LogitBatch& logits, double width = band) {
  run_fused_on(logits);
  const auto expected = verify_reference(logits.batch);
  Comparison found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].margin < width) {
      ++found.within_band;
    } else if (logits.accepted[i] != expected[i].accepted || logits.next[i] != expected[i].next) {
      ++found.different;
    }
  }
  return found;
}

/// ln of every row's sum of exponentials.
std::vector<float> log_sums(LogitBatch& logits, bool of_target) {
  const std::int32_t positions = logits.batch.gamma + (of_target ? 1 : 0);
  std::vector<float> sums;
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) {
    for (std::int32_t i = 0; i < positions; ++i) {
      double sum = 0;
      for (Token id = 0; id < logits.batch.vocab; ++id) {
        const float logit =
            of_target ? logits.target_logit(request, i, id) : logits.draft_logit(request, i, id);
        sum += std::exp(static_cast<double>(
            logits.batch.target.dtype == Dtype::bf16 ? to_float(from_float<Bf16>(logit)) : logit));
      }
      sums.push_back(static_cast<float>(std::log(sum)));
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("fused verification decides as the reference does") {
  int requests = 0;
  int within = 0;
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::lenient, VerifyMethod::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 7, 64, 1000, 20001}) {
        for (const std::int32_t gamma : {0, 1, 4}) {
          CAPTURE(static_cast<int>(method));
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 6, .gamma = gamma, .vocab = vocab, .dtype = dtype}, 11);
          logits.batch.rule = {method, method == VerifyMethod::lenient ? 0.6 : 1};
          const Comparison found = compare(logits);
          CHECK(found.different == 0);
          requests += 6;
          within += found.within_band;
        }
      }
    }
  }
  MESSAGE(within << " of " << requests << " decisions within the band");
  CHECK(within < requests / 20);
}

TEST_CASE("the comparison sees a kernel that follows another rule") {
  LogitBatch logits({.requests = 40, .gamma = 4, .vocab = 50}, 3);
  logits.batch.rule = {VerifyMethod::lenient, 0.5};
  run_fused_on(logits);
  logits.batch.rule = {};
  const auto expected = verify_reference(logits.batch);
  int different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) different += logits.accepted[i] != expected[i].accepted;
  CHECK(different > 5);
}

TEST_CASE("rows may be scaled by temperature, cut off, and come with their sums") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::block}) {
    constexpr std::int32_t requests = 24;
    constexpr std::int32_t gamma = 3;
    constexpr std::int32_t vocab = 300;
    LogitBatch logits({.requests = requests, .gamma = gamma, .vocab = vocab, .dtype = Dtype::bf16}, 5);
    logits.batch.rule.method = method;
    std::vector<float> temperatures;
    std::vector<float> cutoffs;
    for (int i = 0; i < requests * (gamma + 1); ++i) {
      constexpr float choices[] = {1, 0.5F, 2, 0};
      temperatures.push_back(choices[i % 4]);
      constexpr float cuts[] = {-1, -100, 0.5F, 2, -INFINITY};
      cutoffs.push_back(cuts[i % 5]);
    }
    logits.batch.target_options.temperature = temperatures.data();
    logits.batch.draft_options.temperature = temperatures.data() + 1;
    CHECK(compare(logits).different == 0);
    logits.batch.target_options.cutoff = cutoffs.data();
    logits.batch.draft_options.cutoff = cutoffs.data() + 2;
    logits.draw();
    CHECK(compare(logits).different == 0);

    // Sums of the rows as they are, and of the draft half as large, as if it had another mass elsewhere.
    logits.batch.target_options = {};
    logits.batch.draft_options = {};
    const std::vector<float> target_sums = log_sums(logits, true);
    std::vector<float> draft_sums = log_sums(logits, false);
    for (float& sum : draft_sums) sum -= 0.7F;
    logits.batch.draft_options.log_sum_exp = draft_sums.data();
    CHECK(compare(logits).different == 0);
    logits.batch.target_options.log_sum_exp = target_sums.data();
    CHECK(compare(logits).different == 0);
    logits.batch.draft_options.log_sum_exp = nullptr;
    CHECK(compare(logits).different == 0);
  }
}

TEST_CASE("drafts may be certain, and their number differ from request to request") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::block}) {
    LogitBatch logits({.requests = 30, .gamma = 4, .vocab = 40, .spread = 1}, 8);
    logits.batch.rule.method = method;
    std::vector<std::int32_t> lengths;
    for (int i = 0; i < 30; ++i) lengths.push_back(i % 5);
    logits.batch.lengths = lengths.data();
    CHECK(compare(logits).different == 0);
    logits.batch.draft = {};
    // Some of them likely: the largest logit of the target.
    for (std::int32_t request = 0; request < 30; request += 2) {
      for (std::int32_t i = 0; i < 4; ++i) {
        Token best = 0;
        for (Token id = 1; id < 40; ++id) {
          if (logits.target_logit(request, i, id) > logits.target_logit(request, i, best)) best = id;
        }
        logits.drafted[static_cast<std::size_t>(request * 4 + i)] = best;
      }
    }
    CHECK(compare(logits).different == 0);
    lengths[3] = -1;
    lengths[4] = 5;
    run_fused_on(logits);
    for (const std::size_t i : {std::size_t{3}, std::size_t{4}}) {
      CHECK(logits.next[i] == invalid_token);
      CHECK(logits.flags[i] == flag_length_out_of_range);
    }
  }
}

TEST_CASE("results have the same bits in any order, slot, batch size and alignment") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      const LogitShape shape{.requests = 5, .gamma = 2, .vocab = 9001, .dtype = dtype};
      LogitBatch logits(shape, 21);
      logits.batch.rule.method = method;
      run_fused_on(logits);
      const auto accepted = logits.accepted;
      const auto next = logits.next;
      for (const simt::Order order : {simt::Order::backward, simt::Order::shuffled, simt::Order::forward}) {
        run_fused_on(logits, order);
        CHECK(logits.accepted == accepted);
        CHECK(logits.next == next);
      }
      for (std::int32_t request = 0; request < 5; ++request) {
        VerifyBatch alone = logits.batch;
        const auto skip = [&](const LogitRows& rows) {
          return static_cast<const unsigned char*>(rows.data) +
                 request * rows.request_stride * dtype_bytes(rows.dtype);
        };
        alone.requests = 1;
        alone.target.data = skip(logits.batch.target);
        alone.draft.data = skip(logits.batch.draft);
        alone.drafted += request * 2;
        alone.addresses += request;
        run_emulated(Implementation::fused, alone);
        CHECK(logits.accepted[0] == accepted[static_cast<std::size_t>(request)]);
        CHECK(logits.next[0] == next[static_cast<std::size_t>(request)]);
      }
      // Rows that start at 16 bytes are loaded in vectors, others one by one; 9001 + 7 and + 8 are one of
      // each.
      for (const std::int32_t padding : {7, 8}) {
        LogitShape padded = shape;
        padded.padding = padding;
        LogitBatch other(padded, 21);
        for (std::int32_t request = 0; request < 5; ++request) {
          for (std::int32_t i = 0; i < 3; ++i) {
            for (Token id = 0; id < 9001; ++id) {
              other.target_logit(request, i, id) = logits.target_logit(request, i, id);
              if (i < 2) other.draft_logit(request, i, id) = logits.draft_logit(request, i, id);
            }
          }
        }
        other.store();
        other.drafted = logits.drafted;
        other.batch.drafted = other.drafted.data();
        other.batch.rule.method = method;
        run_fused_on(other);
        CHECK(other.accepted == accepted);
        CHECK(other.next == next);
      }
    }
  }
}

TEST_CASE("a damaged row never becomes an id, and matters only where it is looked at") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::lenient}) {
    for (const float damage : {nan, infinity}) {
      for (const bool in_target : {true, false}) {
        LogitBatch logits({.requests = 2, .gamma = 2, .vocab = 30, .distance = 0}, 4);
        logits.batch.rule.method = method;
        // Target and draft agree, so that all is accepted up to the damage.
        (in_target ? logits.target_logit(0, 1, 17) : logits.draft_logit(0, 1, 17)) = damage;
        logits.store();
        run_fused_on(logits);
        CHECK(logits.accepted == std::vector<std::int32_t>{1, 2});
        CHECK(logits.next[0] == invalid_token);
        CHECK(logits.flags[0] == flag_damaged_row);
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
    CHECK(logits.flags[0] == flag_damaged_row);
    // Behind a rejection nobody looks.
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
  CHECK(logits.flags == std::vector<std::uint32_t>{flag_draft_without_mass, flag_token_out_of_range,
                                                   flag_token_out_of_range});
}

TEST_CASE("uniforms at both ends, and a target that equals the draft") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::lenient, VerifyMethod::block}) {
    for (const double u : {0.0, 1.0}) {
      LogitBatch logits({.requests = 16, .gamma = 2, .vocab = 33}, 9);
      const std::vector<double> uniforms(16 * 3, u);
      for (std::int32_t request = 0; request < 16; ++request) {
        // The first and the last id have no mass, so that neither end may give them.
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
  // Stored sums that are too small make the draft larger than the target everywhere.
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

TEST_CASE("residuals far below single precision's grain of the masses keep their law") {
  // Two ids differ by 2^-12 of themselves: the residual is on one of them alone, with a mass of about 1e-5.
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

TEST_CASE("what threads load is what the plan counts") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      constexpr std::int32_t vocab = 40000;
      LogitBatch logits({.requests = 2, .gamma = 3, .vocab = vocab, .dtype = dtype}, 13);
      logits.batch.rule.method = method;
      const std::uint64_t loaded = run_fused_on(logits);
      double accepted = 0;
      double rejecting = 0;
      for (const std::int32_t kept : logits.accepted) {
        accepted += kept / 2.0;
        rejecting += kept < 3 ? 0.5 : 0;
      }
      const double counted = traffic_of(Implementation::fused, logits.batch, accepted, rejecting).read;
      // Beyond the count: the chosen tile once more, and each block's own merging of parts, which caches
      // serve.
      const double row = static_cast<double>(vocab) * static_cast<double>(dtype_bytes(dtype));
      CHECK(static_cast<double>(loaded) >= counted);
      CHECK(static_cast<double>(loaded) < counted + 2 * 2 * row);
    }
  }
}

TEST_CASE("the next token and the accepted lengths have the laws of the rule") {
  // Null: the joint law of (accepted, next) that core's rule gives for these rows. Pearson's statistic; its
  // false-alarm rate is p_value_bound. A rule with lenience 0.7 in its place is seen with certainty.
  constexpr std::int32_t requests = 6000;
  constexpr std::int32_t vocab = 8;
  LogitBatch logits({.requests = requests, .gamma = 1, .vocab = vocab, .spread = 1, .distance = 0.7},
                    test_seed(31));
  for (std::int32_t request = 1; request < requests; ++request) {
    for (Token id = 0; id < vocab; ++id) {
      for (std::int32_t i = 0; i < 2; ++i)
        logits.target_logit(request, i, id) = logits.target_logit(0, i, id);
      logits.draft_logit(request, 0, id) = logits.draft_logit(0, 0, id);
    }
  }
  logits.store();
  logits.draw();
  const auto target = probabilities(logits.batch.target, {}, 2, 0, 0, vocab);
  const auto bonus = probabilities(logits.batch.target, {}, 2, 0, 1, vocab);
  const auto draft = probabilities(logits.batch.draft, {}, 1, 0, 0, vocab);
  std::vector<double> law(2 * vocab);
  double kept = 0;
  for (std::size_t id = 0; id < vocab; ++id) {
    kept += std::min(target[id], draft[id]);
    law[id] = std::max(0.0, target[id] - draft[id]);
  }
  for (std::size_t id = 0; id < vocab; ++id) law[vocab + id] = kept * bonus[id];
  const auto statistic = [&] {
    run_fused_on(logits);
    std::vector<double> counts(law.size());
    for (std::size_t i = 0; i < requests; ++i) {
      ++counts[static_cast<std::size_t>(logits.accepted[i] * vocab + logits.next[i])];
    }
    double sum = 0;
    for (std::size_t cell = 0; cell < law.size(); ++cell) {
      const double expected = law[cell] * requests;
      if (expected == 0) {
        CHECK(counts[cell] == 0);
        continue;
      }
      sum += (counts[cell] - expected) * (counts[cell] - expected) / expected;
    }
    return sum;
  };
  // At most 15 degrees of freedom; the quantile at 1e-11 is 84.
  CHECK(statistic() < 84);
  logits.batch.rule = {VerifyMethod::lenient, 0.7};
  CHECK(statistic() > 84);
}

TEST_CASE("tails far below single precision's uniforms are reached") {
  // The first id has mass 2^-40: a uniform with 24 bits would never see it.
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
  // Rows that lie 2^32 elements apart, in memory of which only their pages exist.
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

TEST_CASE("where requests are many, a block takes several tiles, to the same bits") {
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::block}) {
    constexpr std::int32_t requests = 270;
    LogitBatch logits({.requests = requests, .gamma = 1, .vocab = 9001, .dtype = Dtype::bf16}, 41);
    logits.batch.rule.method = method;
    CHECK(plan_of(Implementation::fused, logits.batch).launches.back().blocks ==
          requests * (method == VerifyMethod::block ? 2 : 1));
    CHECK(compare(logits).different == 0);
    const auto accepted = logits.accepted;
    const auto next = logits.next;
    run_fused_on(logits, simt::Order::backward);
    CHECK(logits.next == next);
    VerifyBatch few = logits.batch;
    few.requests = 20;
    std::fill(logits.next.begin(), logits.next.end(), -7);
    run_emulated(Implementation::fused, few);
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(logits.accepted[i] == accepted[i]);
      CHECK(logits.next[i] == next[i]);
    }
  }
}
