// The drafter "lookahead".
#include "sim/drafters/lookahead.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"

namespace speclab {

namespace {

struct LookaheadParameters {
  std::int32_t window = 8;
  std::int32_t ngram = 4;
  std::int32_t candidates = 15;
};

MadeDrafter make_lookahead(const LookaheadParameters& own, const std::string&,
                           const DrafterRequest& request) {
  if (request.target == nullptr) return {std::nullopt, "needs a target that can be asked about guesses"};
  return {LookaheadDrafter<Model>(
      *request.target,
      {.window = own.window, .ngram = own.ngram, .candidates = own.candidates, .seed = request.seed})};
}

}  // namespace

DrafterKind lookahead_drafter() {
  return kind_entry<DrafterKind, LookaheadParameters>(
      "lookahead",
      "Jacobi iteration of the target over a window of guesses; its n-grams are drafts. One run a round.",
      {integer_field("window", &LookaheadParameters::window, 1, 64, "Columns of guesses."),
       integer_field("ngram", &LookaheadParameters::ngram, 2, 16, "Tokens of an n-gram."),
       integer_field("candidates", &LookaheadParameters::candidates, 1, 1024,
                     "N-grams kept for each first token.")},
      make_lookahead);
}

}  // namespace speclab
