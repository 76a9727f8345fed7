#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/bounds.hpp"
#include "tests/kernels/verify/fused_runs.hpp"

using namespace speclab;

namespace {

struct alignas(256) Vector256 {
  unsigned char bytes[256];
};

}  // namespace

TEST_CASE("fused verification decides as the reference does") {
  int requests = 0;
  int within = 0;
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 7, 64, 1000, 20001}) {
        for (const std::int32_t gamma : {0, 1, 4}) {
          CAPTURE(static_cast<int>(method));
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 6, .gamma = gamma, .vocab = vocab, .dtype = dtype}, 11);
          logits.batch.rule = {method, method == KernelRule::lenient ? 0.6 : 1};
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
  logits.batch.rule = {KernelRule::lenient, 0.5};
  run_fused_on(logits);
  logits.batch.rule = {};
  const auto expected = verify_reference(logits.batch);
  int different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) different += logits.accepted[i] != expected[i].accepted;
  CHECK(different > 5);
}

TEST_CASE("rows may be scaled by temperature, cut off, and come with their sums") {
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
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

    // The target has its own sums; the draft's are half as large, as if it had more probability elsewhere.
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
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    LogitBatch logits({.requests = 30, .gamma = 4, .vocab = 40, .spread = 1}, 8);
    logits.batch.rule.method = method;
    std::vector<std::int32_t> lengths;
    for (int i = 0; i < 30; ++i) lengths.push_back(i % 5);
    logits.batch.lengths = lengths.data();
    CHECK(compare(logits).different == 0);
    logits.batch.draft = {};
    // Some drafted tokens are likely: the largest logit of the target.
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
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
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
        VerifyBatch alone = part_of(logits.batch, request, 1);
        alone.accepted = logits.batch.accepted;
        alone.next = logits.batch.next;
        alone.flags = logits.batch.flags;
        run_emulated(Implementation::fused, alone);
        CHECK(logits.accepted[0] == accepted[static_cast<std::size_t>(request)]);
        CHECK(logits.next[0] == next[static_cast<std::size_t>(request)]);
      }
      // Rows that start at multiples of 16 bytes are loaded in vectors, others one by one; strides 9001 + 7
      // and 9001 + 8 give one of each.
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

TEST_CASE("what threads load is what the plan counts") {
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
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
      const double counted = traffic_of(Implementation::fused, logits.batch, {accepted, rejecting}).read;
      // Loads beyond the count are the chosen tile once more, and each block's own merging of parts; caches
      // serve both.
      const double row = static_cast<double>(vocab) * static_cast<double>(dtype_bytes(dtype));
      CHECK(static_cast<double>(loaded) >= counted);
      CHECK(static_cast<double>(loaded) < counted + 2 * 2 * row);
    }
  }
}

TEST_CASE("long: the next token and the accepted lengths have the distributions of the rule") {
  // Null: the joint distribution of (accepted, next) that core's rule gives for these rows. Pearson's
  // statistic; its false-alarm rate is p_value_bound. A rule with lenience 0.7 instead is found with
  // certainty.
  constexpr std::int32_t requests = 1500;
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
  const auto target = probabilities(logits.batch, true, 0, 0);
  const auto bonus = probabilities(logits.batch, true, 0, 1);
  const auto draft = probabilities(logits.batch, false, 0, 0);
  std::vector<double> distribution(2 * vocab);
  double kept = 0;
  for (std::size_t id = 0; id < vocab; ++id) {
    kept += std::min(target[id], draft[id]);
    distribution[id] = std::max(0.0, target[id] - draft[id]);
  }
  for (std::size_t id = 0; id < vocab; ++id) distribution[vocab + id] = kept * bonus[id];
  const auto statistic = [&] {
    run_fused_on(logits);
    std::vector<double> counts(distribution.size());
    for (std::size_t i = 0; i < requests; ++i) {
      ++counts[static_cast<std::size_t>(logits.accepted[i] * vocab + logits.next[i])];
    }
    double sum = 0;
    for (std::size_t cell = 0; cell < distribution.size(); ++cell) {
      const double expected = distribution[cell] * requests;
      if (expected == 0) {
        CHECK(counts[cell] == 0);
        continue;
      }
      sum += (counts[cell] - expected) * (counts[cell] - expected) / expected;
    }
    return sum;
  };
  // There are at most 15 degrees of freedom; the quantile at 1e-11 is 84.
  CHECK(statistic() < 84);
  logits.batch.rule = {KernelRule::lenient, 0.7};
  CHECK(statistic() > 84);
}

TEST_CASE("long drafts are decided in groups of positions") {
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient}) {
    const bool token = method == KernelRule::token;
    for (const std::int32_t gamma : token ? std::vector{7, 8, 9, 65, 256} : std::vector{8, 65}) {
      // Drafts are so near to the target that some requests accept everything.
      LogitBatch logits({.requests = 8, .gamma = gamma, .vocab = 20, .spread = 1, .distance = 1.0 / gamma},
                        43);
      logits.batch.rule = {method, token ? 1 : 0.9};
      CHECK(compare(logits).different == 0);
      const auto most = *std::max_element(logits.accepted.begin(), logits.accepted.end());
      CHECK(most > gamma / 2);
      const auto next = logits.next;
      run_emulated(Implementation::cluster, logits.batch);
      CHECK(logits.next == next);
    }
  }
}

TEST_CASE("where requests are many, a block takes several tiles, to the same bits") {
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      // There are five tiles, the last with one id.
      LogitBatch logits({.requests = 4, .gamma = 2, .vocab = 4 * tile_size + 1, .dtype = dtype}, 41);
      logits.batch.rule.method = method;
      CHECK(compare(logits).different == 0);
      const auto accepted = logits.accepted;
      const auto next = logits.next;
      for (const BlocksWanted wanted : {BlocksWanted{1, 1}, BlocksWanted{20, 8}}) {
        const FusedLayout layout = fused_layout(logits.batch, nullptr, wanted);
        CHECK(layout.args.statistics_tiles > 1);
        CHECK(layout.args.next_blocks < 5);
        std::fill(logits.next.begin(), logits.next.end(), -7);
        std::vector<Vector256> workspace(layout.workspace_bytes / sizeof(Vector256));
        FusedKernels::run(simt::EmulatedExecutor(simt::Order::backward), logits.batch, workspace.data(),
                          wanted);
        CHECK(logits.accepted == accepted);
        CHECK(logits.next == next);
      }
    }
  }
  // These are the numbers of tiles and blocks at the sizes of a benchmark's sweep.
  VerifyBatch batch;
  batch.gamma = 4;
  batch.vocab = 128256;
  batch.target = batch.draft = {&batch, Dtype::bf16, 0, 0};
  const auto tiles_at = [&](std::int32_t requests) {
    batch.requests = requests;
    const fused::Args args = fused_layout(batch, nullptr).args;
    return std::pair{args.statistics_tiles, args.next_blocks};
  };
  CHECK(tiles_at(1) == std::pair{1, 16});
  CHECK(tiles_at(32) == std::pair{2, 16});
  CHECK(tiles_at(256) == std::pair{8, 2});
}
