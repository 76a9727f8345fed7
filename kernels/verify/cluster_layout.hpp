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

/// Returns how many blocks of a cluster share a row of `tiles` tiles: a power of two, at most `largest`.
inline std::int32_t cluster_blocks(std::int32_t tiles, int largest) {
  return static_cast<std::int32_t>(
      std::bit_floor(static_cast<std::uint32_t>(std::min<std::int32_t>(tiles, largest))));
}

/// Up to this many requests get clusters of more blocks than every device supports, if the device can place
/// them: each request then has more multiprocessors, and on an H100 and H200 all of these clusters run at
/// once. With 32 requests they do not, and take longer (kernels/results/nvidia-h100.md).
inline constexpr std::int32_t few_requests = 8;

/// Returns the layout that `layout_for(largest)` makes for the largest clusters that the executor's device
/// can launch; `launch_in` finds the launch in it.
template <class Kernel, class Executor, class LayoutFor, class LaunchIn>
auto layout_on(const Executor& executor, std::int32_t requests, const LayoutFor& layout_for,
               const LaunchIn& launch_in) {
  if (requests <= few_requests) {
    const auto layout = layout_for(simt::max_cluster_blocks);
    if (executor.template takes<Kernel>(launch_in(layout))) return layout;
  }
  return layout_for(simt::portable_cluster_blocks);
}

/// Whether shared memory can hold a block's tiles of a row pair beside the kernel's other data; and the bytes
/// for them or, if it cannot, for two tiles of each row.
struct CopiedTiles {
  bool keeps = false;
  std::size_t bytes = 0;

  CopiedTiles(std::int32_t tiles, std::int32_t blocks, std::int64_t logit_bytes, std::size_t shared_bytes) {
    const std::size_t pair = std::size_t{2} * tile_size * static_cast<std::size_t>(logit_bytes);
    const std::int32_t each = (tiles + blocks - 1) / blocks;
    keeps = static_cast<std::size_t>(each) * pair + shared_bytes <= simt::dynamic_shared_limit;
    bytes = static_cast<std::size_t>(keeps ? each : 2) * pair;
  }
};

struct ClusterLayout {
  simt::Launch lazy;
  bool keeps = false;
};

inline ClusterLayout cluster_layout(const VerifyBatch& batch, int largest = simt::portable_cluster_blocks) {
  ClusterLayout layout;
  const std::int32_t tiles = tiles_of(batch.vocab);
  const std::int32_t blocks = cluster_blocks(tiles, largest);
  layout.lazy = simt::launch_of<cluster::Lazy<float>>(std::int64_t{batch.requests} * blocks);
  layout.lazy.cluster = blocks;
  const CopiedTiles copied(tiles, blocks, dtype_bytes(batch.target.dtype),
                           sizeof(cluster::Lazy<float>::Shared));
  layout.keeps = copied.keeps;
  layout.lazy.dynamic_shared = copied.bytes;
  return layout;
}

struct ClusterKernels {
  static constexpr ImplementationInfo info{Implementation::cluster, "cluster",
                                           "ours, exact; reads no row after a rejection", true, 90};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    if (batch.rule.method == KernelRule::block) {
      return "block verification reads every position before it decides about the first";
    }
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
    const bool retained =
        cluster_layout(batch).keeps && !target_known && !(draft_known && !batch.certain_drafts());
    if (!retained) rows += outcome.rejecting * (1 + draft_rows);
    return {batch.requests * rows * row, 0};
  }

  template <class Executor>
  static void run(Executor&& executor, const VerifyBatch& batch, void*) {
    if (batch.requests == 0) return;
    with_logit_type(batch.target.dtype, [&](auto logit) {
      using Kernel = cluster::Lazy<decltype(logit)>;
      const ClusterLayout layout = layout_on<Kernel>(
          executor, batch.requests, [&batch](int largest) { return cluster_layout(batch, largest); },
          [](const ClusterLayout& of) { return of.lazy; });
      executor.template run<Kernel>(layout.lazy, cluster::Args{batch, tiles_of(batch.vocab), layout.keeps});
    });
  }
};

}  // namespace speclab
