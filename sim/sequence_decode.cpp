#include "sim/sequence_decode.hpp"

#include <atomic>
#include <mutex>

#include "core/stop.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/decode.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Calls `decode(index, sequence, tally)` for every sequence, in parallel.
template <class Decode>
Outcome run_sequences(const SequenceSet& simulation, const Control& control, const Decode& decode) {
  Outcome outcome;
  outcome.batches.resize(simulation.batch_count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  for_each_index(simulation.sequences.size(), [&](std::size_t index) {
    if (control.ends(stopped)) return false;
    Tally tally;
    decode(index, simulation.sequences[index], tally);
    control.progress(simulation.sequences[index].tokens);
    const std::scoped_lock lock(mutex);
    outcome.batches[simulation.batch_of(index)] += tally;
    return true;
  });
  outcome.partial = stopped;
  return outcome;
}

}  // namespace

Outcome decode_sequences(const SequenceSet& simulation, const TargetOf& target_of, const AnyDrafter& drafter,
                         const AnyPolicy& policy, const AnyRule& rule, const Control& control) {
  const auto decode = [&](std::size_t index, const Sequence& sequence, Tally& tally) {
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
      const auto left = static_cast<std::int32_t>(sequence.tokens - position);
      const bool beyond = sequence.ends && round.accepted >= left;
      if (beyond) round.accepted = round.examined = left;
      if (policy.foresees()) round = foreseen_round(round, drafter.runs(round.accepted));
      tally.add_round(round);
      if (beyond) tally.leave_out_next(round);
      policy.learn(learned, round);
    }
  };
  return run_sequences(simulation, control, decode);
}

Outcome measure_first_acceptance(const SequenceSet& simulation, const TargetOf& target_of,
                                 const AnyDrafter& drafter, const AnyRule& rule, const Control& control) {
  const auto write = [&](std::size_t index, const Sequence& sequence, Tally& overlap) {
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
      context.push_back(
          plain_token(rule, target_row, simulation.seed, static_cast<std::uint32_t>(index), position));
    }
  };
  return run_sequences(simulation, control, write);
}

}  // namespace speclab
