#include "sim/walltime.hpp"

#include <chrono>

#include "core/stop.hpp"
#include "sim/decode.hpp"

namespace speclab {

// Out of line, so that no caller can see that two runs compute the same sum.
void BusyWork::run() {
  sum_ += sum_terms<float>(0, static_cast<std::int32_t>(weights_.size()), [this](std::int32_t i) {
    const float weight = weights_[static_cast<std::size_t>(i)];
    return weight * weight;
  });
}

Walltime measure_walltime(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
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
      end_if_stopped();
      target_work.run();
      context.push_back(plain_token(rule, target.next(context, scratch), seed, repeat, i));
    }
    plain += Clock::now() - start;
    plain_count += tokens;

    RoundScratch<double> rows;
    context = prompt;
    start = Clock::now();
    for (std::uint32_t round = 0; context.size() < prompt.size() + tokens; ++round, ++rounds) {
      end_if_stopped();
      for (std::int32_t i = 0; i < gamma; ++i) draft_work.run();
      target_work.run();
      SampledRandomSource random = sampled_random_source(seed, repeat, round);
      if (rule->round(target, draft, gamma, context, random, rows, RoundWatch()).next < 0) {
        throw_invalid_row();
      }
    }
    speculative += Clock::now() - start;
    emitted += context.size() - prompt.size();

    // One run of each alone, with the row it makes: what c means.
    context = prompt;
    start = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      end_if_stopped();
      target_work.run();
      target.next(context, scratch);
    }
    target_runs += Clock::now() - start;
    start = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      end_if_stopped();
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
