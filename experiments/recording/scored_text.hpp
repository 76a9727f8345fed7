// Texts with one model's log-probabilities, as servers report them, and how a target's and a draft's are
// joined.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recorded/recording.hpp"

namespace speclab {

struct ScoredToken {
  std::int64_t id = -1;  ///< -1: not told
  std::string text;      ///< empty: not told
  double log_probability = 0;
};

struct ScoredSequence {
  std::string name;
  std::string where;  ///< for errors
  std::vector<ScoredToken> tokens;
};

struct ScoredText {
  std::vector<ScoredSequence> sequences;

  /// A further sequence, called by its number.
  ScoredSequence& add(std::string where) {
    return sequences.emplace_back(ScoredSequence{std::to_string(sequences.size()), std::move(where), {}});
  }
};

/// Checks and adds one token. Throws UsageError at `where` for a number that is no log-probability. -9999 is
/// what servers write for a token whose log-probability they left out.
void add_token(ScoredSequence& sequence, ScoredToken token, const std::string& where);

/// The texts that the target generated, with the draft's log-probabilities of the same tokens. Sequences go
/// together in order; of the draft's the last tokens count, since it may have scored the prompt too. Throws
/// UsageError where numbers of sequences or tokens differ, or where tokens do: two tokenizers.
Recording join(const ScoredText& target, const ScoredText& draft);

}  // namespace speclab
