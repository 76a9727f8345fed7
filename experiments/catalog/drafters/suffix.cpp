// The drafter "suffix".
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "sim/drafters/suffix_drafter.hpp"

namespace speclab {

namespace {

/// Of a config: other defaults than SuffixOptions has.
struct SuffixParameters : SuffixOptions {
  SuffixParameters() {
    length = 10;
    factor = 2;
  }
};

MadeDrafter make_suffix(const SuffixParameters& own, const std::string& path, const DrafterRequest& request) {
  check_matches(own.min_match, own.max_match, path);
  return {SuffixDrafter(request.text.vocabulary.size(), own)};
}

}  // namespace

DrafterKind suffix_drafter() {
  return kind_entry<DrafterKind, SuffixParameters>(
      "suffix",
      "Suffix automaton of prompt and generated text: the most frequent continuation of the longest match. "
      "One run a round.",
      {integer_field<SuffixParameters>("min_match", &SuffixParameters::min_match, 1, 64, "Shortest match."),
       integer_field<SuffixParameters>("max_match", &SuffixParameters::max_match, 1, 4096,
                                       "Longer matches are cut."),
       integer_field<SuffixParameters>("length", &SuffixParameters::length, 1, max_tokens_drafted,
                                       "Most tokens drafted in a round."),
       field<SuffixParameters>("factor", &SuffixParameters::factor, number(0, 64),
                               "Most drafted tokens for each matched one."),
       field<SuffixParameters>("min_probability", &SuffixParameters::min_probability, number(0, 1),
                               "Least estimated probability of all drafted tokens together."),
       field<SuffixParameters>(
           "spread", &SuffixParameters::spread, boolean(),
           "Draw tokens from the estimated distribution instead of taking the most probable.")},
      make_suffix);
}

}  // namespace speclab
