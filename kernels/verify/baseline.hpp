// Verifies a batch in the shape of Hugging Face's `_speculative_sampling` (transformers,
// generation/utils.py): every tensor of the program is written and read again by the next launch. Operators
// that torch.compile would fuse are fused: gather with ratio and comparison, clamp with difference and sum.
// Nine launches:
//     softmax of the target's rows (2) and of the draft's (2)     verify/softmax.hpp
//     gather the drafted tokens' probabilities, first rejection   verify/acceptance_draws.hpp
//     residual (p - q)+ of each request's one rejected position, as the original does
//     divide by its sum, cumulative sum, search (3)               verify/multinomial.hpp
// It never waits for the host; the original waits, to index by n_matches.
//
// Bytes per id of the vocabulary and request, where s is a logit's size and R the share of requests that
// reject:
//     read    2 s (2 gamma + 1) + 8 R + 4 R + 4 (1 - R) + 4
//     written 4 (2 gamma + 1) + 4 R + 4 + 4
// For fp32 and R = 1 this is 4 (6 gamma + 10). Operator by operator the original moves 4 (8 gamma + 20),
// since PyTorch's softmax reads a long row three times; with one read it would move 4 (4 gamma + 18). These
// figures leave out one or two numbers per tile, the gathered probabilities and the probes of the search.
#pragma once

#include <cstdint>

#include "kernels/verify/multinomial.hpp"
#include "kernels/verify/softmax.hpp"

namespace speclab::baseline {

/// Computes (target - draft)+ at the position where each request's acceptance draws ended, and its sum tile
/// by tile. A request that gets a bonus token is skipped.
struct Residual {
  struct Args {
    VerifyBatch batch;
    std::int32_t tiles;
    const AcceptanceEnd* choices;
    FloatRows target;
    FloatRows draft;
    FloatRows residual;  ///< [requests, 1]
    double* partials;    ///< [requests, tiles]
  };
  static constexpr const char* name = "residual";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 2;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const BlockPlace at = block_place(1, args.tiles);
    const std::int32_t position = args.choices[at.request].position;
    if (position < 0 || position == args.batch.length(at.request)) return;
    HeldWeights mine = load_weights(args.target.at(at.request, position), args.batch.vocab, at.tile);
    const HeldWeights draft = load_weights(args.draft.at(at.request, position), args.batch.vocab, at.tile);
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      const float difference = mine.weight[i] - draft.weight[i];
      mine.weight[i] = difference <= 0 ? 0 : difference;  // NaN passes through
    }
    store_tile<float>(args.residual.at(at.request, 0), args.residual.stride, at.tile, mine);
    const double sum = tile_sum(mine, simt::shared<SumScratch>());
    if (simt::thread_index() == 0) args.partials[at.request * args.tiles + at.tile] = sum;
  }
};

struct Scratch {
  SoftmaxScratch softmax;
  FloatRows residual;
  double* partials;
  DrawScratch draw;

  Scratch(const VerifyBatch& batch, WorkspaceParts& workspace)
      : softmax(batch, workspace),
        residual(take_rows(workspace, batch.requests, 1, batch.vocab)),
        partials(workspace.take<double>(std::int64_t{batch.requests} * tiles_of(batch.vocab))),
        draw(batch, workspace) {}
};

struct Program {
  using Scratch = baseline::Scratch;
  static constexpr ImplementationInfo info{Implementation::baseline, "baseline",
                                           "exact; Hugging Face's operations, which write every tensor",
                                           true};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    return whole_rows_unsupported_reason(batch);
  }

  static Traffic traffic(const VerifyBatch& batch, const MeanOutcome& outcome) {
    const double rejecting = outcome.rejecting;
    const Traffic residual{2 * sizeof(float) * rejecting, sizeof(float) * rejecting};
    return traffic_of_ids(batch, {softmax_traffic(batch), residual, draw_traffic(rejecting, sizeof(float))});
  }

  template <class T, class Executor>
  static void launch(Executor&& executor, const VerifyBatch& batch, const Scratch& scratch) {
    const std::int32_t tiles = tiles_of(batch.vocab);
    const FloatRows& target = scratch.softmax.target;
    const FloatRows& draft = scratch.softmax.draft;
    run_softmaxes<T>(executor, batch, scratch.softmax);
    run_acceptance_draws(executor, batch, GatheredRatios{target, draft}, scratch.draw.choices);
    executor.template run<Residual>(
        simt::launch_of<Residual>(batch.gamma == 0 ? 0 : std::int64_t{batch.requests} * tiles),
        {batch, tiles, scratch.draw.choices, target, draft, scratch.residual, scratch.partials});
    run_draw(executor, batch, scratch.draw, {scratch.residual, scratch.partials, tiles},
             SoftmaxedTarget{target});
  }
};

}  // namespace speclab::baseline
