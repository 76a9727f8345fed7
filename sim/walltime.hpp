// Real time: a target made slow on purpose, so that Thm 3.8 can be put to the clock. A target run reads a
// stated number of weights (one multiply-add each), as a memory-bound transformer does, whatever the number
// of positions it evaluates in parallel; a draft run reads fewer. Timings are measurements, never part of a
// result's identity.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/decode.hpp"

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
template <class Target, class Draft, class Rule>
Walltime measure_walltime(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                          const std::vector<Token>& prompt, std::uint64_t seed, std::uint32_t tokens,
                          std::size_t target_weights, std::size_t draft_weights, std::uint32_t repeats) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration span) { return std::chrono::duration<double>(span).count(); };
  BusyWork target_work(target_weights);
  BusyWork draft_work(draft_weights);
  Clock::duration plain{};
  Clock::duration speculative{};
  Clock::duration target_runs{};
  Clock::duration draft_runs{};
  std::uint64_t plain_count = 0;
  std::uint64_t emitted = 0;
  std::uint64_t rounds = 0;

  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> scratch;
    std::vector<Token> context = prompt;
    auto start = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      target_work.run();
      context.push_back(plain_token(plain_weights(rule, target.next(context, scratch)), seed, repeat, i));
    }
    plain += Clock::now() - start;
    plain_count += tokens;

    RoundScratch<double> rows;
    context = prompt;
    start = Clock::now();
    for (std::uint32_t round = 0; context.size() < prompt.size() + tokens; ++round, ++rounds) {
      for (std::int32_t i = 0; i < gamma; ++i) draft_work.run();
      target_work.run();
      SampledRandomSource random = sampled_random_source(seed, repeat, round);
      if (speculative_round(target, draft, rule, gamma, context, random, rows, NoWatch{}).next < 0) {
        throw_invalid_row();
      }
    }
    speculative += Clock::now() - start;
    emitted += context.size() - prompt.size();

    // One run of each alone, with the row it makes: what c means.
    context = prompt;
    start = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      target_work.run();
      target.next(context, scratch);
    }
    target_runs += Clock::now() - start;
    start = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      draft_work.run();
      draft.next(context, scratch);
    }
    draft_runs += Clock::now() - start;
  }

  Walltime result;
  result.plain_seconds_per_token = seconds(plain) / static_cast<double>(plain_count);
  result.speculative_seconds_per_token = seconds(speculative) / static_cast<double>(emitted);
  result.target_run_seconds = seconds(target_runs) / static_cast<double>(plain_count);
  result.draft_run_seconds = seconds(draft_runs) / static_cast<double>(plain_count);
  result.tokens_per_round = static_cast<double>(emitted) / static_cast<double>(rounds);
  return result;
}

}  // namespace speclab
