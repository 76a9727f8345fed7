// The acceptance draws of token and lenient verification, position by position in log space, and where they
// end.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/weights.hpp"

namespace speclab {

/// What is known about one drafted position.
struct PositionDecision {
  LogSum target;
  LogSum draft;
  double log_ratio;  ///< log2 of target / draft of the drafted token; NaN when a row is invalid
  std::uint32_t flags;
  bool accepted;      ///< by its own acceptance draw
  double log_target;  ///< log2 of the target's probability of the drafted token
};

/// The sum of a row where VerifyBatch::sum_known.
SPECLAB_DEVICE inline LogSum known_sum(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                       std::int32_t position) {
  if (batch.rows(of_target).kind == RowKind::probabilities) return {0, no_token, 0};
  return given_log_sum(
      simt::load(batch.entry(batch.options(of_target).log_sum_exp, of_target, request, position)));
}

/// A row's sum: as given with the logits, or from its tiles. By one warp.
template <class Tiles>
SPECLAB_DEVICE LogSum sum_of_row(const VerifyBatch& batch, std::int64_t request, bool of_target,
                                 std::int32_t position, std::int32_t tiles, const Tiles& tile_at) {
  if (batch.sum_known(of_target)) return known_sum(batch, of_target, request, position);
  const bool lowest = row_scale(batch, of_target, request, position).lowest();
  return lowest ? merge_tops(tiles, tile_at) : merge_tiles(tiles, tile_at);
}

/// log2 of a token's probability in a row whose sum is known.
template <class T>
SPECLAB_DEVICE double log_probability_of(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                         std::int32_t position, Token token, const LogSum& sum) {
  if (sum.top != no_token) {
    const bool mapped = !of_target && batch.draft_place != nullptr;
    return (mapped ? batch.draft_place[token] : token) == sum.top ? 0 : log_of_zero;
  }
  const auto row = target_ids_row<T>(batch, of_target, request, position);
  return token_log_probability(row.exact(token), row.scale, sum);
}

/// The token's log2 of target / draft probability, with flags, and of its target probability. `log_draft` of
/// a certain draft is 0.
template <class T>
SPECLAB_DEVICE double log_ratio_of(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                   Token token, const LogSum& target, const LogSum& draft,
                                   std::uint32_t& flags, double& log_target) {
  log_target = log_of_zero;
  if (token < 0 || token >= batch.vocab) {
    flags |= flag_token_out_of_range;
    return log_of_zero;
  }
  log_target = log_probability_of<T>(batch, true, request, position, token, target);
  if (batch.certain_drafts()) return log_target;
  const double log_draft = log_probability_of<T>(batch, false, request, position, token, draft);
  if (log_draft == log_of_zero) {
    flags |= flag_zero_draft_probability;
    return log_of_nothing(target);
  }
  return log_target - log_draft;
}

/// The strict comparison of `UniformRandomSource::bernoulli`: probability 0 never happens, nor does NaN.
SPECLAB_HD inline bool uniform_accepts(double u, double log_probability) {
  return u < (log_probability >= 0 ? 1.0 : exp2(log_probability));
}

/// log2 of what the draft's probability is multiplied with before the residual is taken.
SPECLAB_HD inline float log_residual_scale(const VerifyRule& rule) {
  if (rule.method != KernelRule::lenient || rule.residual == Residual::target_minus_draft) return 0;
  return rule.residual == Residual::target ? -INFINITY : static_cast<float>(log2(rule.lenience));
}

/// log2 of the lenience, which an acceptance draw's probability is divided by.
SPECLAB_HD inline double log_lenience_of(const VerifyRule& rule) {
  return rule.method == KernelRule::lenient ? log2(rule.lenience) : 0;
}

/// By one warp; the same in all of its lanes. `sums(of_target, position)` gives a row's LogSum.
template <class T, class Sums>
SPECLAB_DEVICE PositionDecision decide_position(const VerifyBatch& batch, std::int64_t request,
                                                std::int32_t position, const Sums& sums) {
  PositionDecision decided{sums(true, position), {}, invalid_log, 0, false, 0};
  decided.draft = batch.certain_drafts() ? LogSum{0, no_token, 0} : sums(false, position);
  const Token token = simt::load(batch.drafted.at(request, position, batch.gamma));
  decided.log_ratio = log_ratio_of<T>(batch, request, position, token, decided.target, decided.draft,
                                      decided.flags, decided.log_target);
  const double u = uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(position)});
  decided.accepted = uniform_accepts(u, decided.log_ratio - log_lenience_of(batch.rule));
  return decided;
}

/// Leaves the logarithms of a token, where they are asked for, from log2 of its probability and the sum of
/// its row. One thread.
SPECLAB_DEVICE inline void leave_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                      double log_target, const LogSum& sum) {
  const std::int64_t at = request * (batch.gamma + 1) + position;
  if (batch.log_probabilities != nullptr) {
    batch.log_probabilities[at] = static_cast<float>(log_target / log2_e);
  }
  if (batch.log_sum_exps == nullptr) return;
  // Of a row that nobody has seen there is no scale, either.
  const double natural =
      sum.invalid() ? invalid_log : natural_log_sum(row_scale(batch, true, request, position), sum);
  batch.log_sum_exps[at] = static_cast<float>(natural);
}

}  // namespace speclab
