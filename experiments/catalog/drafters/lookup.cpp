// The drafter "lookup".
#include "sim/drafters/lookup.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"

namespace speclab {

namespace {

MadeDrafter make_lookup(const LookupOptions& own, const std::string& path, const DrafterRequest& request) {
  check_matches(own.min_match, own.max_match, path);
  return {LookupDrafter(request.text.vocabulary.size(), own)};
}

}  // namespace

DrafterKind lookup_drafter() {
  return kind_entry<DrafterKind, LookupOptions>(
      "lookup",
      "Prompt lookup: what followed the longest earlier match of the context's end. One run a round.",
      {integer_field("min_match", &LookupOptions::min_match, 1, 64, "Shortest match."),
       integer_field("max_match", &LookupOptions::max_match, 1, 64, "Longest match."),
       integer_field("length", &LookupOptions::length, 1, max_tokens_drafted,
                     "Most tokens drafted in a round."),
       field("occurrence", &LookupOptions::occurrence,
             choice<Occurrence>({{"last", Occurrence::last}, {"first", Occurrence::first}}),
             "Which of the matches of one length.")},
      make_lookup);
}

}  // namespace speclab
