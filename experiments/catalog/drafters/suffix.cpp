// The drafter "suffix".
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "sim/drafters/suffix_drafter.hpp"

namespace speclab {

namespace {

/// Of a config: other defaults than SuffixOptions has.
struct Parameters : SuffixOptions {
  Parameters() {
    length = 10;
    factor = 2;
  }
};

MadeDrafter make(const Parameters& own, const std::string& path, const DrafterRequest& request) {
  check_matches(own.min_match, own.max_match, path);
  return {SuffixDrafter(request.text.vocabulary.size(), own)};
}

}  // namespace

DrafterKind suffix_drafter() {
  return kind_entry<DrafterKind, Parameters>(
      "suffix",
      "Suffix automaton of prompt and generated text: the most frequent continuation of the longest match. "
      "One run a round.",
      {integer_field<Parameters>("min_match", &Parameters::min_match, 1, 64, "Shortest match."),
       integer_field<Parameters>("max_match", &Parameters::max_match, 1, 4096, "Longer matches are cut."),
       integer_field<Parameters>("length", &Parameters::length, 1, most_tokens_drafted,
                                 "Most tokens drafted in a round."),
       field<Parameters>("factor", &Parameters::factor, number(0, 64),
                         "Most drafted tokens for each matched one."),
       field<Parameters>("min_probability", &Parameters::min_probability, number(0, 1),
                         "Least estimated probability of all drafted tokens together."),
       field<Parameters>("spread", &Parameters::spread, boolean(),
                         "Draw tokens from the estimated distribution instead of taking the most probable.")},
      make);
}

}  // namespace speclab
