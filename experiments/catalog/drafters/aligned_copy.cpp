// The drafter "aligned-copy".
#include "sim/drafters/aligned_copy.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"

namespace speclab {

namespace {

/// Of a config: other defaults than AlignedCopyOptions has.
struct AlignedCopyParameters : AlignedCopyOptions {
  AlignedCopyParameters() {
    match = 2;
    length = 10;
    realign = Realign::nearest;
  }
};

MadeDrafter make_aligned_copy(const AlignedCopyParameters& own, const std::string&,
                              const DrafterRequest& request) {
  return {AlignedCopy(request.text.vocabulary.size(), own)};
}

}  // namespace

DrafterKind aligned_copy_drafter() {
  return kind_entry<DrafterKind, AlignedCopyParameters>(
      "aligned-copy",
      "The prompt itself, from where the output is aligned with it (aggressive decoding). One run a round.",
      {integer_field<AlignedCopyParameters>(
           "match", &AlignedCopyParameters::match, 1, 64,
           "Tokens at the end of the output that must match the prompt to align again."),
       integer_field<AlignedCopyParameters>("length", &AlignedCopyParameters::length, 1, max_tokens_drafted,
                                            "Most tokens drafted in a round."),
       field<AlignedCopyParameters>(
           "realign", &AlignedCopyParameters::realign,
           choice<Realign>({{"unique", Realign::unique}, {"nearest", Realign::nearest}}),
           "Which match in the prompt.")},
      make_aligned_copy);
}

}  // namespace speclab
