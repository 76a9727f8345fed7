#include "sim/drafters/lookahead.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"

namespace speclab {

DrafterKind lookahead_drafter() {
  struct P {
    std::int32_t window = 8;
    std::int32_t ngram = 4;
    std::int32_t candidates = 15;
  };
  return kind_entry<DrafterKind, P>(
      "lookahead",
      "Jacobi iteration of the target over a window of guesses; its n-grams are drafts. One run per round.",
      {integer_field("window", &P::window, 1, 64, "Columns of guesses."),
       integer_field("ngram", &P::ngram, 2, 16, "Tokens of an n-gram."),
       integer_field("candidates", &P::candidates, 1, 1024, "N-grams kept for each first token.")},
      [](const P& own, const std::string&, const DrafterRequest& request) -> MadeDrafter {
        if (request.target == nullptr)
          return {std::nullopt, "needs a target that can be asked about guesses"};
        return {LookaheadDrafter<Model>(
            *request.target,
            {.window = own.window, .ngram = own.ngram, .candidates = own.candidates, .seed = request.seed})};
      });
}

}  // namespace speclab
