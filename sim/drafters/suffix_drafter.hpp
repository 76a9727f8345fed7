// Drafting from statistics of the text so far: follow what most often came after the longest suffix that
// occurred before (SAM decoding, Hu et al. 2024; SuffixDecoding, Oliaro et al. 2024).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/drafters/drafter.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/drafters/suffix_automaton.hpp"

namespace speclab {

struct SuffixOptions {
  std::int32_t min_match = 1;
  std::int32_t max_match = 24;   ///< longer matches are cut to their last so many tokens
  std::int32_t length = 16;      ///< most tokens drafted a round
  double factor = 1;             ///< and most for each matched token
  double min_probability = 0.1;  ///< of the drafted tokens together, as estimated
  bool spread = false;           ///< propose the estimated distribution, not its largest token
};

/// At the start of a round s is the longest suffix of the settled context that also occurs earlier in it, cut
/// to max_match tokens; shorter than min_match, nothing is drafted. After drafted tokens d the next is t with
/// estimated probability
///
///     P(t | s d) = #(s d t) / sum over t' of #(s d t')
///
/// # counting occurrences in the settled context, overlaps included. Drafting goes on with the most frequent
/// t (among equals the one whose last occurrence is most recent), as a point mass, while the product
/// of the estimates of all drafted tokens, t included, is at least min_probability, up to `length` and to
/// factor * |s| tokens. With `spread` the row is P itself and any of its tokens may be drafted; the product
/// is that of the tokens really drafted and of the largest P that follows.
///
/// read: as SuffixAutomaton::append with depth max_match + length. propose: constant, and vocab + followers
/// with `spread`.
class SuffixDrafter {
 public:
  struct Memory {
    std::optional<SuffixAutomaton> text;
    std::size_t read = 0;  ///< settled tokens seen
    /// Of this round: after so many drafted tokens, the state that holds s d and the probability of d.
    std::int32_t drafted = 0;
    SuffixAutomaton::State state = SuffixAutomaton::root;
    double probability = 1;
    std::int32_t most = 0;  ///< tokens of this round
  };

  /// vocab >= 1, 1 <= min_match <= max_match, length >= 0, factor >= 0, 0 <= min_probability <= 1.
  explicit SuffixDrafter(std::int32_t vocab, const SuffixOptions& options = {});

  std::int32_t vocab() const { return points_.vocab(); }
  void read(Memory& memory, std::span<const Token> context) const;
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  /// One look-up a round.
  std::int32_t runs(std::int32_t drafted) const { return drafted > 0 ? 1 : 0; }

 private:
  void start(Memory& memory) const;

  SuffixOptions options_;
  PointRows points_;
};

}  // namespace speclab
