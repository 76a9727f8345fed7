// Computes the launch of cluster verification from the sizes alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/verify/cluster.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Up to this many requests get clusters of more blocks than every device supports, if the device can place
/// them: each request then has more multiprocessors, and on an H100 and H200 all of these clusters run at
/// once. With 32 requests they do not, and take longer (kernels/results/nvidia-h100.md).
inline constexpr std::int32_t few_requests = 8;

/// A launch of clusters, and whether shared memory holds a block's tiles of a row pair beside the kernel's
/// other data; if not, it holds two tiles of each row.
struct ClusterLayout {
  simt::Launch launch;
  bool keeps = false;
};

/// Returns the layout with a cluster for each request: as many blocks as a row has tiles, but a power of two
/// and at most `largest`.
template <class Kernel>
ClusterLayout cluster_layout(const VerifyBatch& batch, int largest = simt::portable_cluster_blocks) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  const auto blocks =
      static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(std::min(tiles, largest))));
  const std::int64_t width = batch.mixed_rows() ? 4 : dtype_bytes(batch.target.dtype);
  const auto pair = static_cast<std::size_t>(2 * tile_size * width);
  const auto each = static_cast<std::size_t>((tiles + blocks - 1) / blocks);
  ClusterLayout layout{simt::launch_of<Kernel>(std::int64_t{batch.requests} * blocks)};
  layout.launch.cluster = blocks;
  layout.keeps = each * pair + sizeof(typename Kernel::Shared) <= simt::dynamic_shared_limit;
  layout.launch.dynamic_shared = (layout.keeps ? each : 2) * pair;
  return layout;
}

/// Returns the layout with the largest clusters that the executor's device can launch.
template <class Kernel, class Executor>
ClusterLayout cluster_layout_on(const Executor& executor, const VerifyBatch& batch) {
  if (batch.requests <= few_requests) {
    const ClusterLayout layout = cluster_layout<Kernel>(batch, simt::max_cluster_blocks);
    if (executor.template takes<Kernel>(layout.launch)) return layout;
  }
  return cluster_layout<Kernel>(batch);
}

struct ClusterKernels {
  static constexpr ImplementationInfo info{Implementation::cluster, "cluster",
                                           "ours, exact; reads no row after a rejection", true, 90};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    if (batch.rule.method == KernelRule::block)
      return "block verification reads every position before it decides about the first";
    if (batch.has_filters())
      return "takes cut-off logits, but does not compute them from top-k, top-p or min-p";
    if (batch.mixed_rows()) return "takes logits of one format for one vocabulary, without a mask";
    return std::nullopt;
  }
  static std::size_t workspace_bytes(const VerifyBatch&) { return 0; }

  /// Bytes of the rows up to the first rejection or, if there is none, up to the bonus row. If a row pair
  /// cannot be kept, the rejected pair counts twice.
  static Traffic traffic(const VerifyBatch& batch, const MeanOutcome& outcome) {
    const bool target_known = batch.target_options.log_sum_exp != nullptr;
    const bool draft_known = batch.draft_options.log_sum_exp != nullptr || batch.certain_drafts();
    const double row =
        static_cast<double>(batch.vocab) * static_cast<double>(dtype_bytes(batch.target.dtype));
    const double draft_rows = batch.certain_drafts() ? 0 : 1;
    const double decided = outcome.accepted + outcome.rejecting;
    double rows = decided * ((target_known ? 0 : 1) + (draft_known ? 0 : 1)) + (1 - outcome.rejecting);
    const bool retained = cluster_layout<cluster::Lazy<float>>(batch).keeps && !target_known &&
                          !(draft_known && !batch.certain_drafts());
    if (!retained) rows += outcome.rejecting * (1 + draft_rows);
    return {batch.requests * rows * row, 0};
  }

  template <class Executor>
  static void run(Executor&& executor, const VerifyBatch& batch, void*) {
    if (batch.requests == 0) return;
    with_logit_type(batch.target.dtype, [&](auto logit) {
      using Kernel = cluster::Lazy<decltype(logit)>;
      const ClusterLayout layout = cluster_layout_on<Kernel>(executor, batch);
      executor.template run<Kernel>(layout.launch, cluster::Args{batch, tiles_of(batch.vocab), layout.keeps});
    });
  }
};

}  // namespace speclab
