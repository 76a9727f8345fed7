// What fused verification launches, what scratch it needs and what it reads, from the sizes alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "speclab/kernels/verify/fused.hpp"
#include "speclab/kernels/verify/fused_block.hpp"
#include "speclab/kernels/verify/implementation.hpp"

namespace speclab {

/// Places of a workspace's parts, in bytes from its start.
struct FusedPlan {
  simt::Launch clear;       ///< where there are no statistics
  simt::Launch statistics;  ///< clears as well
  simt::Launch next;
  std::int32_t tiles = 0;
  std::int32_t target_rows = 0;
  std::int32_t draft_rows = 0;
  std::size_t parts_at = 0;
  std::size_t masses_at = 0;
  std::size_t workspace_bytes = 0;
};

/// For a batch that `check_batch` accepts.
inline FusedPlan fused_plan(const VerifyBatch& batch) {
  const bool block = batch.rule.method == VerifyMethod::block;
  FusedPlan plan;
  plan.tiles = tiles_of(batch.vocab);
  plan.target_rows = batch.target_options.log_sum_exp == nullptr ? batch.gamma : 0;
  plan.draft_rows = batch.draft_options.log_sum_exp == nullptr && !batch.certain_drafts() ? batch.gamma : 0;
  const std::int64_t requests = batch.requests;
  const std::int64_t positions = block ? batch.gamma + 1 : 1;
  const std::int64_t part_count = requests * (plan.target_rows + plan.draft_rows) * plan.tiles;
  const std::int64_t mass_count = requests * positions * plan.tiles;
  plan.statistics = simt::launch_of<fused::Statistics<float>>(part_count);
  plan.next = block ? simt::launch_of<fused::NextOfBlock<float>>(mass_count)
                    : simt::launch_of<fused::Next<float>>(mass_count);
  plan.clear =
      simt::launch_of<fused::Clear>(part_count > 0 ? 0 : (requests + tile_threads - 1) / tile_threads);
  plan.next.early = true;

  const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  plan.parts_at = aligned(static_cast<std::size_t>(requests) * sizeof(std::uint32_t));
  plan.masses_at = plan.parts_at + aligned(static_cast<std::size_t>(part_count) * sizeof(PartMass));
  plan.workspace_bytes = plan.masses_at + aligned(static_cast<std::size_t>(mass_count) * sizeof(TileMasses));
  return plan;
}

inline fused::Args fused_args(const FusedPlan& plan, const VerifyBatch& batch, void* workspace) {
  auto* const bytes = static_cast<unsigned char*>(workspace);
  return {batch,
          plan.tiles,
          plan.target_rows,
          plan.draft_rows,
          reinterpret_cast<PartMass*>(bytes + plan.parts_at),
          reinterpret_cast<TileMasses*>(bytes + plan.masses_at),
          reinterpret_cast<std::uint32_t*>(bytes)};
}

/// Logits, and the scratch of parts and masses: every row whose sum is not known once, then the rows of the
/// next token (all rows for block verification).
inline Traffic fused_traffic(const VerifyBatch& batch, double rejecting) {
  const FusedPlan plan = fused_plan(batch);
  const double requests = batch.requests;
  const double row = static_cast<double>(batch.vocab) * static_cast<double>(dtype_bytes(batch.target.dtype));
  const double drafts_read = batch.certain_drafts() ? 0 : 1;
  const bool block = batch.rule.method == VerifyMethod::block;
  const double second = block ? batch.gamma * (1 + drafts_read) + 1 : 1 + rejecting * drafts_read;
  const double rows = plan.target_rows + plan.draft_rows + second;
  const auto parts = static_cast<double>(plan.statistics.blocks) * sizeof(PartMass);
  const auto masses = static_cast<double>(plan.next.blocks) * sizeof(TileMasses);
  // Every block of the second launch merges the parts for itself; that is served by caches and left out here.
  return {requests * rows * row + parts + masses, parts + masses};
}

/// Verifies a batch on any executor; the batch and the workspace are where the executor works.
template <class Executor>
void run_fused(Executor&& executor, const VerifyBatch& batch, void* workspace) {
  if (batch.requests == 0) return;
  const FusedPlan plan = fused_plan(batch);
  const fused::Args args = fused_args(plan, batch, workspace);
  with_logit_type(batch.target.dtype, [&](auto logit) {
    using T = decltype(logit);
    executor.template run<fused::Clear>(plan.clear, args);
    executor.template run<fused::Statistics<T>>(plan.statistics, args);
    if (batch.rule.method == VerifyMethod::block) {
      executor.template run<fused::NextOfBlock<T>>(plan.next, args);
    } else {
      executor.template run<fused::Next<T>>(plan.next, args);
    }
  });
}

}  // namespace speclab
