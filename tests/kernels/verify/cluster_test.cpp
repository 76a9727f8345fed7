#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/cluster_layout.hpp"
#include "kernels/verify/implementation.hpp"
#include "tests/kernels/verify/logit_batch.hpp"

using namespace speclab;

namespace {

std::uint64_t run_cluster_on(LogitBatch& logits, simt::Order order = simt::Order::forward,
                             int max_cluster = simt::portable_cluster_blocks) {
  std::fill(logits.next.begin(), logits.next.end(), -7);
  simt::EmulatedExecutor executor(order, max_cluster);
  ClusterKernels::run(executor, logits.batch, nullptr);
  return executor.loaded_bytes();
}

/// Returns whether the cluster leaves the same results as fused verification, in any order of threads.
bool same_as_fused(LogitBatch& logits) {
  run_emulated(Implementation::fused, logits.batch);
  const auto accepted = logits.accepted;
  const auto next = logits.next;
  const auto flags = logits.flags;
  bool same = true;
  for (const simt::Order order : {simt::Order::forward, simt::Order::backward, simt::Order::shuffled}) {
    run_cluster_on(logits, order);
    same = same && logits.accepted == accepted && logits.next == next && logits.flags == flags;
  }
  return same;
}

}  // namespace

TEST_CASE("a cluster leaves the bits of fused verification") {
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 100, 9001, 70000}) {
        for (const std::int32_t gamma : {0, 3}) {
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 4, .gamma = gamma, .vocab = vocab, .dtype = dtype, .distance = 0.5},
                            17);
          logits.batch.rule = {method, 0.8};
          CHECK(same_as_fused(logits));
        }
      }
    }
  }
}

TEST_CASE("few requests have clusters of sixteen blocks where the device takes them, and the same bits") {
  LogitBatch logits({.requests = 2, .gamma = 2, .vocab = 140000, .dtype = Dtype::bf16, .distance = 0.5}, 18);
  CHECK(cluster_layout<cluster::Lazy<float>>(logits.batch).launch.cluster == 8);
  CHECK(cluster_layout<cluster::Lazy<float>>(logits.batch, simt::max_cluster_blocks).launch.cluster == 16);
  CHECK(same_as_fused(logits));
  const auto next = logits.next;
  run_cluster_on(logits, simt::Order::forward, simt::max_cluster_blocks);
  CHECK(logits.next == next);
}

TEST_CASE("a cluster knows every option that fused verification knows") {
  constexpr std::int32_t vocab = 20000;
  LogitBatch logits({.requests = 6, .gamma = 3, .vocab = vocab, .dtype = Dtype::bf16, .distance = 0.7}, 3);
  std::vector<std::int32_t> lengths{0, 1, 2, 3, -1, 3};
  std::vector<float> temperatures;
  std::vector<float> cutoffs;
  std::vector<float> target_sums;
  std::vector<float> draft_sums;
  for (int i = 0; i < 24; ++i) {
    temperatures.push_back(i % 7 == 6 ? 0.0F : 0.5F + 0.1F * static_cast<float>(i));
    cutoffs.push_back(static_cast<float>(i % 4) - 1);
    target_sums.push_back(13);
    draft_sums.push_back(13.4F);
  }
  logits.batch.lengths = lengths.data();
  CHECK(same_as_fused(logits));
  logits.batch.target_options.temperature = temperatures.data();
  logits.batch.draft_options.cutoff = cutoffs.data();
  CHECK(same_as_fused(logits));
  logits.batch.draft_options.log_sum_exp = draft_sums.data();
  CHECK(same_as_fused(logits));
  logits.batch.target_options.log_sum_exp = target_sums.data();
  CHECK(same_as_fused(logits));
  logits.batch.draft_options.log_sum_exp = nullptr;
  CHECK(same_as_fused(logits));
  logits.batch.draft = {};
  CHECK(same_as_fused(logits));
  logits.batch.target_options = {};
  CHECK(same_as_fused(logits));
}

TEST_CASE("damages stop a cluster where they stop the others") {
  LogitBatch logits({.requests = 4, .gamma = 2, .vocab = 17000, .distance = 0}, 4);
  logits.target_logit(0, 1, 16000) = std::numeric_limits<float>::quiet_NaN();
  logits.draft_logit(1, 0, 3) = std::numeric_limits<float>::infinity();
  logits.target_logit(2, 2, 9000) = std::numeric_limits<float>::quiet_NaN();
  logits.store();
  CHECK(same_as_fused(logits));
  CHECK(logits.accepted == std::vector<std::int32_t>{1, 0, 2, 2});
  CHECK(logits.next[2] == invalid_token);
  CHECK(logits.next[3] >= 0);
}

TEST_CASE("rows behind a rejection are not read") {
  // Rows of 70,000 bf16 logits have 9 tiles, two in the first of eight blocks, which fit; rows of 300,000
  // floats do not fit.
  for (const auto& [vocab, dtype, keeps] :
       {std::tuple{70000, Dtype::bf16, true}, {300000, Dtype::f32, false}}) {
    LogitBatch logits({.requests = 3, .gamma = 4, .vocab = vocab, .dtype = dtype, .distance = 0.6}, 19);
    CHECK(cluster_layout<cluster::Lazy<float>>(logits.batch).keeps == keeps);
    const std::uint64_t loaded = run_cluster_on(logits);
    double accepted = 0;
    double rejecting = 0;
    for (const std::int32_t kept : logits.accepted) {
      accepted += kept / 3.0;
      rejecting += kept < 4 ? 1 / 3.0 : 0;
    }
    CHECK(rejecting > 0);
    const double counted = ClusterKernels::traffic(logits.batch, {accepted, rejecting}).read;
    // Loads beyond the count are the logits and ids of acceptance draws, and the chosen tile of a row that is
    // not kept.
    const double tile = 2.0 * tile_size * static_cast<double>(dtype_bytes(dtype));
    CHECK(static_cast<double>(loaded) >= counted);
    CHECK(static_cast<double>(loaded) <= counted + 3 * (tile + 64 * 4 * 32 * 8));
    CHECK(counted < traffic_of(Implementation::fused, logits.batch, {accepted, rejecting}).read);
  }
}
