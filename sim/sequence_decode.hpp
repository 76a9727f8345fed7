// Decoding of given sequences by any drafter and any policy: each starts from a prompt of its own and runs
// until it has its tokens. Numbers are addressed by where in the sequence a round starts, so that two
// policies, or two drafters, share them wherever they come to the same place: paired comparisons are sharper
// for it. (Positions of one sequence never start two rounds, so that no number is used twice.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sim/adaptive_drafting.hpp"
#include "sim/decode.hpp"
#include "sim/policies/oracle.hpp"

namespace speclab {

struct Sequence {
  std::vector<Token> prompt;
  std::uint32_t tokens = 0;  ///< to decode; the last round may bring more
};

struct SequenceSet {
  std::uint64_t seed = 1;
  std::vector<Sequence> sequences;
  std::uint32_t batches = 64;  ///< consecutive stretches of whole sequences, for batch means

  std::size_t batch_count() const { return std::min<std::size_t>(batches, sequences.size()); }
  std::size_t batch_of(std::size_t sequence) const { return sequence * batch_count() / sequences.size(); }
  std::uint64_t tokens() const {
    std::uint64_t total = 0;
    for (const Sequence& sequence : sequences) total += sequence.tokens;
    return total;
  }
};

/// `decode(index, sequence, tally)` for every sequence, in parallel. Progress counts tokens of finished
/// sequences.
template <class Decode>
Outcome run_sequences(const SequenceSet& simulation, const Control& control, const Decode& decode) {
  Outcome outcome;
  outcome.batches.resize(simulation.batch_count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  for_each_index(simulation.sequences.size(), [&](std::size_t index) {
    if (stopped || control.stop()) {
      stopped = true;
      return;
    }
    Tally tally;
    decode(index, simulation.sequences[index], tally);
    control.progress(simulation.sequences[index].tokens);
    const std::scoped_lock lock(mutex);
    outcome.batches[simulation.batch_of(index)] += tally;
  });
  outcome.partial = stopped;
  return outcome;
}

/// Whether a policy's rounds are charged as an oracle would have played them.
template <class Policy>
bool foresees(const Policy& policy) {
  if constexpr (requires { policy.foresees(); }) {
    return policy.foresees();
  } else {
    return false;
  }
}

/// Speculative decoding of every sequence. `target_of(index)` is the target of one sequence, a LanguageModel.
template <class TargetOf, class Drafter, GammaPolicy Policy, class Rule>
Outcome decode_sequences(const SequenceSet& simulation, const TargetOf& target_of, const Drafter& drafter,
                         const Policy& policy, const Rule& rule, const Control& control = {}) {
  return run_sequences(simulation, control, [&](std::size_t index, const Sequence& sequence, Tally& tally) {
    const auto& target = target_of(index);
    std::vector<Token> context = sequence.prompt;
    typename Drafter::Memory memory;
    typename Policy::Memory learned;
    RoundScratch<double> scratch;
    const AdaptiveDrafting<Drafter, Policy> drafting{drafter, memory, policy, learned};
    while (context.size() < sequence.prompt.size() + sequence.tokens) {
      const auto position = static_cast<std::uint32_t>(context.size() - sequence.prompt.size());
      SampledRandomSource random =
          sampled_random_source(simulation.seed, static_cast<std::uint32_t>(index), position);
      Round round = drafted_round(target, drafting, rule, context, random, scratch, NoWatch{});
      if (round.next < 0) throw_invalid_row();
      if (foresees(policy)) round = OraclePolicy::foreseen(round, drafter.runs(round.accepted));
      tally.add_round(round);
      policy.learn(learned, round);
    }
  });
}

/// Section 4.2's alpha for a drafter: along text that the target generates plainly, the overlap of the
/// target's row and the row that a round would draft its first token from, 0 where there is none. Tallied as
/// overlaps; `drafted` counts the contexts where something was proposed.
template <class TargetOf, class Drafter, class Rule>
Outcome measure_first_overlap(const SequenceSet& simulation, const TargetOf& target_of,
                              const Drafter& drafter, const Rule& rule, const Control& control = {}) {
  return run_sequences(simulation, control, [&](std::size_t index, const Sequence& sequence, Tally& tally) {
    const auto& target = target_of(index);
    std::vector<Token> context = sequence.prompt;
    typename Drafter::Memory memory;
    std::vector<double> target_storage;
    std::vector<double> draft_storage;
    for (std::uint32_t position = 0; position < sequence.tokens; ++position) {
      const Row target_row = target.next(context, target_storage);
      drafter.read(memory, context);
      const Row draft_row = drafter.propose(memory, context, 0, draft_storage);
      record_overlap(tally, draft_row.size == 0 ? 0 : context_acceptance(rule, target_row, draft_row));
      tally.drafted += draft_row.size == 0 ? 0 : 1;
      context.push_back(plain_token(plain_weights(rule, target_row), simulation.seed,
                                    static_cast<std::uint32_t>(index), position));
    }
  });
}

}  // namespace speclab
