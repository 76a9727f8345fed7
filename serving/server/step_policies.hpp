// Policies that choose how many tokens a step drafts for every decoding sequence, after engines' sources.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "serving/server/step_work.hpp"
#include "serving/server/verification.hpp"

namespace speclab {

/// A policy's input before a step.
struct DecodingBatch {
  std::uint32_t sequences = 0;
  StepWork plain;  ///< work of this step at gamma = 0, prompts included
};

/// The outcome of a step, which a policy learns from.
struct DecodedStep {
  std::uint32_t gamma = 0;
  std::uint32_t sequences = 0;
  std::uint64_t accepted = 0;
  std::uint64_t examined = 0;  ///< drafted tokens up to and including the first rejected one
};

struct FixedGamma {
  std::uint32_t gamma = 0;

  std::uint32_t operator()(const DecodingBatch& /*batch*/) const { return gamma; }
};

/// Chooses gamma by batch, as vLLM's num_speculative_tokens_per_batch_size and TensorRT-LLM's
/// draft_len_schedule; or by batch and mean context (vllm#48944).
struct GammaTable {
  /// The first row that covers batch and context decides; without one, gamma is 0.
  struct Row {
    std::uint32_t batch = 0;  ///< most sequences
    double context = 0;       ///< most tokens per sequence; 0: any
    std::uint32_t gamma = 0;
  };
  std::vector<Row> rows;

  std::uint32_t operator()(const DecodingBatch& batch) const {
    const double mean = batch.plain.decoding_context / std::max(1U, batch.sequences);
    for (const Row& row : rows) {
      if (batch.sequences <= row.batch && (row.context == 0 || mean <= row.context)) return row.gamma;
    }
    return 0;
  }
};

/// SGLang's adaptive steps (python/sglang/srt/speculative/adaptive_spec_params.py at 015c872, 2026). The slot
/// nearest to the batch decides; it has its own candidates for gamma and moving average of accepted tokens
/// per round. Every 5 steps, after the first 10, the slot moves up past candidates that the average exceeds
/// by half a token, or moves down; a slot at 0 tries its next candidate.
struct EmaTiers {
  struct Slot {
    std::uint32_t batch = 1;
    std::vector<std::uint32_t> candidates{};  ///< increasing
    double down = 0;                          ///< added to the threshold for moving down
    std::size_t at = 0;                       ///< index of the current candidate
    double average = 0;
    std::uint32_t steps = 0;
  };
  std::vector<Slot> slots{};  ///< in order of increasing batch
  double weight = 0.2;
  std::uint32_t every = 5;
  std::uint32_t warm_up = 10;

  /// Returns SGLang's defaults.
  static EmaTiers defaults() {
    return of({{1, {1, 3, 5, 7}, -0.25}, {8, {0, 1, 3}, 0}, {32, {0, 1}, 0}, {64, {0}, 0}});
  }
  static EmaTiers of(std::vector<Slot> slots) {
    for (Slot& slot : slots) {
      slot.at = slot.candidates.size() / 2;
      slot.average = slot.candidates[slot.at] - 1.0;
    }
    return {std::move(slots)};
  }

  Slot& nearest(std::uint32_t batch) {
    return *std::min_element(slots.begin(), slots.end(), [&](const Slot& a, const Slot& b) {
      const auto distance = [&](const Slot& slot) { return std::abs(double(slot.batch) - double(batch)); };
      return distance(a) < distance(b);
    });
  }
  std::uint32_t operator()(const DecodingBatch& batch) {
    const Slot& slot = nearest(batch.sequences);
    return slot.candidates[slot.at];
  }
  void observe(const DecodedStep& outcome) {
    Slot& slot = nearest(outcome.sequences);
    if (outcome.gamma > 0)
      slot.average += weight * (static_cast<double>(outcome.accepted) / outcome.sequences - slot.average);
    if (++slot.steps <= warm_up || (slot.steps - warm_up) % every != 0) return;
    const std::size_t last = slot.candidates.size() - 1;
    if (slot.candidates[slot.at] == 0) {
      slot.at = std::min(slot.at + 1, last);
      if (slot.average < 0) slot.average = slot.candidates[slot.at] - 1.0;
      return;
    }
    const std::size_t before = slot.at;
    while (slot.at > 0) {
      const std::uint32_t less = slot.candidates[slot.at - 1];
      if (slot.average > (less == 0 ? 0.5 : less - 0.5) + slot.down) break;
      --slot.at;
    }
    if (slot.at < before) return;
    while (slot.at < last && slot.average > slot.candidates[slot.at] - 0.5) ++slot.at;
  }
};

/// Chooses the gamma with the most expected tokens per millisecond (Liu et al. 2024, TurboSpec). The
/// acceptance rate is a moving average of accepted over examined tokens; tokens follow by Leviathan et al.
/// 2023, Eq. 1; the time of a step is known. At gamma = 0 every `probe` steps draft.
struct GoodputGamma {
  std::uint32_t most = 8;
  double prior = 0.7;    ///< acceptance rate before the first observation
  double weight = 0.05;  ///< weight of one step
  std::uint32_t probe = 50;
  StepTime time{};

  double accepted = 0;
  double examined = 0;
  std::uint32_t idle = 0;

  double rate() const { return (prior + accepted) / (1 + examined); }

  std::uint32_t operator()(const DecodingBatch& batch) const {
    std::uint32_t best = 0;
    double best_speed = 0;
    const double alpha = rate();
    double tokens = 0;
    double power = 1;
    StepWork work = batch.plain;
    for (std::uint32_t gamma = 0; gamma <= most; ++gamma) {
      tokens += power;
      power *= alpha;
      work.verified = work.decoding * (gamma + 1);
      work.drafts = gamma;
      const double speed = tokens / time(work);
      if (speed > best_speed) {
        best_speed = speed;
        best = gamma;
      }
    }
    return best == 0 && idle + 1 >= probe ? 1 : best;
  }
  void observe(const DecodedStep& outcome) {
    idle = outcome.gamma == 0 ? idle + 1 : 0;
    if (outcome.examined == 0) return;
    // Both sums decay at one rate, so that a step counts in proportion to its examined tokens.
    accepted = (1 - weight) * accepted + static_cast<double>(outcome.accepted);
    examined = (1 - weight) * examined + static_cast<double>(outcome.examined);
  }
};

/// Knows how many tokens each sequence will accept, and chooses the gamma with the most tokens per
/// millisecond in this step; the target verifies only tokens that will be accepted. No engine can do this. It
/// is not an upper bound for other policies: it looks one step ahead, and counts the time of prompts that the
/// step must read anyway.
struct Clairvoyant {
  std::uint32_t most = 8;
  StepTime time{};
};

using StepPolicy =
    std::variant<FixedGamma, GammaTable, EmaTiers, GoodputGamma, AdaptiveVerification, Clairvoyant>;

}  // namespace speclab
