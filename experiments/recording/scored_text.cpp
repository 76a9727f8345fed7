#include "experiments/recording/scored_text.hpp"

#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/log_probability.hpp"

namespace speclab {

namespace {

std::string token_text(const ScoredToken& token) {
  if (token.id < 0) return fmt::format("\"{}\"", token.text);
  return token.text.empty() ? fmt::format("{}", token.id) : fmt::format("{} \"{}\"", token.id, token.text);
}

/// Returns true if both reports can be about the same token: compares ids if both have one, else texts.
bool same(const ScoredToken& one, const ScoredToken& other) {
  if (one.id >= 0 && other.id >= 0) return one.id == other.id;
  return one.text == other.text && !one.text.empty();
}

}  // namespace

void add_token(ScoredSequence& sequence, ScoredToken token, const std::string& where) {
  token.log_probability = checked_log(token.log_probability, where, "a log-probability");
  sequence.tokens.push_back(std::move(token));
}

Recording join(const ScoredText& target, const ScoredText& draft, const std::string& target_file,
               const std::string& draft_file) {
  if (target.sequences.size() != draft.sequences.size()) {
    throw UsageError("{}: {} sequences, but {} has {}; the draft must score the target's texts, in order",
                     draft_file, draft.sequences.size(), target_file, target.sequences.size());
  }
  Recording recording;
  recording.draft.resize(1);
  for (std::size_t s = 0; s < target.sequences.size(); ++s) {
    const ScoredSequence& ours = target.sequences[s];
    const ScoredSequence& theirs = draft.sequences[s];
    if (ours.tokens.empty()) continue;
    if (theirs.tokens.size() < ours.tokens.size()) {
      throw UsageError("{}: {} tokens, but {} has {}; the draft must score every token of the text",
                       theirs.where, theirs.tokens.size(), ours.where, ours.tokens.size());
    }
    const std::size_t before = theirs.tokens.size() - ours.tokens.size();
    recording.sequences.push_back({ours.name, "", recording.size(), ours.tokens.size()});
    for (std::size_t i = 0; i < ours.tokens.size(); ++i) {
      const ScoredToken& p = ours.tokens[i];
      const ScoredToken& q = theirs.tokens[before + i];
      if (!same(p, q)) {
        throw UsageError(
            "{}: token {} is {}, but {} has {} there: the texts or the tokenizers differ. Two columns need the same tokens: score the target's ids with a draft of its vocabulary",
            theirs.where, i, token_text(q), ours.where, token_text(p));
      }
      recording.target.push_back(target_log(p.log_probability, ours.where, i));
      recording.draft[0].push_back(q.log_probability);
    }
  }
  if (recording.size() == 0) throw UsageError("{}: no token has a log-probability", target_file);
  return recording;
}

}  // namespace speclab
