// Computes the launches of fused verification, the scratch it needs and the bytes it reads, from the sizes
// alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/verify/cutoffs.hpp"
#include "kernels/verify/fused.hpp"
#include "kernels/verify/fused_block.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/workspace.hpp"

namespace speclab {

struct FusedLayout {
  simt::Launch cutoffs;  ///< if top-k, top-p or min-p are given
  CutoffArgs cutoff_args{};
  simt::Launch clear;       ///< launched if the acceptance draws read no row ...
  simt::Launch statistics;  ///< ... and otherwise this one
  simt::Launch next;
  fused::Args args{};  ///< places in the workspace
  std::size_t workspace_bytes = 0;
};

/// The number of blocks that each launch should have at least, if there are as many tiles; with more tiles
/// each block takes several.
struct BlocksWanted {
  /// Blocks of the launch `Statistics`: about four times as many as a large GPU runs at the same time. A
  /// block takes a power of two of a row's tiles, at most `max_statistics_tiles`.
  std::int64_t statistics = 2048;
  /// Blocks of the last launch: as many as a large GPU runs at the same time with four blocks per
  /// multiprocessor. More blocks would wait for these to end, and repeat the acceptance draws more often.
  std::int64_t next = 528;
  /// Blocks of the launch for cut-offs: twice as many as a large GPU runs at the same time; up to eight
  /// blocks share a row.
  std::int64_t cutoffs = 528;
};
inline constexpr std::int64_t max_statistics_tiles = 8;

/// Returns the number of cells in a tile of the batch's rows.
inline std::size_t cells_of(const VerifyBatch& batch) {
  const bool floats = batch.mixed_rows() || batch.target.dtype == Dtype::f32;
  return static_cast<std::size_t>(floats ? TileShape<float>::cells : TileShape<Bf16>::cells);
}

/// Returns the layout of a batch for which `batch_error` returns nothing. With a null workspace only the
/// sizes are valid.
inline FusedLayout fused_layout(const VerifyBatch& batch, void* workspace, const BlocksWanted& wanted = {}) {
  const bool block = batch.rule.method == KernelRule::block;
  const std::int64_t requests = batch.requests;
  const std::int64_t positions = block ? batch.gamma + 1 : 1;
  FusedLayout layout;
  fused::Args& args = layout.args;
  args.batch = batch;
  args.tiles = tiles_of(batch.vocab);
  args.target_rows = batch.sum_known(true) ? 0 : batch.gamma;
  args.draft_rows = batch.sum_known(false) || batch.certain_drafts() ? 0 : batch.gamma;
  const std::int64_t blocks_each =
      std::max<std::int64_t>(1, wanted.next / std::max<std::int64_t>(1, requests * positions));
  const auto tiles_each = static_cast<std::int32_t>((args.tiles + blocks_each - 1) / blocks_each);
  args.next_blocks = (args.tiles + tiles_each - 1) / tiles_each;

  const std::int64_t rows = requests * (args.target_rows + args.draft_rows);
  const std::int64_t part_count = rows * args.tiles;
  const std::int64_t row_tiles = std::min<std::int64_t>(args.tiles, max_statistics_tiles);
  args.statistics_tiles = static_cast<std::int32_t>(std::bit_floor(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(part_count / wanted.statistics, 1, row_tiles))));
  layout.statistics = simt::launch_of<fused::Statistics<float>>(
      rows * ((args.tiles + args.statistics_tiles - 1) / args.statistics_tiles));
  layout.clear =
      simt::launch_of<fused::Clear>((requests + fused::Clear::threads - 1) / fused::Clear::threads);
  if (rows > 0) layout.clear.blocks = 0;
  const std::int64_t next_count = requests * positions * args.next_blocks;
  layout.next = block ? simt::launch_of<fused::NextOfBlock<float>>(next_count)
                      : simt::launch_of<fused::Next<float>>(next_count);
  layout.next.early = true;

  WorkspaceParts parts(workspace);
  args.weighed = parts.take<std::uint32_t>(requests);
  args.parts = parts.take<PartialSum>(part_count);
  args.weight_sums = parts.take<TileWeightSum>(requests * positions * args.tiles);
  args.weight_cells = parts.take<float>(requests * positions * args.tiles * cells_of(batch));
  const std::int32_t target_positions = batch.target_rows(batch.gamma);
  const std::int64_t filtered = batch.has_filters() ? requests * target_positions : 0;
  const std::int64_t blocks_a_row =
      std::clamp<std::int64_t>(wanted.cutoffs / std::max<std::int64_t>(1, filtered), 1,
                               std::min<std::int64_t>(args.tiles, simt::portable_cluster_blocks));
  const auto sharing = static_cast<int>(std::bit_floor(static_cast<std::uint32_t>(blocks_a_row)));
  layout.cutoffs = simt::launch_of<Cutoffs<float>>(filtered * sharing);
  layout.cutoffs.cluster = sharing;
  layout.cutoffs.cluster_needed = false;
  if (batch.has_filters()) {
    // Kernels that read rows take these instead of the batch's cut-offs, which they include.
    float* const cutoffs = parts.take<float>(requests * (batch.gamma + 1));
    layout.cutoff_args = {batch, target_positions, args.tiles, cutoffs};
    args.batch.target_options.cutoff = cutoffs;
  }
  layout.workspace_bytes = parts.bytes();
  return layout;
}

struct FusedKernels {
  static constexpr ImplementationInfo info{
      Implementation::fused, "fused", "ours, exact; sums every row by tiles, then reads one row pair again",
      true};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    if (batch.gamma <= max_drafted_by(batch.rule.method)) return std::nullopt;
    return "takes at most " + std::to_string(max_drafted_by(batch.rule.method)) + " drafted tokens";
  }
  static std::size_t workspace_bytes(const VerifyBatch& batch) {
    return fused_layout(batch, nullptr).workspace_bytes;
  }

  /// Bytes of logits and of the scratch for parts and sums of weights: every row whose sum is not known is
  /// read once, then the rows of the next token (in block verification all rows) are read.
  static Traffic traffic(const VerifyBatch& batch, const MeanOutcome& outcome) {
    const FusedLayout layout = fused_layout(batch, nullptr);
    const double requests = batch.requests;
    const double target = row_bytes(batch, true);
    const double draft = batch.certain_drafts() ? 0 : row_bytes(batch, false);
    const bool block = batch.rule.method == KernelRule::block;
    const double bonus = batch.bonus == nullptr ? target : 0;
    const double second = block ? batch.gamma * (target + draft) + bonus
                                : outcome.rejecting * (target + draft) + (1 - outcome.rejecting) * bonus;
    const double rows = layout.args.target_rows * target + layout.args.draft_rows * draft + second;
    const double parts = requests * (layout.args.target_rows + layout.args.draft_rows) * layout.args.tiles *
                         static_cast<double>(sizeof(PartialSum));
    const double weight_sums = requests * (block ? batch.gamma + 1 : 1) * layout.args.tiles *
                               static_cast<double>(sizeof(TileWeightSum) + sizeof(float) * cells_of(batch));
    return {requests * rows + parts + weight_sums + requests * cutoff_bytes(batch), parts + weight_sums};
  }

  /// Verifies a batch on any executor; the batch and the workspace are in the executor's memory.
  template <class Executor>
  static void run(Executor&& executor, const VerifyBatch& batch, void* workspace,
                  const BlocksWanted& wanted = {}) {
    if (batch.requests == 0) return;
    const FusedLayout layout = fused_layout(batch, workspace, wanted);
    if (batch.mask != nullptr) {
      executor.template run<Cutoffs<AnyLogit>>(layout.cutoffs, layout.cutoff_args);
    } else {
      with_logit_type(batch.target.dtype, [&](auto logit) {
        executor.template run<Cutoffs<decltype(logit)>>(layout.cutoffs, layout.cutoff_args);
      });
    }
    if (batch.mixed_rows()) return launch<AnyLogit>(executor, layout);
    with_logit_type(batch.target.dtype, [&](auto logit) { launch<decltype(logit)>(executor, layout); });
  }

  /// Bytes of a row's logits; for mixed rows with the mask that goes with them.
  static double row_bytes(const VerifyBatch& batch, bool of_target) {
    double bytes = static_cast<double>(batch.vocab_of(of_target)) *
                   static_cast<double>(dtype_bytes(batch.rows(of_target).dtype));
    if (of_target && batch.mask != nullptr) bytes += batch.vocab / 8.0;
    return bytes;
  }

  /// Launches the kernels for rows of one format. The definition is not inline because on a GPU each format
  /// is compiled in its own file.
  template <class T, class Executor>
  static void launch(Executor& executor, const FusedLayout& layout);

 private:
  /// Bytes that finding cut-offs reads per request, if the logits near the largest suffice.
  static double cutoff_bytes(const VerifyBatch& batch) {
    if (!batch.has_filters()) return 0;
    const int reads = batch.top_k == nullptr && batch.top_p == nullptr ? 1 : 2;
    return reads * batch.target_rows(batch.gamma) * row_bytes(batch, true);
  }
};

template <class T, class Executor>
void FusedKernels::launch(Executor& executor, const FusedLayout& layout) {
  executor.template run<fused::Clear>(layout.clear, layout.args);
  executor.template run<fused::Statistics<T>>(layout.statistics, layout.args);
  if (layout.args.batch.rule.method == KernelRule::block) {
    executor.template run<fused::NextOfBlock<T>>(layout.next, layout.args);
  } else {
    executor.template run<fused::Next<T>>(layout.next, layout.args);
  }
}

}  // namespace speclab
