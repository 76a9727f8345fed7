// The first launch of fused.hpp and of trees: it sums rows by tiles.
#pragma once

#include <cstdint>

#include "kernels/simt/launch.hpp"
#include "kernels/verify/weights.hpp"

namespace speclab {

/// Returns the first child of `node` after the node `after`, or -1. All lanes of a warp call it.
template <class ParentAt>
SPECLAB_DEVICE std::int32_t next_child(const ParentAt& parent_at, std::int32_t nodes, std::int32_t node,
                                       std::int32_t after) {
  for (std::int32_t first = after + 1; first < nodes; first += simt::warp_size) {
    const std::int32_t here = first + simt::thread_index() % simt::warp_size;
    const std::uint32_t children = simt::ballot(here < nodes && parent_at(here) == node);
    if (children != 0) return first + simt::lowest_bit(children);
  }
  return -1;
}

namespace fused {

struct Args {
  VerifyBatch batch;
  std::int32_t tiles;
  /// Rows per request whose statistics are taken, from the first position on.
  std::int32_t target_rows;
  std::int32_t draft_rows;
  /// Number of tiles of a row that one block of `Statistics` takes, one after the other.
  std::int32_t statistics_tiles;
  /// Blocks of `Next` per request (in block verification, per position of a request).
  std::int32_t next_blocks;
  std::uint32_t* weighed;  ///< [requests] blocks of `Next` that are done
  PartialSum* parts;       ///< [requests, target_rows + draft_rows, tiles]
  /// [requests, tiles]; in block verification [requests, gamma + 1, tiles].
  TileWeightSum* weight_sums;
  float* weight_cells;  ///< [..., cells of a tile], likewise
  /// Those of a TreeBatch; null for chains. For trees only the rows after nodes that have children count.
  View<const std::int32_t> parents;
  View<const std::int32_t> draft_row;
  std::int32_t draft_row_count;
};

/// Returns the place of a row's parts; `Place` has those fields of Args that it depends on.
template <class Place>
SPECLAB_DEVICE PartialSum* parts_of(const Place& args, std::int64_t request, bool of_target,
                                    std::int32_t position) {
  const std::int32_t row = of_target ? position : args.target_rows + position;
  return args.parts + (request * (args.target_rows + args.draft_rows) + row) * args.tiles;
}

/// Sets the counters to zero.
struct Clear : simt::KernelOf<fused::Args, tile_threads, 4> {
  static constexpr const char* name = "clear";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const std::int64_t request = simt::block_index() * threads + simt::thread_index();
    if (request < args.batch.requests) args.weighed[request] = 0;
  }
};

/// Returns the number of the row after a tree's node that is to be summed; below 0: none, because the node
/// has no children, or the tree is invalid, and its walk will end before it reads sums. All lanes of a warp
/// call it.
SPECLAB_DEVICE inline std::int32_t row_in_tree(const Args& args, std::int64_t request, bool of_target,
                                               std::int32_t position) {
  const VerifyBatch& batch = args.batch;
  const std::int32_t nodes = batch.length(request);
  const auto parent_at = [&](std::int32_t i) { return *args.parents.at(request, i, batch.gamma); };
  if (nodes > batch.gamma || next_child(parent_at, nodes, position - 1, position - 1) < 0) return -1;
  if (of_target) return position;
  const std::int32_t row =
      args.draft_row == nullptr ? position : *args.draft_row.at(request, position, batch.gamma);
  return row < args.draft_row_count ? row : -1;
}

/// Takes the statistics. Neither this kernel nor `Clear` is launched early: any earlier kernel that used the
/// workspace has ended when they write to it.
template <class T>
struct Statistics : simt::KernelOf<fused::Args, tile_threads, sizeof(T) == 4 ? 2 : 4> {
  static constexpr const char* name = "statistics";

  struct Shared {
    PartialSumScratch scratch[2];  ///< tiles alternate between the two: one barrier per tile is enough
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const VerifyBatch& batch = args.batch;
    const std::int32_t groups = (args.tiles + args.statistics_tiles - 1) / args.statistics_tiles;
    const BlockPlace place = block_place(args.target_rows + args.draft_rows, groups);
    const std::int64_t request = place.request;
    if (place.position == 0 && place.tile == 0 && simt::thread_index() == 0) args.weighed[request] = 0;
    const bool of_target = place.position < args.target_rows;
    const std::int32_t position = of_target ? place.position : place.position - args.target_rows;
    // The row lies past a shorter request's end.
    if (position >= batch.length(request)) return;
    const std::int32_t at =
        args.parents == nullptr ? position : row_in_tree(args, request, of_target, position);
    if (at < 0) return;

    const RowOf<T> row = logit_row<T>(batch, of_target, request, at);
    auto& shared = simt::shared<Shared>();
    PartialSum* const parts = parts_of(args, request, of_target, position);
    const std::int32_t first = place.tile * args.statistics_tiles;
    const std::int32_t end =
        first + args.statistics_tiles < args.tiles ? first + args.statistics_tiles : args.tiles;
    auto mine = begin_tile(row, first);
    for (std::int32_t tile = first; tile < end; ++tile) {
      // The next tile is loaded while this one is summed.
      decltype(mine) following{};
      if (tile + 1 < end) following = begin_tile(row, tile + 1);
      complete_tile(row, tile, mine);
      const PartialSum partial = tile_part(mine, row.scale, shared.scratch[tile % 2]);
      if (simt::thread_index() == 0) parts[tile] = partial;
      mine = following;
    }
  }
};

}  // namespace fused

}  // namespace speclab
