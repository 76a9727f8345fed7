// Texts with one model's log-probabilities, as servers report them. Joins a target's and a draft's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recorded/recording.hpp"

namespace speclab {

struct ScoredToken {
  std::int64_t id = -1;  ///< -1 if unknown
  std::string text;      ///< empty if unknown
  double log_probability = 0;
};

struct ScoredSequence {
  std::string name;
  std::string where;  ///< for errors
  std::vector<ScoredToken> tokens;
};

struct ScoredText {
  std::vector<ScoredSequence> sequences;

  /// Adds a sequence, named by its index.
  ScoredSequence& add(std::string where) {
    return sequences.emplace_back(ScoredSequence{std::to_string(sequences.size()), std::move(where), {}});
  }
};

/// Adds one token. Throws UsageError at `where` for a value that is not a log-probability; servers write
/// -9999 where they left it out.
void add_token(ScoredSequence& sequence, ScoredToken token, const std::string& where);

/// Joins the target's generated texts with the draft's log-probabilities of the same tokens; sequences match
/// by order. If the draft scored the prompt, too, its last tokens are used. Throws UsageError if numbers of
/// sequences or tokens differ, or if tokens differ because of two tokenizers.
Recording join(const ScoredText& target, const ScoredText& draft, const std::string& target_file,
               const std::string& draft_file);

}  // namespace speclab
