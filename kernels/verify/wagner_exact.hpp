// Exact verification of Wagner et al. 2024, section 3.2.1. Softmaxes (4 launches) are the baseline's, but one
// kernel over all positions and ids computes ratios, residuals and their sums (1 launch), and acceptance
// draws read its ratios (1); division by b and the draw are the baseline's (3). The original waits for the
// host to learn n_matches and calls torch.multinomial.
//
// Bytes per id of the vocabulary and request, where s is a logit's size and R the share of requests that
// reject:
//     read    2 s (2 gamma + 1) + 8 gamma + 4 R + 4 (1 - R) + 4
//     written 4 (2 gamma + 1) + 8 gamma + 4 + 4
// For fp32 this is 4 (10 gamma + 7). The authors' program moves about 4 (10 gamma + 12), with softmaxes
// counted at one read: it fills tau and a with zeros (2 gamma) and draws as PyTorch does. These figures leave
// out b_k, a number for each 1024 ids, the ratios looked up and the probes of the search.
#pragma once

#include "kernels/verify/softmax.hpp"
#include "kernels/verify/wagner_tiles.hpp"

namespace speclab::wagner {

/// Reads p and q from softmaxes in scratch.
struct SoftmaxedPair {
  FloatRows target;
  FloatRows draft;

  SPECLAB_DEVICE ProbabilityPair operator()(const VerifyBatch&, std::int64_t request, std::int32_t position,
                                            std::int32_t id) const {
    return {simt::load(target.at(request, position) + id), simt::load(draft.at(request, position) + id)};
  }
};

struct Exact {
  struct Scratch {
    SoftmaxScratch softmax;
    TileScratch tiles;

    Scratch(const VerifyBatch& batch, WorkspaceParts& workspace)
        : softmax(batch, workspace), tiles(batch, workspace) {}
  };
  static constexpr ImplementationInfo info{Implementation::wagner_exact, "wagner-exact",
                                           "exact; one kernel computes ratios and residuals of all ids",
                                           true};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    return whole_rows_unsupported_reason(batch);
  }

  static Traffic traffic(const VerifyBatch& batch, const MeanOutcome& outcome) {
    return traffic_of_ids(batch, {softmax_traffic(batch), tile_traffic(batch, sizeof(float)),
                                  draw_traffic(outcome.rejecting, sizeof(float))});
  }

  template <class T, class Executor>
  static void launch(Executor&& executor, const VerifyBatch& batch, const Scratch& scratch) {
    run_softmaxes<T>(executor, batch, scratch.softmax);
    run_tiles(executor, batch, scratch.tiles, SoftmaxedPair{scratch.softmax.target, scratch.softmax.draft},
              SoftmaxedTarget{scratch.softmax.target});
  }
};

}  // namespace speclab::wagner
