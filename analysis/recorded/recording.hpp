// A recorded text: for each token its log-probability under the target that generated it, and under a draft.
//
// Speculative decoding with token verification (Leviathan et al. 2023, Alg. 1) emits the token y at an
// examined position either by drafting and keeping it, with probability q min(1, p/q) = min(p, q), or as a
// correction, with the rest of p. So, given that y was emitted, it was drafted and kept with probability
//     P(kept | y) = min(p, q) / p = min(1, q(y) / p(y)),
// and positions are independent given the text. Two numbers per token therefore determine the distribution of
// rounds over a text drawn from the target. Enumeration in fractions checks the joint distribution of text
// and round lengths (tests/analysis/recorded/expected_rounds_test).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace speclab {

/// One generated sequence of a recording.
struct RecordedSequence {
  std::string name;
  std::string task;       ///< name of its task; empty if unknown
  std::size_t first = 0;  ///< index of its first token
  std::size_t count = 0;  ///< tokens; at least 1
};

/// Values computed from full rows, one per position.
struct RecordedRows {
  std::vector<double> overlap;      ///< sum of min(p, q)
  std::vector<double> draft_share;  ///< mass of q where p > 0: the mean of q(y)/p(y) over y drawn from p
  bool empty() const { return overlap.empty(); }
};

/// The recorded columns, in natural logarithms.
struct Recording {
  std::vector<double> target;               ///< log p(y); finite, at most 0
  std::vector<std::vector<double>> draft;   ///< log q(y) by drafted position in the round; at most 0, or
                                            ///< -infinity. A single column holds for all positions
  std::vector<RecordedSequence> sequences;  ///< in order, covering everything
  std::vector<double> entropy;              ///< entropy of p at each position, in nats; empty if not known
  RecordedRows rows;                        ///< empty without rows
  /// False for a text that was given to the target instead of drawn from it: its rows then give acceptance in
  /// its contexts, but nothing about rounds.
  bool drawn = true;

  std::size_t size() const { return target.size(); }
  bool by_depth() const { return draft.size() > 1; }
};

/// Returns P(kept | y) for the drafted token at this depth of a round (from 0), at every position. With one
/// column all depths have the same probabilities; else `depth` < draft.size() (asserted).
std::vector<double> keep_probabilities(const Recording& recording, std::size_t depth = 0);

}  // namespace speclab
