// The acceptance draws of token and lenient verification, position by position in log space, and where they
// end.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/tile.hpp"

namespace speclab {

/// What is known about one drafted position.
struct PositionDecision {
  LogSum target;
  LogSum draft;
  double log_ratio;  ///< log2 of target / draft of the drafted token; NaN when a row is invalid
  std::uint32_t flags;
  bool accepted;  ///< by its own acceptance draw
};

/// A row's sum: as given with the logits, or from its tiles. By one warp.
template <class Tiles>
SPECLAB_DEVICE LogSum sum_of_row(const VerifyBatch& batch, std::int64_t request, bool of_target,
                                 std::int32_t position, std::int32_t tiles, const Tiles& tile_at) {
  const float* const given = batch.options(of_target).log_sum_exp;
  if (given != nullptr) {
    return given_log_sum(simt::load(given + batch.row_number(of_target, request, position)));
  }
  return merge_tiles(tiles, tile_at);
}

/// The token's log2 of target / draft probability, with flags. `log_draft` of a certain draft is 0.
template <class T>
SPECLAB_DEVICE double log_ratio_of(const VerifyBatch& batch, std::int64_t request, std::int32_t position,
                                   Token token, const LogSum& target, const LogSum& draft,
                                   std::uint32_t& flags) {
  if (token < 0 || token >= batch.vocab) {
    flags |= flag_token_out_of_range;
    return log_of_zero;
  }
  const auto log_probability_of = [&](bool of_target, const LogSum& sum) {
    const T logit = load_one(row_of<T>(batch.rows(of_target), request, position) + token);
    return token_log_probability(to_float(logit), row_scale(batch, of_target, request, position), sum);
  };
  const double log_target = log_probability_of(true, target);
  if (batch.certain_drafts()) return log_target;
  const double log_draft = log_probability_of(false, draft);
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
  PositionDecision decided{sums(true, position), {}, invalid_log, 0, false};
  decided.draft = batch.certain_drafts() ? LogSum{0, 0} : sums(false, position);
  const Token token = simt::load(batch.drafted + request * batch.gamma + position);
  decided.log_ratio =
      log_ratio_of<T>(batch, request, position, token, decided.target, decided.draft, decided.flags);
  const double u = uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(position)});
  decided.accepted = uniform_accepts(u, decided.log_ratio - log_lenience_of(batch.rule));
  return decided;
}

}  // namespace speclab
