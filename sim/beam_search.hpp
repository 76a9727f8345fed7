// Beam search, ordinary and speculative (Leviathan et al. 2023, appendix A.4). Both keep the most probable
// extensions of a set of sequences, step by step. In the speculative search a draft guesses several steps;
// beams and scores are exactly the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/models/model.hpp"
#include "sim/tally.hpp"

namespace speclab {

/// A sequence, prompt included, and the sum of log-probabilities of the tokens after the prompt, added in
/// their order.
struct Hypothesis {
  std::vector<Token> tokens;
  double score = 0;

  bool operator==(const Hypothesis&) const = default;
};

/// Distinct sequences of one length, best first.
using Beam = std::vector<Hypothesis>;

/// Returns the `width` best extensions of a beam by one token, or fewer if fewer have positive probability.
/// They are ordered by score; equal scores go to the extension of the better-ranked parent, then to the
/// larger probability, then to the lower id. Nothing ends a sequence early. Throws ModelError if a row holds
/// NaN or infinity or sums to 0.
Beam extended(const Model& model, const Beam& beam, std::size_t width);

/// The result of a search. A step extends every sequence of the beam by one token. The tally counts steps
/// instead of tokens: `emitted` steps in `rounds` target runs; the draft guessed `drafted` steps, of these
/// `accepted` were accepted.
struct BeamSearch {
  Beam beam;
  Tally tally;
  std::uint64_t target_rows = 0;  ///< contexts evaluated in all target runs; those of one run in parallel
  std::uint64_t draft_rows = 0;   ///< the same for the draft, which runs once for each drafted step

  bool operator==(const BeamSearch&) const = default;
};

/// Searches `length` steps from the prompt, with one target run per step. width >= 1.
BeamSearch plain_beam_search(const Model& target, std::span<const Token> prompt, std::size_t width,
                             std::uint32_t length);

/// The condition for accepting a drafted step. `contained`: the target's beam lies in the draft's.
/// `fault_best_contained`, a planted fault: the beam's best sequence lies in the draft's, and the search
/// continues from the sequences that do.
enum class BeamAcceptance { contained, fault_best_contained };

/// Finds the beam of plain_beam_search by drafting (A.4). A round starts from the target's beam B_0:
///
/// 1. The draft extends it gamma times, starting from the target's scores and keeping `draft_width`
///    sequences: D_1 .. D_gamma.
/// 2. One target run evaluates every sequence of B_0, D_1 .. D_gamma: w + u gamma rows, if the beams are
///    full.
/// 3. B_i is chosen among the extensions of B_(i-1), i = 1, 2, ... Its rows are available iff B_i lies in
///    D_i: then the step is accepted and B_(i+1) follows. The first B_i that does not lie in D_i, or
///    B_(gamma+1), is exact as well, and ends the round: accepted + 1 steps per target run.
///
/// By induction every B_i equals that of ordinary beam search, for any draft. The last round drafts only the
/// rest of `length`. With draft_width = width every step of a perfect draft is accepted, but not always with
/// a larger draft_width: the extra sequences of D_(i-1) may have extensions that outrank B_i and fill D_i.
///
/// This function computes only the target rows that it uses, but counts those of the batched runs.
/// draft_width >= width >= 1, gamma >= 0, equal vocabularies (asserted).
BeamSearch speculative_beam_search(const Model& target, const Model& draft, std::span<const Token> prompt,
                                   std::size_t width, std::size_t draft_width, std::int32_t gamma,
                                   std::uint32_t length,
                                   BeamAcceptance acceptance = BeamAcceptance::contained);

}  // namespace speclab
