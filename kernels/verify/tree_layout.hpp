// The launch of tree verification, from the sizes alone.
#pragma once

#include <optional>
#include <string>

#include "kernels/verify/cluster_layout.hpp"
#include "kernels/verify/tree.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct TreeKernels {
  struct Layout {
    simt::Launch walk;
    bool keeps = false;
  };

  /// As `cluster_layout`, for rows of any kind.
  static Layout layout(const TreeBatch& tree) {
    Layout layout;
    const std::int32_t tiles = tiles_of(tree.batch.vocab);
    const std::int32_t blocks = cluster_blocks(tiles);
    layout.walk = simt::launch_of<tree::Walk<float>>(std::int64_t{tree.batch.requests} * blocks);
    layout.walk.cluster = blocks;
    const std::int64_t width = tree.batch.mixed_rows() ? 4 : dtype_bytes(tree.batch.target.dtype);
    const std::size_t bytes = kept_bytes(tiles, blocks, width);
    layout.keeps = bytes + sizeof(tree::Walk<float>::Shared) <= simt::dynamic_shared_limit;
    if (layout.keeps) layout.walk.dynamic_shared = bytes;
    return layout;
  }

  /// Why a batch cannot be run: a sentence's end. Nothing when it can.
  static std::optional<std::string> unsupported_reason(const TreeBatch& tree) {
    const VerifyBatch& batch = tree.batch;
    if (batch.rule.method != KernelRule::token) return "trees know the rule token alone";
    if (batch.has_filters()) return "trees take cut-offs, and find none: leave top_k, top_p and min_p null";
    if (batch.bonus != nullptr) return "the last token of a path is drawn here: leave bonus null";
    if (batch.log_probabilities != nullptr || batch.log_sum_exps != nullptr) {
      return "no logarithms are left: log_probabilities and log_sum_exps have to be null";
    }
    return std::nullopt;
  }

  /// Bytes of rows of logits that the algorithm has to read; nothing but results is written.
  static Traffic traffic(const TreeBatch& tree, const TreeOutcome& outcome) {
    const VerifyBatch& batch = tree.batch;
    const bool chosen = batch.certain_drafts();
    const bool target_known = batch.sum_known(true);
    const bool draft_known = batch.sum_known(false) || chosen;
    const auto row = [&](bool of_target) {
      return static_cast<double>(batch.vocab_of(of_target)) *
             static_cast<double>(dtype_bytes(batch.rows(of_target).dtype));
    };
    const bool keeps = layout(tree).keeps;
    // Passes over a row pair (of chosen children one, over the target), which read what was not kept.
    const double passes = chosen ? outcome.rejecting : outcome.refused;
    const double of_target =
        outcome.leaves + (target_known ? 0 : outcome.tried) + (keeps && !target_known ? 0 : passes);
    const bool draft_kept = keeps && !draft_known && batch.draft_place == nullptr;
    const double of_draft = chosen ? 0 : (draft_known ? 0 : outcome.tried) + (draft_kept ? 0 : passes);
    return {batch.requests * (of_target * row(true) + of_draft * (chosen ? 0 : row(false))), 0};
  }

  /// Verifies a batch on any executor; the batch is where the executor works.
  template <class Executor>
  static void run(Executor&& executor, const TreeBatch& tree) {
    if (tree.batch.requests == 0) return;
    if (tree.batch.mixed_rows()) return launch<AnyLogit>(executor, tree);
    with_logit_type(tree.batch.target.dtype, [&](auto logit) { launch<decltype(logit)>(executor, tree); });
  }

  /// For rows of one format; not inline, as on a GPU each format is compiled in a file of its own.
  template <class T, class Executor>
  static void launch(Executor& executor, const TreeBatch& tree);
};

template <class T, class Executor>
void TreeKernels::launch(Executor& executor, const TreeBatch& tree) {
  const Layout layout_here = layout(tree);
  const tree::Args args{tree, tiles_of(tree.batch.vocab), layout_here.keeps};
  executor.template run<tree::Walk<T>>(layout_here.walk, args);
}

}  // namespace speclab
