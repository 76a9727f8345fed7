// Decodes given sequences with any drafter and any policy: each starts from its own prompt and ends when it
// has its tokens. Random numbers are addressed by the position at which a round starts, so that two policies
// or drafters share them when they start rounds at the same position, which sharpens paired comparisons. (No
// position starts two rounds, so no number is used twice.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/drafters/any_drafter.hpp"
#include "sim/models/model.hpp"
#include "sim/policies/any_policy.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

struct Sequence {
  std::vector<Token> prompt;
  std::uint32_t tokens = 0;  ///< tokens to decode; the last round may emit more
  bool ends = false;         ///< true: the text ends after them, and what a round emits beyond does not count
};

struct SequenceSet {
  std::uint64_t seed = 1;
  std::vector<Sequence> sequences;
  std::uint32_t batches = 64;  ///< batches of consecutive sequences, for batch means

  std::size_t batch_count() const { return std::min<std::size_t>(batches, sequences.size()); }
  std::size_t batch_of(std::size_t sequence) const { return sequence * batch_count() / sequences.size(); }
  std::uint64_t tokens() const {
    std::uint64_t total = 0;
    for (const Sequence& sequence : sequences) total += sequence.tokens;
    return total;
  }
};

/// Returns the target of each sequence: one model for all, or each sequence's own text
/// (sim/text/text_target.hpp).
using TargetOf = std::function<Model(std::size_t sequence)>;

/// Decodes every sequence speculatively, with a rule of one drafted sequence (std::logic_error for others).
/// Progress counts tokens of finished sequences. Rounds of a policy with `foresees` count as foreseen_round.
/// Throws ModelError for an invalid row.
Outcome decode_sequences(const SequenceSet& simulation, const TargetOf& target_of, const AnyDrafter& drafter,
                         const AnyPolicy& policy, const AnyRule& rule, const Control& control = {});

/// Tallies the contexts of a text that the target generates without speculation, for alpha of section 4.2:
/// the rule's acceptance rate for the row from which a round would draft its first token, 0 if there is none;
/// `drafted` counts contexts where something was proposed.
Outcome measure_first_acceptance(const SequenceSet& simulation, const TargetOf& target_of,
                                 const AnyDrafter& drafter, const AnyRule& rule, const Control& control = {});

}  // namespace speclab
