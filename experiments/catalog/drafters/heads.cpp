// The drafter "heads".
#include "sim/drafters/heads.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"

namespace speclab {

namespace {

struct HeadsParameters {
  std::int32_t heads = 4;
  std::int32_t first_order = 2;
  double temperature = 1;
};

MadeDrafter make_heads(const HeadsParameters& own, const std::string&, const DrafterRequest& request) {
  return {fit_heads(request.text.tokens, request.text.vocabulary.size(), own.heads, own.first_order,
                    {.temperature = own.temperature})};
}

}  // namespace

DrafterKind heads_drafter() {
  return kind_entry<DrafterKind, HeadsParameters>(
      "heads",
      "Non-autoregressive heads, fitted on the training text: each draws its token without knowing the "
      "others. One run a round.",
      {integer_field("heads", &HeadsParameters::heads, 1, 16, "Tokens drafted in a round, at most."),
       integer_field("first_order", &HeadsParameters::first_order, 1, 5, "Order of the first head's n-gram."),
       field("temperature", &HeadsParameters::temperature, number(0, 100),
             "Of every head; 0 is blockwise parallel decoding's argmax.")},
      make_heads);
}

}  // namespace speclab
