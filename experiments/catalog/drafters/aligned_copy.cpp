#include "sim/drafters/aligned_copy.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"

namespace speclab {

DrafterKind aligned_copy_drafter() {
  /// The parameters in a config; their defaults differ from those of AlignedCopyOptions.
  struct P : AlignedCopyOptions {
    P() {
      match = 2;
      length = 10;
      realign = Realign::nearest;
    }
  };
  return kind_entry<DrafterKind, P>(
      "aligned-copy",
      "Copies the prompt from where the output is aligned with it (aggressive decoding). One run per round.",
      {integer_field<P>("match", &P::match, 1, 64,
                        "Tokens at the end of the output that must match the prompt to align again."),
       integer_field<P>("length", &P::length, 1, max_tokens_drafted, "Most tokens drafted in a round."),
       field<P>("realign", &P::realign,
                choice<Realign>({{"unique", Realign::unique}, {"nearest", Realign::nearest}}),
                "Match in the prompt to continue.")},
      [](const P& own, const std::string&, const DrafterRequest& request) {
        return MadeDrafter{AlignedCopy(request.text.vocabulary.size(), own)};
      });
}

}  // namespace speclab
