// What fused verification launches, what scratch it needs and what it reads, from the sizes alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/verify/fused.hpp"
#include "kernels/verify/fused_block.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/workspace.hpp"

namespace speclab {

struct FusedPlan {
  simt::Launch judge;  ///< where no row is read for the coins ...
  simt::Launch clear;  ///< ... or these two
  simt::Launch statistics;
  simt::Launch next;
  fused::Args args{};  ///< places in the workspace
  std::size_t workspace_bytes = 0;
};

/// Blocks of the last launch that keep a large GPU busy, about four a multiprocessor. With fewer tiles than
/// that each has a block of its own; with more a block takes several, so that it looks at coins less often.
inline constexpr std::int64_t blocks_wanted = 512;

/// For a batch without `batch_error`. From a null workspace only sizes count.
inline FusedPlan fused_plan(const VerifyBatch& batch, void* workspace) {
  const bool block = batch.rule.method == VerifyMethod::block;
  const std::int64_t requests = batch.requests;
  const std::int64_t positions = block ? batch.gamma + 1 : 1;
  FusedPlan plan;
  fused::Args& args = plan.args;
  args.batch = batch;
  args.tiles = tiles_of(batch.vocab);
  args.target_rows = batch.target_options.log_sum_exp == nullptr ? batch.gamma : 0;
  args.draft_rows = batch.draft_options.log_sum_exp == nullptr && !batch.certain_drafts() ? batch.gamma : 0;
  const std::int64_t blocks_each =
      std::max<std::int64_t>(1, blocks_wanted / std::max<std::int64_t>(1, requests * positions));
  const auto tiles_each = static_cast<std::int32_t>((args.tiles + blocks_each - 1) / blocks_each);
  args.next_blocks = (args.tiles + tiles_each - 1) / tiles_each;

  const std::int64_t part_count = requests * (args.target_rows + args.draft_rows) * args.tiles;
  if (part_count > 0) {
    plan.clear =
        simt::launch_of<fused::Clear>((requests + fused::Clear::threads - 1) / fused::Clear::threads);
    plan.judge.blocks = 0;
  } else {
    plan.judge = simt::launch_of<fused::Judge<float>>(requests);
    plan.clear.blocks = 0;
  }
  plan.statistics = simt::launch_of<fused::Statistics<float>>(part_count);
  const std::int64_t next_count = requests * positions * args.next_blocks;
  plan.next = block ? simt::launch_of<fused::NextOfBlock<float>>(next_count)
                    : simt::launch_of<fused::Next<float>>(next_count);
  plan.statistics.early = plan.next.early = true;

  WorkspaceParts parts(workspace);
  args.read = parts.take<std::uint32_t>(requests);
  args.weighed = parts.take<std::uint32_t>(requests);
  args.judged = parts.take<PositionJudgement>(requests * batch.gamma);
  args.parts = parts.take<PartMass>(part_count);
  args.masses = parts.take<TileMasses>(requests * positions * args.tiles);
  plan.workspace_bytes = parts.bytes();
  return plan;
}

/// Logits, and the scratch of parts and masses: every row whose sum is not known once, then the rows of the
/// next token (all rows for block verification).
inline Traffic fused_traffic(const VerifyBatch& batch, double rejecting) {
  const FusedPlan plan = fused_plan(batch, nullptr);
  const double requests = batch.requests;
  const double row = static_cast<double>(batch.vocab) * static_cast<double>(dtype_bytes(batch.target.dtype));
  const double drafts_read = batch.certain_drafts() ? 0 : 1;
  const bool block = batch.rule.method == VerifyMethod::block;
  const double second = block ? batch.gamma * (1 + drafts_read) + 1 : 1 + rejecting * drafts_read;
  const double rows = plan.args.target_rows + plan.args.draft_rows + second;
  const auto parts = static_cast<double>(plan.statistics.blocks) * sizeof(PartMass);
  const double masses = requests * (block ? batch.gamma + 1 : 1) * plan.args.tiles * sizeof(TileMasses);
  return {requests * rows * row + parts + masses, parts + masses};
}

/// Verifies a batch on any executor; the batch and the workspace are where the executor works.
template <class Executor>
void run_fused(Executor&& executor, const VerifyBatch& batch, void* workspace) {
  if (batch.requests == 0) return;
  const FusedPlan plan = fused_plan(batch, workspace);
  with_logit_type(batch.target.dtype, [&](auto logit) {
    using T = decltype(logit);
    executor.template run<fused::Judge<T>>(plan.judge, plan.args);
    executor.template run<fused::Clear>(plan.clear, plan.args);
    executor.template run<fused::Statistics<T>>(plan.statistics, plan.args);
    if (batch.rule.method == VerifyMethod::block) {
      executor.template run<fused::NextOfBlock<T>>(plan.next, plan.args);
    } else {
      executor.template run<fused::Next<T>>(plan.next, plan.args);
    }
  });
}

}  // namespace speclab
