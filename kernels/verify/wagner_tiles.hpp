// The kernel that both programs of Wagner et al. 2024, section 3.2 ("Optimized Speculative Sampling for GPU
// Hardware Accelerators") share. It works on tiles of n = 1024 ids, with one thread for each id, and writes
// tau and a of every id of every drafted position (Fig. 1) and a partial sum b_k for each tile.
//
// In the paper's text each tile of a row has a block of its own, and the tiles' sums are added afterwards; so
// it is here. The program that the authors published has B x gamma blocks that walk through all tiles of
// their row, which leaves most of a GPU idle at B = 1. It also fills tau and a with zeros first, adds tiles
// of odd length without their last element, mixes up rows when B > 1, waits for the host after the kernel,
// and continues in PyTorch operators. None of that is done here.
//
// A thread needs only its own p and q, so they stay in registers, where the paper uses shared memory; here
// shared memory is used for the sum.
#pragma once

#include <cstdint>

#include "kernels/verify/multinomial.hpp"

namespace speclab::wagner {

inline constexpr int tile_size = 1024;  ///< n: threads of a block, and ids of a tile
inline constexpr int warps = tile_size / simt::warp_size;

SPECLAB_HD inline std::int32_t tiles_of(std::int32_t vocab) { return (vocab + tile_size - 1) / tile_size; }

/// p and q of one id, or the numbers that replace them.
struct ProbabilityPair {
  float target;
  float draft;
};

template <class Source>
struct TileArgs {
  VerifyBatch batch;
  std::int32_t tiles;
  Source source;       ///< gives an id's ProbabilityPair
  FloatRows ratios;    ///< [requests, gamma] tau
  FloatRows residual;  ///< [requests, gamma] a
  double* partials;    ///< [requests, gamma, tiles] b_k
};

/// Computes tau = min(1, p/q), a = (p - q)+, and the sum of a, for one tile of one drafted position.
template <class Source>
struct Tiles : simt::KernelOf<TileArgs<Source>, tile_size, 2> {
  static constexpr const char* name = "ratios and residuals";

  struct Scratch {
    float of_warp[warps];
  };

  SPECLAB_DEVICE void operator()(const TileArgs<Source>& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace at = block_place(batch.gamma, args.tiles);
    if (at.position >= batch.length(at.request)) return;
    const int thread = simt::thread_index();
    const std::int32_t id = at.tile * tile_size + thread;
    float residual = 0;
    if (id < batch.vocab) {
      const ProbabilityPair probability = args.source(batch, at.request, at.position, id);
      const float difference = probability.target - probability.draft;
      residual = difference <= 0 ? 0 : difference;  // NaN passes through
      args.ratios.at(at.request, at.position)[id] = bounded_ratio(probability.target, probability.draft);
      args.residual.at(at.request, at.position)[id] = residual;
    }
    // Parallel reduction (Harris 2007): within warps by shuffles, between them in shared memory.
    auto& shared = simt::shared<Scratch>();
    const float in_warp = simt::warp_sum(residual);
    if (thread % simt::warp_size == 0) shared.of_warp[thread / simt::warp_size] = in_warp;
    simt::sync();
    if (thread >= simt::warp_size) return;
    const float sum = simt::warp_sum(shared.of_warp[thread]);
    if (thread == 0) {
      args.partials[(at.request * batch.gamma + at.position) * args.tiles + at.tile] =
          static_cast<double>(sum);
    }
  }
};

struct TileScratch {
  FloatRows ratios;
  FloatRows residual;
  double* partials;
  DrawScratch draw;

  TileScratch(const VerifyBatch& batch, WorkspaceParts& workspace)
      : ratios(take_rows(workspace, batch.requests, batch.gamma, batch.vocab)),
        residual(take_rows(workspace, batch.requests, batch.gamma, batch.vocab)),
        partials(workspace.take<double>(std::int64_t{batch.requests} * batch.gamma * tiles_of(batch.vocab))),
        draw(batch, workspace) {}
};

/// Runs five launches: the tiles, the acceptance draws from tau of the drafted tokens, and three that add up
/// b, divide, and draw.
template <class Executor, class Source, class Target>
void run_tiles(Executor&& executor, const VerifyBatch& batch, const TileScratch& scratch,
               const Source& source, const Target& target) {
  const std::int32_t tiles = tiles_of(batch.vocab);
  executor.template run<Tiles<Source>>(
      simt::launch_of<Tiles<Source>>(std::int64_t{batch.requests} * batch.gamma * tiles),
      {batch, tiles, source, scratch.ratios, scratch.residual, scratch.partials});
  run_acceptance_draws(executor, batch, StoredRatios{scratch.ratios}, scratch.draw.choices);
  run_draw(executor, batch, scratch.draw, {scratch.residual, scratch.partials, tiles}, target);
}

/// Returns the bytes per id of the vocabulary and request, if `probability_bytes` are read for each model.
inline Traffic tile_traffic(const VerifyBatch& batch, double probability_bytes) {
  return {2 * probability_bytes * batch.gamma, 2 * sizeof(float) * static_cast<double>(batch.gamma)};
}

}  // namespace speclab::wagner
