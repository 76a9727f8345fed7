#include "sim/drafters/lookup.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"

namespace speclab {

DrafterKind lookup_drafter() {
  using P = LookupOptions;
  return kind_entry<DrafterKind, P>(
      "lookup",
      "Prompt lookup: copies the tokens after the longest earlier match of the context's end. One run per round.",
      {integer_field("min_match", &P::min_match, 1, 64, "Shortest match."),
       integer_field("max_match", &P::max_match, 1, 64, "Longest match."),
       integer_field("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field("occurrence", &P::occurrence,
             choice<Occurrence>({{"last", Occurrence::last}, {"first", Occurrence::first}}),
             "Match to continue if several have the same length.")},
      [](const P& own, const std::string& path, const DrafterRequest& request) {
        check_matches(own.min_match, own.max_match, path);
        return MadeDrafter{LookupDrafter(request.text.vocabulary.size(), own)};
      });
}

}  // namespace speclab
