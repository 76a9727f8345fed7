// Real time: a target made slow on purpose, so that Thm 3.8 can be put to the clock. A target run reads a
// stated number of weights (one multiply-add each), as a memory-bound transformer does, whatever the number
// of positions it evaluates in parallel; a draft run reads fewer. Timings are measurements, never part of a
// result's identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/any_rule.hpp"

namespace speclab {

/// Weights read per run of a model.
class BusyWork {
 public:
  explicit BusyWork(std::size_t weights) : weights_(weights, 0.5F) {}

  /// One run: a dot product over all weights, added to `sum` so that the work cannot be left out.
  void run();
  double sum() const { return static_cast<double>(sum_); }

 private:
  std::vector<float> weights_;
  float sum_ = 0;
};

struct Walltime {
  double plain_seconds_per_token = 0;
  double speculative_seconds_per_token = 0;
  double target_run_seconds = 0;
  double draft_run_seconds = 0;
  double tokens_per_round = 0;

  double speedup() const { return plain_seconds_per_token / speculative_seconds_per_token; }
  double c() const { return draft_run_seconds / target_run_seconds; }
};

/// Times plain and speculative decoding of about `tokens` tokens, one thread, alternating `repeats` times.
Walltime measure_walltime(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                          const std::vector<Token>& prompt, std::uint64_t seed, std::uint32_t tokens,
                          std::size_t target_weights, std::size_t draft_weights, std::uint32_t repeats);

}  // namespace speclab
