// Computes the softmax of all rows of one model, as probabilities in single precision, in two launches over
// the tiles of all rows.
//
// Bytes: each logit is read twice and 4 bytes are written. A softmax that reads once would need a row in one
// multiprocessor, and 128 Ki floats do not fit; PyTorch's then reads three times (cunn_SoftMaxForward:
// maximum, sum, result), with one block per row.
#pragma once

#include <cstdint>

#include "kernels/simt/launch.hpp"
#include "kernels/verify/rows.hpp"

namespace speclab {

struct SoftmaxArgs {
  VerifyBatch batch;
  bool of_target;
  std::int32_t tiles;
  PartialSum* parts;  ///< [requests, positions, tiles]
  /// [requests, positions]: gamma + 1 for the target, gamma for the draft.
  FloatRows probabilities;

  /// Returns whether the row belongs to the request; rows past a shorter request's end are skipped.
  SPECLAB_HD bool wanted(const BlockPlace& at) const {
    return at.position < batch.length(at.request) + (of_target ? 1 : 0);
  }
  SPECLAB_HD std::int64_t row_index(const BlockPlace& at) const {
    return at.request * probabilities.positions + at.position;
  }
};

/// Computes maximum and sum of each tile.
template <class T>
struct RowProbabilities : simt::KernelOf<SoftmaxArgs, tile_threads, 4> {
  static constexpr const char* name = "row masses";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const BlockPlace at = block_place(args.probabilities.positions, args.tiles);
    if (!args.wanted(at)) return;
    const LogitRow<T> row = logit_row<T>(args.batch, args.of_target, at.request, at.position);
    const HeldTile<T> mine = whole_tile(row, at.tile);
    const PartialSum partial = tile_part(mine, row.scale, simt::shared<PartialSumScratch>());
    if (simt::thread_index() == 0) args.parts[args.row_index(at) * args.tiles + at.tile] = partial;
  }
};

/// Computes the probabilities of a tile from the whole row's sum. An invalid row becomes NaN throughout.
template <class T>
struct Softmax : simt::KernelOf<SoftmaxArgs, tile_threads, 4> {
  static constexpr const char* name = "softmax";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const BlockPlace at = block_place(args.probabilities.positions, args.tiles);
    if (!args.wanted(at)) return;
    const LogitRow<T> row = logit_row<T>(args.batch, args.of_target, at.request, at.position);
    const HeldTile<T> mine = whole_tile(row, at.tile);
    // Each warp merges for itself: it reads a few numbers from the cache, and needs no barrier.
    const PartialSum* const parts = args.parts + args.row_index(at) * args.tiles;
    const LogSum sum = merge_tiles(args.tiles, row.scale.scale, [parts](std::int32_t t) { return parts[t]; });
    const float scale = row.scale.scale;
    HeldWeights probabilities;
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      probabilities.weight[i] =
          power_of_two(relative_log(mine.logit(i), scale, sum) - static_cast<float>(sum.log_sum));
    }
    store_tile<T>(args.probabilities.at(at.request, at.position), args.probabilities.stride, at.tile,
                  probabilities);
  }
};

/// Scratch for the softmaxes of both models.
struct SoftmaxScratch {
  PartialSum* parts;
  FloatRows target;
  FloatRows draft;

  SoftmaxScratch(const VerifyBatch& batch, WorkspaceParts& workspace)
      : parts(workspace.take<PartialSum>(std::int64_t{batch.requests} * (batch.gamma + 1) *
                                         tiles_of(batch.vocab))),
        target(take_rows(workspace, batch.requests, batch.gamma + 1, batch.vocab)),
        draft(take_rows(workspace, batch.requests, batch.gamma, batch.vocab)) {}
};

/// Runs four launches: the target's two, then the draft's.
template <class T, class Executor>
void run_softmaxes(Executor&& executor, const VerifyBatch& batch, const SoftmaxScratch& scratch) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  for (const bool of_target : {true, false}) {
    const SoftmaxArgs args{batch, of_target, tiles, scratch.parts,
                           of_target ? scratch.target : scratch.draft};
    const std::int64_t blocks = std::int64_t{batch.requests} * args.probabilities.positions * tiles;
    executor.template run<RowProbabilities<T>>(simt::launch_of<RowProbabilities<T>>(blocks), args);
    executor.template run<Softmax<T>>(simt::launch_of<Softmax<T>>(blocks), args);
  }
}

/// Returns the bytes that both softmaxes move per id of the vocabulary and request.
inline Traffic softmax_traffic(const VerifyBatch& batch) {
  const double rows = 2.0 * batch.gamma + 1;
  return {rows * 2 * static_cast<double>(dtype_bytes(batch.target.dtype)), rows * sizeof(float)};
}

}  // namespace speclab
