// The simulator: it runs many rounds of speculative decoding, or decodes many tokens without speculation, in
// parallel over trials. Every random number is addressed by (seed, trial, round), so the result is the same
// for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/parallel.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

inline constexpr std::uint32_t steps_between_reports = 256;

/// Runs `step(trial, round, context, tally, scratch)` for every trial and round; `context` starts from the
/// prompt.
template <class Step>
Outcome run_trials(const SimulationSize& simulation, const Control& control, const Step& step) {
  Outcome outcome;
  outcome.batches.resize(simulation.cut().count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  const auto [first, last] = simulation.trials_to_run();
  for_each_index(last - first, [&, begin = first](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(begin + index);
    BatchWriter writer(simulation, outcome, mutex);
    std::vector<Token> context = simulation.prompt(trial);
    RoundScratch<double> scratch;
    std::uint32_t told = 0;
    for (std::uint32_t round = 0; round < simulation.length; ++round) {
      if (control.ends(stopped)) {
        control.progress(round - told);
        return false;
      }
      if (round % steps_between_reports == 0) {
        control.progress(round - told);
        told = round;
      }
      step(trial, round, context, writer.at(trial, round), scratch);
    }
    control.progress(simulation.length - told);
    return true;
  });
  outcome.partial = stopped;
  return outcome;
}

/// Throws ModelError: a model produced a row that holds NaN or infinity or sums to 0.
[[noreturn]] void throw_invalid_row();

/// Tallies the overlap of `contexts` contexts; throws if it is not a number.
void record_overlap(Tally& tally, double value, std::uint64_t contexts = 1);

/// Decodes speculatively: plan.trials sequences of plan.length rounds with gamma drafted tokens each.
///
/// The acceptance rate (for token verification the overlap of target and draft) is tallied in every emitted
/// token's context: at the positions that verification reached, and at the bonus position, where the draft
/// runs once more. Under a lossless rule the target generates exactly these contexts, and alpha is defined
/// over contexts that the target generates (Cor. 3.6).
Outcome decode_speculatively(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                             const SimulationSize& simulation, const Control& control = {});

/// Draws one token from the target's row without speculation, as the rule defines it, addressed by (seed,
/// trial, round).
Token plain_token(const AnyRule& rule, Row target, std::uint64_t seed, std::uint32_t trial,
                  std::uint32_t round);

/// Measures alpha as section 4.2 does: the mean of the rule's acceptance rate over the contexts of
/// plan.trials * plan.length tokens that the target generates without speculation.
Outcome measure_acceptance(const Model& target, const Model& draft, const AnyRule& rule,
                           const SimulationSize& simulation, const Control& control = {});

}  // namespace speclab
