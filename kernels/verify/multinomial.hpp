// Draws the next token from rows of weights in scratch, as programs over whole tensors do: one launch divides
// the residual by its sum and writes it, one writes its cumulative sum, and one searches the cumulative sum.
//
// The shape is that of Hugging Face's `p_prime.div_(p_prime.sum())` and `torch.multinomial`. For one sample
// PyTorch draws V exponentials, divides by them and takes an argmax (5 V numbers, and up to 3 V to check its
// input). A cumulative sum moves 2 V and takes the one uniform that all implementations share, so that their
// decisions can be compared; it costs less, never more. Sums are computed in the launches that write their
// terms (as torch.compile fuses them), not in launches of their own.
//
// Bytes per id: the residual is read (4), its quotient written (4) and read (4), the cumulative sum written
// (4). The bonus row's weights are the target's. Single precision ends at 2^-24 of the total: a token whose
// whole weight is below that may vanish between its neighbours.
#pragma once

#include <cstdint>

#include "kernels/verify/acceptance_draws.hpp"

namespace speclab {

/// Rows of (target - draft)+ and their sums in parts.
struct ResidualRows {
  /// [requests, positions]; with one position, the row is that of each request's rejection.
  FloatRows rows;
  const double* partials;  ///< [requests, positions, parts]
  std::int32_t parts;

  SPECLAB_HD std::int32_t place(std::int32_t position) const { return rows.positions == 1 ? 0 : position; }

  /// Returns the sum of a row. Whole warps call it; every lane adds some parts, and all warps get the same
  /// sum.
  SPECLAB_DEVICE double total(std::int64_t request, std::int32_t position) const {
    const double* const of_row = partials + (request * rows.positions + place(position)) * parts;
    double sum = 0;
    for (std::int32_t i = simt::thread_index() % simt::warp_size; i < parts; i += simt::warp_size)
      sum += of_row[i];
    return simt::warp_sum(sum);
  }
};

/// A target that is stored as probabilities. `Layout` tells in which order threads hold a tile.
struct SoftmaxedTarget {
  using Layout = float;
  FloatRows rows;

  SPECLAB_DEVICE HeldWeights operator()(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                        std::int32_t tile) const {
    return load_weights(rows.at(request, position), batch.vocab, tile);
  }
};

struct DrawArgs {
  VerifyBatch batch;
  std::int32_t tiles;
  AcceptanceEnd* choices;  ///< [requests]
  FloatRows weights;       ///< [requests, 1]
  FloatRows cumulative;    ///< [requests, 1]
  double* sums;            ///< [requests, tiles] sums of the weights
};

/// Divides the residual by its sum. If there is no residual to sample, which rounding or u = 1 can cause, the
/// target replaces it.
template <class Target>
struct Normalise {
  struct Args {
    DrawArgs draw;
    ResidualRows residual;
    Target target;
  };
  static constexpr const char* name = "normalise";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 4;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const DrawArgs& draw = args.draw;
    const BlockPlace at = block_place(1, draw.tiles);
    const std::int32_t position = draw.choices[at.request].position;
    if (position < 0) return;
    const bool bonus = position == draw.batch.length(at.request);
    const double total = bonus ? 0 : args.residual.total(at.request, position);
    if (total == 0) {
      leave<typename Target::Layout>(draw, at, args.target(draw.batch, at.request, position, at.tile));
      if (!bonus && at.tile == 0 && simt::thread_index() == 0)
        draw.choices[at.request].flags |= flag_zero_residual;
      return;
    }
    HeldWeights mine = load_weights(args.residual.rows.at(at.request, args.residual.place(position)),
                                    draw.batch.vocab, at.tile);
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) mine.weight[i] /= static_cast<float>(total);
    leave<float>(draw, at, mine);
  }

 private:
  template <class Layout>
  SPECLAB_DEVICE static void leave(const DrawArgs& draw, const BlockPlace& at, const HeldWeights& mine) {
    store_tile<Layout>(draw.weights.at(at.request, 0), draw.weights.stride, at.tile, mine);
    const double sum = tile_sum(mine, simt::shared<SumScratch>());
    if (simt::thread_index() == 0) draw.sums[at.request * draw.tiles + at.tile] = sum;
  }
};

/// Computes cumulative sums, added in double and rounded once.
struct Accumulate : simt::KernelOf<DrawArgs, tile_threads, 2> {
  using Shape = TileShape<float>;
  static constexpr const char* name = "cumulative sum";

  static constexpr int stretches =
      Shape::steps * tile_warps;  ///< runs of consecutive ids in a tile; a warp takes one per step

  struct Scratch {
    double of_stretch[stretches];
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const BlockPlace at = block_place(1, args.tiles);
    if (args.choices[at.request].position < 0) return;
    const int lane = simt::thread_index() % simt::warp_size;
    const int warp = simt::thread_index() / simt::warp_size;
    auto& shared = simt::shared<Scratch>();
    HeldWeights mine = load_weights(args.weights.at(at.request, 0), args.batch.vocab, at.tile);
    double below[Shape::steps];
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) {
      double own = 0;
      SPECLAB_UNROLL
      for (int k = 0; k < Shape::width; ++k) own += static_cast<double>(mine.weight[s * Shape::width + k]);
      const double in_stretch = simt::warp_inclusive_sum(own);
      if (lane == simt::warp_size - 1) shared.of_stretch[s * tile_warps + warp] = in_stretch;
      below[s] = in_stretch - own;
    }
    simt::sync();
    if (warp == 0) {
      // Each stretch's sum is replaced by the sum of the stretches before it.
      static_assert(stretches == 2 * simt::warp_size);
      const double first = shared.of_stretch[2 * lane];
      const double both = first + shared.of_stretch[2 * lane + 1];
      const double before = simt::warp_inclusive_sum(both) - both;
      shared.of_stretch[2 * lane] = before;
      shared.of_stretch[2 * lane + 1] = before + first;
    }
    double base = 0;
    for (std::int32_t t = 0; t < at.tile; ++t) base += args.sums[at.request * args.tiles + t];
    simt::sync();
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) {
      below[s] += base + shared.of_stretch[s * tile_warps + warp];
      SPECLAB_UNROLL
      for (int k = 0; k < Shape::width; ++k) {
        float& weight = mine.weight[s * Shape::width + k];
        below[s] += static_cast<double>(weight);
        weight = static_cast<float>(below[s]);
      }
    }
    store_tile<float>(args.cumulative.at(at.request, 0), args.cumulative.stride, at.tile, mine);
  }
};

/// Finds the first id whose cumulative sum exceeds the share u of the total: 32 lanes search, one warp for
/// each request.
struct Search : simt::KernelOf<DrawArgs, small_block, 1> {
  static constexpr const char* name = "search";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const int lane = simt::thread_index() % simt::warp_size;
    const std::int64_t request = request_of_warp();
    if (request >= batch.requests) return;
    const AcceptanceEnd choice = args.choices[request];
    if (choice.position < 0) return;

    const float* const cumulative = args.cumulative.at(request, 0);
    const auto total = static_cast<double>(cumulative[batch.vocab - 1]);
    if (!(total > 0) || !(total - total == 0)) {
      if (lane == 0)
        write_result(batch, request, choice.position, invalid_token, choice.flags | flag_invalid_row);
      return;
    }
    const bool bonus = choice.position == batch.length(request);
    const double goal = uniform_of(batch, request, next_draw(bonus, choice.position)) * total;
    std::int32_t first = 0;
    std::int32_t last = batch.vocab;
    while (last - first > 1) {
      const std::int32_t width = (last - first + simt::warp_size - 1) / simt::warp_size;
      const std::int32_t end = first + (lane + 1) * width < last ? first + (lane + 1) * width : last;
      const auto weight = static_cast<double>(cumulative[end - 1]);
      // At u = 1, the id is drawn whose cumulative weight reaches the total.
      const bool passes = weight > goal || weight >= total;
      const int part =
          simt::warp_reduce(passes ? lane : simt::warp_size - 1, [](int a, int b) { return a < b ? a : b; });
      first += part * width;
      last = first + width < last ? first + width : last;
    }
    if (lane == 0) {
      const Token next = next_positive(args.weights.at(request, 0), first, batch.vocab);
      write_result(batch, request, choice.position, next, choice.flags);
    }
  }

 private:
  /// Returns the nearest id of positive weight. Sums in different orders may differ by a rounding, so that
  /// the search can end beside an id of probability 0.
  SPECLAB_DEVICE static Token next_positive(const float* weights, Token found, std::int32_t vocab) {
    for (Token id = found; id < vocab; ++id) {
      if (weights[id] > 0) return id;
    }
    Token id = found;
    while (id > 0 && !(weights[id] > 0)) --id;
    return id;
  }
};

struct DrawScratch {
  AcceptanceEnd* choices;
  FloatRows weights;
  FloatRows cumulative;
  double* sums;

  DrawScratch(const VerifyBatch& batch, WorkspaceParts& workspace)
      : choices(workspace.take<AcceptanceEnd>(batch.requests)),
        weights(take_rows(workspace, batch.requests, 1, batch.vocab)),
        cumulative(take_rows(workspace, batch.requests, 1, batch.vocab)),
        sums(workspace.take<double>(std::int64_t{batch.requests} * tiles_of(batch.vocab))) {}
};

/// Draws the next tokens in three launches, once the acceptance draws are made.
template <class Executor, class Target>
void run_draw(Executor&& executor, const VerifyBatch& batch, const DrawScratch& scratch,
              const ResidualRows& residual, const Target& target) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  const DrawArgs args{batch, tiles, scratch.choices, scratch.weights, scratch.cumulative, scratch.sums};
  const std::int64_t blocks = std::int64_t{batch.requests} * tiles;
  executor.template run<Normalise<Target>>(simt::launch_of<Normalise<Target>>(blocks),
                                           {args, residual, target});
  executor.template run<Accumulate>(simt::launch_of<Accumulate>(blocks), args);
  executor.template run<Search>(simt::launch_of<Search>(small_blocks(batch.requests)), args);
}

/// Returns the bytes per id of the vocabulary and request, if a share `rejecting` of the requests has a
/// residual and the others read `target_bytes` for each of the target's weights.
inline Traffic draw_traffic(double rejecting, double target_bytes) {
  return {rejecting * sizeof(float) + (1 - rejecting) * target_bytes + sizeof(float), 2 * sizeof(float)};
}

}  // namespace speclab
