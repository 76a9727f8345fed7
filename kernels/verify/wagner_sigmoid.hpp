// The sigmoid approximation of Wagner et al. 2024, section 3.2.2. It differs from their exact program in that
// there is no softmax: the kernel over tiles reads logits z and uses sigma((z - alpha) / (beta - alpha)) (Eq.
// 5) in place of probabilities. 5 launches. The output does not have the target's distribution
// (tests/kernels/verify/sigmoid_test.cpp computes how far off it is). Temperatures and cut-offs are not
// supported.
//
// The paper does not say from what the bonus token is drawn. Its program adapts the one that takes the row of
// p at position gamma (transformers' `_speculative_sampling`), so here it is drawn from p_hat of that row,
// normalised. (As published the program draws from the logits themselves, raised to 1e-5 where they are less,
// since its kernel never reaches that row.) If p_hat <= q_hat everywhere, a rejected token has no residual;
// then p_hat of the rejected position's row is used, where the published program samples all ids alike.
//
// Bytes per id of the vocabulary and request, where s is a logit's size and R the share of requests that
// reject:
//     read    2 s gamma + 4 R + s (1 - R) + 4
//     written 8 gamma + 4 + 4
// For fp32 this is 4 (4 gamma + 4). The authors' program moves about 4 (7 gamma + 12): it fills tau and a
// with zeros (2 gamma), writes p_hat over the logits (gamma), and draws as PyTorch does. These figures leave
// out b_k, a number for each 1024 ids, the ratios looked up and the probes of the search.
#pragma once

#include <cmath>

#include "kernels/verify/wagner_tiles.hpp"

namespace speclab::wagner {

/// Computes Eq. 5 as one fused multiply-add and a sigmoid.
struct Sigmoid {
  float factor;
  float shift;

  explicit Sigmoid(const VerifyRule& rule)
      : factor(static_cast<float>(1 / (rule.sigmoid_beta - rule.sigmoid_alpha))),
        shift(static_cast<float>(-rule.sigmoid_alpha / (rule.sigmoid_beta - rule.sigmoid_alpha))) {}

  /// Returns NaN for NaN and +inf, which are invalid logits for softmaxes, too.
  SPECLAB_HD float operator()(float logit) const {
    return logit < INFINITY ? 1 / (1 + expf(-fmaf(logit, factor, shift))) : NAN;
  }
};

template <class T>
struct SigmoidPair {
  Sigmoid sigmoid;

  SPECLAB_DEVICE ProbabilityPair operator()(const VerifyBatch& batch, std::int64_t request,
                                            std::int32_t position, std::int32_t id) const {
    return {sigmoid(to_float(load_one(row_of<T>(batch.target, request, position) + id))),
            sigmoid(to_float(load_one(row_of<T>(batch.draft, request, position) + id)))};
  }
};

/// Computes weights of the target's row directly from its logits, for the draw from it.
template <class T>
struct SigmoidTarget {
  using Layout = T;
  Sigmoid sigmoid;

  SPECLAB_DEVICE HeldWeights operator()(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                        std::int32_t tile) const {
    const T* const row = row_of<T>(batch.target, request, position);
    const HeldTile<T> logits = whole_tile(LogitRow<T>{row, batch.vocab, {1, -INFINITY}}, tile);
    HeldWeights weights;
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) weights.weight[i] = sigmoid(logits.logit(i));
    return weights;
  }
};

struct SigmoidProgram {
  using Scratch = TileScratch;
  static constexpr ImplementationInfo info{Implementation::wagner_sigmoid, "wagner-sigmoid",
                                           "approximate: sigmoids instead of softmaxes", false};

  static std::optional<std::string> unsupported_reason(const VerifyBatch& batch) {
    for (const RowOptions& options : {batch.target_options, batch.draft_options}) {
      if (options.temperature != nullptr || options.cutoff != nullptr)
        return "takes logits as they are: no temperatures and no cut-offs";
    }
    if (!(batch.rule.sigmoid_alpha < batch.rule.sigmoid_beta)) return "needs sigmoid_alpha < sigmoid_beta";
    return whole_rows_unsupported_reason(batch);
  }

  static Traffic traffic(const VerifyBatch& batch, const MeanOutcome& outcome) {
    const auto logit = static_cast<double>(dtype_bytes(batch.target.dtype));
    return traffic_of_ids(batch, {tile_traffic(batch, logit), draw_traffic(outcome.rejecting, logit)});
  }

  template <class T, class Executor>
  static void launch(Executor&& executor, const VerifyBatch& batch, const Scratch& scratch) {
    const Sigmoid sigmoid(batch.rule);
    run_tiles(executor, batch, scratch, SigmoidPair<T>{sigmoid}, SigmoidTarget<T>{sigmoid});
  }
};

}  // namespace speclab::wagner
