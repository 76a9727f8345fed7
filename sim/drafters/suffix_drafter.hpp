// Drafts from statistics of the text so far: the tokens that most often followed earlier occurrences of its
// longest repeated suffix (SAM decoding, Hu et al. 2024; SuffixDecoding, Oliaro et al. 2024).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/drafters/point_rows.hpp"
#include "sim/drafters/suffix_automaton.hpp"

namespace speclab {

struct SuffixOptions {
  std::int32_t min_match = 1;
  std::int32_t max_match = 24;   ///< longer matches are cut to this many last tokens
  std::int32_t length = 10;      ///< maximum of tokens drafted in a round
  double factor = 2;             ///< maximum of drafted tokens per matched token
  double min_probability = 0.1;  ///< minimum of the drafted tokens' joint estimated probability
};

/// At the start of a round, s is the longest suffix of the context that also occurs earlier in it, cut to
/// max_match tokens. If it is shorter than min_match, nothing is drafted. The token t after drafted tokens d
/// has the estimated probability
///
///     P(t | s d) = #(s d t) / sum over t' of #(s d t')
///
/// where # counts occurrences in the context, overlaps included. The drafter proposes the most frequent t
/// (among equals the one whose last occurrence is most recent) as a point mass, as long as the product of the
/// estimates of all drafted tokens, t included, is at least min_probability, and up to `length` and factor *
/// |s| tokens.
///
/// Time of read: that of SuffixAutomaton::append with depth max_match + length. Time of propose: constant.
class SuffixDrafter {
 public:
  struct Memory {
    std::optional<SuffixAutomaton> text;
    std::size_t read = 0;  ///< number of context tokens already read
    /// The state that holds s d after the first `drafted` tokens d of this round, and the probability of d.
    std::int32_t drafted = 0;
    SuffixAutomaton::State state = SuffixAutomaton::root;
    double probability = 1;
    std::int32_t most = 0;  ///< maximum of tokens of this round
  };

  /// Requires vocab >= 1, 1 <= min_match <= max_match, length >= 0, factor >= 0, 0 <= min_probability <= 1.
  explicit SuffixDrafter(std::int32_t vocab, const SuffixOptions& options = {});

  void read(Memory& memory, std::span<const Token> context) const;
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  /// Returns 1 if anything was drafted: one look-up per round.
  std::int32_t runs(std::int32_t drafted) const { return drafted > 0 ? 1 : 0; }

 private:
  void start(Memory& memory) const;

  SuffixOptions options_;
  PointRows points_;
};

}  // namespace speclab
