#include "sim/sequences.hpp"

#include <atomic>

#include "core/stop.hpp"
#include "sim/decode.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Calls `fill(trial, scratch, out)` for every trial, in parallel.
template <class Fill>
std::vector<Token> fill_sequences(std::uint32_t trials, std::size_t length, const Control& control,
                                  const Fill& fill) {
  std::vector<Token> all(trials * length);
  std::atomic<bool> stopped{false};
  for_each_piece(trials, steps_between_reports, [&](std::size_t first, std::size_t last) {
    RoundScratch<double> scratch;
    for (auto trial = static_cast<std::uint32_t>(first); trial < last; ++trial) {
      if (control.ends(stopped)) return false;
      try {
        fill(trial, scratch, std::span<Token>(all).subspan(trial * length, length));
      } catch (const Stopped&) {
        stopped = true;
        return false;
      }
    }
    control.progress(last - first);
    return true;
  });
  if (stopped) all.clear();
  return all;
}

}  // namespace

std::vector<RoundRecord> record_rounds(const Model& target, const Model& draft, const AnyRule& rule,
                                       std::int32_t gamma, std::vector<Token> context, std::size_t tokens,
                                       std::uint64_t seed) {
  std::vector<RoundRecord> records;
  RoundScratch<double> scratch;
  const std::size_t goal = context.size() + tokens;
  const FixedDrafting<Model> drafting{draft, gamma};
  for (std::uint32_t round = 0; context.size() < goal; ++round) {
    end_if_stopped();
    const std::size_t start = context.size();
    std::vector<Token> drafted;
    SampledRandomSource random = sampled_random_source(seed, 0, round);
    // While the watch runs, the context still ends in all drafted tokens.
    const auto watch = [&](std::span<const Token> prefix, Row, const Row*) {
      if (prefix.size() == start) drafted.assign(prefix.data() + start, prefix.data() + start + gamma);
    };
    const Round done =
        rule->drafted_round(target, DraftingRef(drafting), context, random, scratch, RoundWatch(watch));
    if (done.next < 0) throw_invalid_row();
    records.push_back({std::move(drafted), done.accepted, done.next});
  }
  return records;
}

void speculative_sequence(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                          const SimulationSize& simulation, std::uint32_t trial,
                          RoundScratch<double>& scratch, std::span<Token> out) {
  std::vector<Token> context = simulation.prompt(trial);
  const std::size_t start = context.size();
  for (std::uint32_t round = 0; context.size() < start + out.size(); ++round) {
    end_if_stopped();
    SampledRandomSource random = sampled_random_source(simulation.seed, trial, round);
    if (rule->round(target, draft, gamma, context, random, scratch, RoundWatch()).next < 0)
      throw_invalid_row();
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = context[start + i];
}

void plain_sequence(const Model& target, const AnyRule& rule, const SimulationSize& simulation,
                    std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
  std::vector<Token> context = simulation.prompt(trial);
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    end_if_stopped();
    context.push_back(plain_token(rule, target.next(context, scratch.extra_row), simulation.seed, trial, i));
    out[i] = context.back();
  }
}

std::vector<Token> speculative_sequences(const Model& target, const Model& draft, const AnyRule& rule,
                                         std::int32_t gamma, const SimulationSize& simulation,
                                         std::size_t length, const Control& control) {
  return fill_sequences(simulation.trials, length, control,
                        [&](std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
                          speculative_sequence(target, draft, rule, gamma, simulation, trial, scratch, out);
                        });
}

std::vector<Token> plain_sequences(const Model& target, const AnyRule& rule, const SimulationSize& simulation,
                                   std::size_t length, const Control& control) {
  return fill_sequences(simulation.trials, length, control,
                        [&](std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
                          plain_sequence(target, rule, simulation, trial, scratch, out);
                        });
}

}  // namespace speclab
