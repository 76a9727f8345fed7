// Makes the acceptance draws of token verification from ratios of probabilities in single precision; one warp
// serves one request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/simt/launch.hpp"
#include "kernels/verify/rows.hpp"

namespace speclab {

/// The position where a request's acceptance draws ended.
struct AcceptanceEnd {
  /// Position of the next token, which is the number of accepted tokens; -1: the result is written already.
  std::int32_t position;
  std::uint32_t flags;
};

/// Replaces the ratio of a token whose draft probability is 0 or underflows single precision.
inline constexpr float zero_draft_probability = -1;

/// Returns min(1, target / draft). NaN passes through, and no uniform is below it.
SPECLAB_HD inline float bounded_ratio(float target, float draft) {
  if (draft == 0) return zero_draft_probability;
  const float ratio = target / draft;
  return ratio > 1 ? 1 : ratio;
}

/// Ratios of every id, stored as rows.
struct StoredRatios {
  FloatRows rows;  ///< [requests, gamma]

  SPECLAB_HD float operator()(std::int64_t request, std::int32_t position, Token token) const {
    return rows.at(request, position)[token];
  }
};

/// Ratios computed from the stored probabilities of both models.
struct GatheredRatios {
  FloatRows target;  ///< [requests, gamma + 1]
  FloatRows draft;   ///< [requests, gamma]

  SPECLAB_HD float operator()(std::int64_t request, std::int32_t position, Token token) const {
    return bounded_ratio(target.at(request, position)[token], draft.at(request, position)[token]);
  }
};

inline constexpr int small_block = 128;
inline constexpr int requests_of_small_block = small_block / simt::warp_size;

inline std::int64_t small_blocks(std::int64_t requests) {
  return (requests + requests_of_small_block - 1) / requests_of_small_block;
}

/// Returns the request of this warp; it may lie past the last request.
SPECLAB_DEVICE inline std::int64_t request_of_warp() {
  return simt::block_index() * requests_of_small_block + simt::thread_index() / simt::warp_size;
}

/// Makes the acceptance draw of every position, each by its own lane, and records the first that fails.
template <class Ratios>
struct FirstRejection {
  struct Args {
    VerifyBatch batch;
    Ratios ratios;
    AcceptanceEnd* choices;  ///< [requests]
  };
  static constexpr const char* name = "first rejection";
  static constexpr int threads = small_block;
  static constexpr int min_blocks = 1;

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const int lane = simt::thread_index() % simt::warp_size;
    const std::int64_t request = request_of_warp();
    if (request >= batch.requests) return;
    if (refuses_length(batch, request, lane == 0)) {
      if (lane == 0) args.choices[request] = {-1, 0};
      return;
    }
    const std::int32_t length = batch.length(request);
    for (std::int32_t first = 0; first < length; first += simt::warp_size) {
      const std::int32_t position = first + lane;
      bool accepted = true;
      std::uint32_t flags = 0;
      if (position < length) {
        const Token token = batch.drafted_token(request, position);
        const bool outside = token < 0 || token >= batch.vocab;
        const float ratio = outside ? 0 : args.ratios(request, position, token);
        if (outside) flags = flag_token_out_of_range;
        if (ratio == zero_draft_probability) flags = flag_zero_draft_probability;
        // The comparison is strict, as in `UniformRandomSource::bernoulli`; the original programs compare
        // with <=.
        accepted = uniform_of(batch, request, {Use::accept, static_cast<std::uint16_t>(position)}) <
                   static_cast<double>(ratio);
      }
      const std::uint32_t rejected = simt::ballot(!accepted);
      if (rejected == 0) continue;
      const std::uint32_t before = rejected & ((1U << static_cast<unsigned>(lane)) - 1U);
      if (!accepted && before == 0) args.choices[request] = {position, flags};
      return;
    }
    if (lane == 0) args.choices[request] = {length, 0};
  }
};

template <class Executor, class Ratios>
void run_acceptance_draws(Executor&& executor, const VerifyBatch& batch, const Ratios& ratios,
                          AcceptanceEnd* choices) {
  using AcceptanceDraws = FirstRejection<Ratios>;
  executor.template run<AcceptanceDraws>(simt::launch_of<AcceptanceDraws>(small_blocks(batch.requests)),
                                         {batch, ratios, choices});
}

/// Returns the reason why a program that stores complete rows cannot verify this batch; nothing if it can.
/// Such programs support only the token rule, and need the draft's rows.
inline std::optional<std::string> whole_rows_unsupported_reason(const VerifyBatch& batch) {
  if (batch.rule.method != KernelRule::token) return "verifies by the token rule only";
  if (batch.certain_drafts() && batch.gamma > 0) return "needs the draft's logits";
  if (batch.target_options.log_sum_exp != nullptr || batch.draft_options.log_sum_exp != nullptr)
    return "takes no log-sum-exps: it normalises rows itself, or not at all";
  if (batch.mixed_rows()) return "takes logits of one format for one vocabulary, without a mask";
  if (batch.has_filters())
    return "takes cut-off logits, but does not compute them from top-k, top-p or min-p";
  if (batch.ties == Ties::lowest) return "shares temperature 0 among ties";
  if (batch.bonus != nullptr) return "draws the bonus token itself";
  if (batch.log_probabilities != nullptr || batch.log_sum_exps != nullptr) return "writes no logarithms";
  return std::nullopt;
}

}  // namespace speclab
