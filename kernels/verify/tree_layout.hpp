// Computes the launches of tree verification from the sizes alone.
#pragma once

#include <optional>
#include <string>

#include "kernels/verify/cluster_layout.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/traversal.hpp"
#include "kernels/verify/tree.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct TreeKernels {
  /// Returns the layout of the walk, for rows of any kind, on every device with clusters.
  static ClusterLayout layout(const TreeBatch& tree) {
    return tree.method == TreeMethod::traversal ? cluster_layout<tree::Traverse<float>>(tree.batch)
                                                : cluster_layout<tree::Walk<float>>(tree.batch);
  }

  /// Returns the layout of `Statistics` for the rows after nodes that have children, with the tree's
  /// workspace.
  static FusedLayout sums_layout(const TreeBatch& tree) {
    FusedLayout layout = fused_layout(tree.batch, tree.workspace);
    layout.clear.blocks = layout.next.blocks = 0;
    layout.args.parents = tree.parents;
    layout.args.draft_row = tree.draft_row;
    layout.args.draft_row_count = tree.draft_row_count();
    return layout;
  }

  /// Returns true if two launches verify a batch that has a workspace, and the first of them sums rows.
  /// They do if all its rows have few bytes. kernels/README.md has the reason for the bounds, which were not
  /// measured.
  static bool sums_first(const TreeBatch& tree) {
    const fused::Args rows = sums_layout(tree).args;
    const double bytes = tree.batch.requests * (rows.target_rows * FusedKernels::row_bytes(tree.batch, true) +
                                                rows.draft_rows * FusedKernels::row_bytes(tree.batch, false));
    return bytes > 0 && bytes <= (tree.method == TreeMethod::traversal ? 256 : 128) * 0x1p20;
  }

  /// Returns the launches and the workspace, with rows summed first or by the walk.
  static KernelLayout layout(const TreeBatch& tree, bool with_sums) {
    simt::Launch walk = layout(tree).launch;
    const FusedLayout sums = sums_layout(tree);
    if (!with_sums || sums.statistics.blocks == 0) return {{walk}, 0};
    walk.early = true;
    return {{sums.statistics, walk}, sums.workspace_bytes};
  }

  /// Returns the reason why a batch cannot be run, as a sentence's end; nothing if it can.
  static std::optional<std::string> unsupported_reason(const TreeBatch& tree) {
    const VerifyBatch& batch = tree.batch;
    if (batch.rule.method != KernelRule::token)
      return "trees have their own method: rule.method of the batch must be token";
    if (batch.has_filters())
      return "trees take cut-off logits, but do not compute them: leave top_k, top_p and min_p null";
    if (batch.bonus != nullptr) return "the last token of a path is drawn here: leave bonus null";
    if (batch.log_probabilities != nullptr || batch.log_sum_exps != nullptr)
      return "trees write no logarithms: leave log_probabilities and log_sum_exps null";
    if (tree.method == TreeMethod::traversal && batch.gamma > 0) {
      if (batch.certain_drafts()) {
        return "traversal verification takes drawn children, and draft.data is null, which is for chosen "
               "ones";
      }
      if (tree.siblings != Siblings::without_replacement)
        return "traversal verification takes children drawn without replacement, not independent ones";
    }
    return std::nullopt;
  }

  /// Returns the bytes of logits that the algorithm must read, and those of sums that it writes. `summed`:
  /// nodes (and contexts) with children, if their rows are summed before the walk; otherwise 0.
  static Traffic traffic(const TreeBatch& tree, const TreeOutcome& outcome, std::int32_t summed = 0) {
    const VerifyBatch& batch = tree.batch;
    const bool chosen = batch.certain_drafts();
    const bool target_known = batch.sum_known(true);
    const bool draft_known = batch.sum_known(false) || chosen;
    const bool keeps = layout(tree).keeps;
    // Passes over a row pair (for chosen children one pass, over the target) read what is not kept; a node's
    // first pass keeps the pair. Taking a row's sum keeps it, too, except for a draft row with its own ids.
    const double passes = chosen ? outcome.rejecting : outcome.refused;
    const double first = chosen ? outcome.rejecting : outcome.refusing;
    const auto read = [&](bool known, bool sum_keeps) {
      // A walk behind sums reads rows as if all sums were given.
      return (known        ? 0
              : summed > 0 ? summed
                           : outcome.tried) +
             (keeps ? (sum_keeps && !known && summed == 0 ? 0 : first) + outcome.returned : passes);
    };
    const double of_target = outcome.leaves + read(target_known, true);
    const double of_draft = chosen ? 0 : read(draft_known, batch.draft_place == nullptr);
    const double parts = summed * ((target_known ? 0 : 1) + (draft_known ? 0 : 1)) * tiles_of(batch.vocab) *
                         static_cast<double>(sizeof(PartialSum));
    return {batch.requests * (of_target * FusedKernels::row_bytes(batch, true) +
                              of_draft * (chosen ? 0 : FusedKernels::row_bytes(batch, false))),
            batch.requests * parts};
  }

  /// Verifies a batch on any executor; the batch is in the executor's memory. With a workspace, rows are
  /// summed first.
  template <class Executor>
  static void run(Executor&& executor, const TreeBatch& tree) {
    if (tree.batch.requests == 0) return;
    if (tree.batch.mixed_rows()) return launch<AnyLogit>(executor, tree);
    with_logit_type(tree.batch.target.dtype, [&](auto logit) { launch<decltype(logit)>(executor, tree); });
  }

  /// Launches the kernels for rows of one format. It is not inline, because on a GPU formats are compiled in
  /// their own files.
  template <class T, class Executor>
  static void launch(Executor& executor, const TreeBatch& tree);
};

template <class T, class Executor>
void TreeKernels::launch(Executor& executor, const TreeBatch& tree) {
  const FusedLayout sums = sums_layout(tree);
  const bool summed = tree.workspace != nullptr && sums.statistics.blocks > 0;
  if (summed) FusedKernels::launch<T>(executor, sums);
  const auto walk = [&]<class Kernel>(Kernel) {
    ClusterLayout layout = cluster_layout_on<Kernel>(executor, tree.batch);
    layout.launch.early = summed;
    executor.template run<Kernel>(layout.launch,
                                  {tree, sums.args.tiles, layout.keeps, summed ? sums.args.parts : nullptr,
                                   sums.args.target_rows, sums.args.draft_rows});
  };
  if (tree.method == TreeMethod::traversal) return walk(tree::Traverse<T>{});
  walk(tree::Walk<T>{});
}

}  // namespace speclab
