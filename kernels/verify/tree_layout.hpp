// Computes the launch of tree verification from the sizes alone.
#pragma once

#include <optional>
#include <string>

#include "kernels/verify/cluster_layout.hpp"
#include "kernels/verify/traversal.hpp"
#include "kernels/verify/tree.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct TreeKernels {
  struct Layout {
    simt::Launch launch;
    bool keeps = false;
  };

  /// Returns the layout as `cluster_layout` does, for rows of any kind, on every device with clusters.
  static Layout layout(const TreeBatch& tree) {
    constexpr int largest = simt::portable_cluster_blocks;
    return tree.method == TreeMethod::traversal ? layout_of<tree::Traverse<float>>(tree, largest)
                                                : layout_of<tree::Walk<float>>(tree, largest);
  }

  /// Returns the reason why a batch cannot be run, as a sentence's end; nothing if it can.
  static std::optional<std::string> unsupported_reason(const TreeBatch& tree) {
    const VerifyBatch& batch = tree.batch;
    if (batch.rule.method != KernelRule::token)
      return "trees have their own method: rule.method of the batch must be token";
    if (batch.has_filters())
      return "trees take cut-off logits, but do not compute them: leave top_k, top_p and min_p null";
    if (batch.bonus != nullptr) return "the last token of a path is drawn here: leave bonus null";
    if (batch.log_probabilities != nullptr || batch.log_sum_exps != nullptr) {
      return "trees write no logarithms: leave log_probabilities and log_sum_exps null";
    }
    if (tree.method == TreeMethod::traversal && batch.gamma > 0) {
      if (batch.certain_drafts()) {
        return "traversal verification takes drawn children, and draft.data is null, which is for chosen "
               "ones";
      }
      if (tree.siblings != Siblings::without_replacement) {
        return "traversal verification takes children drawn without replacement, not independent ones";
      }
    }
    return std::nullopt;
  }

  /// Returns the bytes of logits that the algorithm must read; it writes nothing but results.
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
    // Passes over a row pair (for chosen children one pass, over the target) read what is not kept; a node's
    // first pass keeps the pair. Taking a row's sum keeps it, too, except for a draft row with its own ids.
    const double passes = chosen ? outcome.rejecting : outcome.refused;
    const double first = chosen ? outcome.rejecting : outcome.refusing;
    const auto read = [&](bool known, bool sum_keeps) {
      return (known ? 0 : outcome.tried) +
             (keeps ? (sum_keeps && !known ? 0 : first) + outcome.returned : passes);
    };
    const double of_target = outcome.leaves + read(target_known, true);
    const double of_draft = chosen ? 0 : read(draft_known, batch.draft_place == nullptr);
    return {batch.requests * (of_target * row(true) + of_draft * (chosen ? 0 : row(false))), 0};
  }

  /// Verifies a batch on any executor; the batch is in the executor's memory.
  template <class Executor>
  static void run(Executor&& executor, const TreeBatch& tree) {
    if (tree.batch.requests == 0) return;
    const auto launch_for = [&](auto logit) {
      using T = decltype(logit);
      if (tree.method == TreeMethod::traversal) return launch<tree::Traverse<T>>(executor, tree);
      return launch<tree::Walk<T>>(executor, tree);
    };
    if (tree.batch.mixed_rows()) return launch_for(AnyLogit{});
    with_logit_type(tree.batch.target.dtype, launch_for);
  }

  /// Launches one method for rows of one format. It is not inline, because on a GPU formats are compiled in
  /// their own files.
  template <class Kernel, class Executor>
  static void launch(Executor& executor, const TreeBatch& tree);

 private:
  /// Returns the layout; a kernel for another format has the same launch.
  template <class Kernel>
  static Layout layout_of(const TreeBatch& tree, int largest) {
    Layout layout;
    const std::int32_t tiles = tiles_of(tree.batch.vocab);
    const std::int32_t blocks = cluster_blocks(tiles, largest);
    layout.launch = simt::launch_of<Kernel>(std::int64_t{tree.batch.requests} * blocks);
    layout.launch.cluster = blocks;
    const std::int64_t width = tree.batch.mixed_rows() ? 4 : dtype_bytes(tree.batch.target.dtype);
    const CopiedTiles copied(tiles, blocks, width, sizeof(typename Kernel::Shared));
    layout.keeps = copied.keeps;
    layout.launch.dynamic_shared = copied.bytes;
    return layout;
  }
};

template <class Kernel, class Executor>
void TreeKernels::launch(Executor& executor, const TreeBatch& tree) {
  const Layout layout_here = layout_on<Kernel>(
      executor, tree.batch.requests, [&tree](int largest) { return layout_of<Kernel>(tree, largest); },
      [](const Layout& of) { return of.launch; });
  const tree::Args args{tree, tiles_of(tree.batch.vocab), layout_here.keeps};
  executor.template run<Kernel>(layout_here.launch, args);
}

}  // namespace speclab
