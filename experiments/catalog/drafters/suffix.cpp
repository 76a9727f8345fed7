#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "sim/drafters/suffix_drafter.hpp"

namespace speclab {

DrafterKind suffix_drafter() {
  /// The parameters in a config; their defaults differ from those of SuffixOptions.
  struct P : SuffixOptions {
    P() {
      length = 10;
      factor = 2;
    }
  };
  return kind_entry<DrafterKind, P>(
      "suffix",
      "Suffix automaton of prompt and generated text: the most frequent continuation of the longest match. One run per round.",
      {integer_field<P>("min_match", &P::min_match, 1, 64, "Shortest match."),
       integer_field<P>("max_match", &P::max_match, 1, 4096, "Longer matches are cut."),
       integer_field<P>("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field<P>("factor", &P::factor, number(0, 64), "Most drafted tokens per matched token."),
       field<P>("min_probability", &P::min_probability, number(0, 1),
                "Smallest estimated joint probability of the drafted tokens."),
       field<P>("spread", &P::spread, boolean(),
                "Draw tokens from the estimated distribution instead of taking the most probable.")},
      [](const P& own, const std::string& path, const DrafterRequest& request) {
        check_matches(own.min_match, own.max_match, path);
        return MadeDrafter{SuffixDrafter(request.text.vocabulary.size(), own)};
      });
}

}  // namespace speclab
