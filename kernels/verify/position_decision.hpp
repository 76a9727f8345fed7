// Makes the acceptance draws of token and lenient verification, position by position in log space.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/weights.hpp"

namespace speclab {

/// The sums, the ratio and the decision of one drafted position.
struct PositionDecision {
  LogSum target;
  LogSum draft;
  double log_ratio;  ///< log2 of target / draft for the drafted token; NaN if a row is invalid
  std::uint32_t flags;
  bool accepted;      ///< result of its own acceptance draw
  double log_target;  ///< log2 of the target's probability of the drafted token
};

/// Returns whether a sum is given for a row at temperature 0. It does not say how many ids have the largest
/// logit, so the row counts as damaged.
SPECLAB_DEVICE inline bool has_sum_of_frozen_row(const VerifyBatch& batch, bool of_target,
                                                 std::int64_t request, std::int32_t position) {
  return batch.options(of_target).log_sum_exp != nullptr &&
         !(row_scale(batch, of_target, request, position).scale < frozen_scale);
}

/// Returns the sum of a row for which VerifyBatch::sum_known is true.
SPECLAB_DEVICE inline LogSum known_sum(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                       std::int32_t position) {
  if (batch.rows(of_target).kind == RowKind::probabilities) return {0, no_token, 0};
  const float scale = row_scale(batch, of_target, request, position).scale;
  if (!(scale < frozen_scale)) return {};
  const float* const sum = batch.entry(batch.options(of_target).log_sum_exp, of_target, request, position);
  return given_log_sum(simt::load(sum), scale);
}

/// Returns a row's sum: the given one, or that of its tiles. One warp calls it.
template <class Tiles>
SPECLAB_DEVICE LogSum sum_of_row(const VerifyBatch& batch, std::int64_t request, bool of_target,
                                 std::int32_t position, std::int32_t tiles, const Tiles& tile_at) {
  if (batch.sum_known(of_target)) return known_sum(batch, of_target, request, position);
  const RowScale scale = row_scale(batch, of_target, request, position);
  return scale.lowest() ? merge_tops(tiles, tile_at) : merge_tiles(tiles, scale.scale, tile_at);
}

struct TokenLogit {
  double logit;
  RowScale scale;
};

template <class T>
SPECLAB_DEVICE TokenLogit token_logit(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                      std::int32_t position, Token token) {
  const auto row = target_ids_row<T>(batch, of_target, request, position);
  return {row.exact(token), row.scale};
}

/// Returns log2 of a token's probability in a row whose sum is known.
SPECLAB_DEVICE inline double log_probability_in(const VerifyBatch& batch, bool of_target, Token token,
                                                const TokenLogit& of_token, const LogSum& sum) {
  if (sum.top != no_token) {
    const bool mapped = !of_target && batch.draft_place != nullptr;
    return (mapped ? batch.draft_place[token] : token) == sum.top ? 0 : log_of_zero;
  }
  return token_log_probability(of_token.logit, of_token.scale, sum);
}
template <class T>
SPECLAB_DEVICE double log_probability_of(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                         std::int32_t position, Token token, const LogSum& sum) {
  return log_probability_in(batch, of_target, token,
                            token_logit<T>(batch, of_target, request, position, token), sum);
}

/// Returns whether the target's (or the draft's) row exists and the drafted token is in the vocabulary.
SPECLAB_DEVICE inline bool has_logit(const VerifyBatch& batch, bool of_target, Token token) {
  return token >= 0 && token < batch.vocab && (of_target || !batch.certain_drafts());
}

/// One of a position's two rows: its sum, and the drafted token's probability. For a certain draft the sum is
/// 1.
struct PositionSide {
  LogSum sum;
  double log_probability;  ///< log2; that of 0 if the row has no logit for the token
};

SPECLAB_DEVICE inline PositionSide position_side(const VerifyBatch& batch, bool of_target, Token token,
                                                 const TokenLogit& of_token, const LogSum& sum) {
  if (!has_logit(batch, of_target, token)) return {sum, log_of_zero};
  return {sum, log_probability_in(batch, of_target, token, of_token, sum)};
}

/// Compares strictly, as `UniformRandomSource::bernoulli` does: probability 0 never happens, nor does NaN.
SPECLAB_HD inline bool uniform_accepts(double u, double log_probability) {
  return u < (log_probability >= 0 ? 1.0 : exp2(log_probability));
}

/// Returns log2 of the factor on the draft's probability in the residual.
SPECLAB_HD inline float log_residual_scale(const VerifyRule& rule) {
  if (rule.method != KernelRule::lenient || rule.residual == Residual::target_minus_draft) return 0;
  return rule.residual == Residual::target ? -INFINITY : static_cast<float>(log2(rule.lenience));
}

/// Returns log2 of the lenience, by which an acceptance draw's probability is divided.
SPECLAB_HD inline double log_lenience_of(const VerifyRule& rule) {
  return rule.method == KernelRule::lenient ? log2(rule.lenience) : 0;
}

/// Makes the acceptance draw of a position from both of its rows. `u`: its uniform.
SPECLAB_HD inline PositionDecision decide_position(const VerifyBatch& batch, Token token,
                                                   const PositionSide& target, const PositionSide& draft,
                                                   double u) {
  PositionDecision decided{target.sum, draft.sum, log_of_zero, 0, false, log_of_zero};
  if (token < 0 || token >= batch.vocab) {
    decided.flags = flag_token_out_of_range;
  } else {
    decided.log_target = target.log_probability;
    decided.log_ratio = target.log_probability;
    if (!batch.certain_drafts()) {
      if (draft.log_probability == log_of_zero) {
        decided.flags = flag_zero_draft_probability;
        decided.log_ratio = log_of_nothing(target.sum);
      } else {
        decided.log_ratio = target.log_probability - draft.log_probability;
      }
    }
  }
  decided.accepted = uniform_accepts(u, decided.log_ratio - log_lenience_of(batch.rule));
  return decided;
}

SPECLAB_HD inline double acceptance_uniform(const VerifyBatch& batch, std::int64_t request,
                                            std::int32_t position) {
  return uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(position)});
}

/// Writes the logarithms of a token, if they are asked for, from log2 of its probability and the sum of its
/// row. One thread calls it.
SPECLAB_DEVICE inline void leave_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                      double log_target, const LogSum& sum) {
  const std::int64_t at = request * (batch.gamma + 1) + position;
  if (batch.log_probabilities != nullptr)
    batch.log_probabilities[at] = static_cast<float>(log_target / log2_e);
  if (batch.log_sum_exps == nullptr) return;
  // A row that was not read has no scale, either.
  const double natural =
      sum.invalid() ? invalid_log : natural_log_sum(row_scale(batch, true, request, position), sum);
  batch.log_sum_exps[at] = static_cast<float>(natural);
}

}  // namespace speclab
