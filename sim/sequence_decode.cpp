#include "sim/sequence_decode.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "core/rules/token.hpp"
#include "core/stop.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/decode.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Calls `decode(index, sequence, tallies)` for every sequence, in parallel, with one tally for each outcome.
template <std::size_t outcomes, class Decode>
std::array<Outcome, outcomes> run_sequences(const SequenceSet& simulation, const Control& control,
                                            const Decode& decode) {
  std::array<Outcome, outcomes> all;
  for (Outcome& outcome : all) outcome.batches.resize(simulation.batch_count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  for_each_index(simulation.sequences.size() - simulation.first, [&](std::size_t after_first) {
    const std::size_t index = simulation.first + after_first;
    if (stopped || control.stop()) {
      stopped = true;
      return false;
    }
    std::array<Tally, outcomes> tallies;
    decode(index, simulation.sequences[index], tallies);
    control.progress(simulation.sequences[index].tokens);
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < outcomes; ++i) all[i].batches[simulation.batch_of(index)] += tallies[i];
    return true;
  });
  for (Outcome& outcome : all) outcome.partial = stopped;
  return all;
}

}  // namespace

Outcome decode_sequences(const SequenceSet& simulation, const TargetOf& target_of, const AnyDrafter& drafter,
                         const AnyPolicy& policy, const AnyRule& rule, const Control& control) {
  const auto decode = [&](std::size_t index, const Sequence& sequence, std::array<Tally, 1>& tallies) {
    Tally& tally = tallies.front();
    const Model target = target_of(index);
    std::vector<Token> context = sequence.prompt;
    AnyDrafter::Memory memory;
    AnyPolicy::Memory learned;
    RoundScratch<double> scratch;
    const AdaptiveDrafting<AnyDrafter, AnyPolicy> drafting{drafter, memory, policy, learned};
    while (context.size() < sequence.prompt.size() + sequence.tokens) {
      end_if_stopped();
      const auto position = static_cast<std::uint32_t>(context.size() - sequence.prompt.size());
      SampledRandomSource random =
          sampled_random_source(simulation.seed, static_cast<std::uint32_t>(index), position);
      Round round = rule->drafted_round(target, DraftingRef(drafting), context, random, scratch, {});
      if (round.next < 0) throw_invalid_row();
      if (policy.foresees()) round = foreseen_round(round, drafter.runs(round.accepted));
      tally.add_round(round);
      policy.learn(learned, round);
    }
  };
  return std::move(run_sequences<1>(simulation, control, decode).front());
}

TextAcceptances measure_first_overlap(const SequenceSet& simulation, const TargetOf& target_of,
                                      const AnyDrafter& drafter, const Control& control) {
  const AnyRule rule = TokenRule{};
  const auto write = [&](std::size_t index, const Sequence& sequence, std::array<Tally, 2>& tallies) {
    auto& [overlap, recorded] = tallies;
    const Model target = target_of(index);
    std::vector<Token> context = sequence.prompt;
    AnyDrafter::Memory memory;
    std::vector<double> target_storage;
    std::vector<double> draft_storage;
    for (std::uint32_t position = 0; position < sequence.tokens; ++position) {
      end_if_stopped();
      const Row target_row = target.next(context, target_storage);
      drafter.read(memory, context);
      const Row draft_row = drafter.propose(memory, context, 0, draft_storage);
      const bool proposes = draft_row.size > 0;
      record_overlap(overlap, proposes ? rule->context_acceptance(target_row, draft_row) : 0);
      overlap.drafted += proposes ? 1 : 0;
      const Token token =
          plain_token(rule, target_row, simulation.seed, static_cast<std::uint32_t>(index), position);
      record_overlap(recorded, proposes ? std::min(1.0, draft_row[token] / target_row[token]) : 0);
      context.push_back(token);
    }
  };
  auto both = run_sequences<2>(simulation, control, write);
  return {std::move(both[0]), std::move(both[1])};
}

}  // namespace speclab
