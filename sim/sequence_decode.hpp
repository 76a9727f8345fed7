// Decoding of given sequences by any drafter and any policy: each starts from a prompt of its own and runs
// until it has its tokens. Numbers are addressed by where in the sequence a round starts, so that two
// policies, or two drafters, share them wherever they come to the same place: paired comparisons are sharper
// for it. (Positions of one sequence never start two rounds, so that no number is used twice.)
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
  std::uint32_t tokens = 0;  ///< to decode; the last round may bring more
};

struct SequenceSet {
  std::uint64_t seed = 1;
  std::vector<Sequence> sequences;
  std::uint32_t batches = 64;  ///< consecutive stretches of whole sequences, for batch means
  std::size_t first = 0;       ///< sequences before it are not run; they have no tallies

  std::size_t batch_count() const { return std::min<std::size_t>(batches, sequences.size()); }
  std::size_t batch_of(std::size_t sequence) const { return sequence * batch_count() / sequences.size(); }
  std::uint64_t tokens() const {
    std::uint64_t total = 0;
    for (const Sequence& sequence : sequences) total += sequence.tokens;
    return total;
  }
};

/// The target of each sequence: one model for all, or each sequence's own text
/// (sim/text/text_target.hpp).
using TargetOf = std::function<Model(std::size_t sequence)>;

/// Speculative decoding of every sequence, by a rule of one drafted sequence (std::logic_error for others).
/// Progress counts tokens of finished sequences. Rounds of a policy that foresees count as foreseen_round.
/// Throws ModelError for an invalid row.
Outcome decode_sequences(const SequenceSet& simulation, const TargetOf& target_of, const AnyDrafter& drafter,
                         const AnyPolicy& policy, const AnyRule& rule, const Control& control = {});

/// Of a text that the target generates plainly: what is counted for each of its contexts.
struct TextAcceptances {
  Outcome overlap;   ///< Section 4.2's alpha: overlaps with the row that a round would draft its first token
                     ///< from, 0 where there is none; `drafted` counts contexts where something was proposed
  Outcome recorded;  ///< min(1, q/p) of the token that came, tallied as overlaps
};

TextAcceptances measure_first_overlap(const SequenceSet& simulation, const TargetOf& target_of,
                                      const AnyDrafter& drafter, const Control& control = {});

}  // namespace speclab
