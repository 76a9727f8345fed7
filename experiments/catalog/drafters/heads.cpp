#include "sim/drafters/heads.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"

namespace speclab {

DrafterKind heads_drafter() {
  struct P {
    std::int32_t heads = 4;
    std::int32_t first_order = 2;
    double temperature = 1;
  };
  return kind_entry<DrafterKind, P>(
      "heads",
      "Non-autoregressive heads, fitted on the training text: each draws its token without knowing the others. One run per round.",
      {integer_field("heads", &P::heads, 1, 16, "Most tokens drafted in a round."),
       integer_field("first_order", &P::first_order, 1, 5, "Order of the first head's n-gram."),
       field("temperature", &P::temperature, number(0, 100),
             "Temperature of every head; 0 is the argmax of blockwise parallel decoding.")},
      [](const P& own, const std::string&, const DrafterRequest& request) {
        return MadeDrafter{fit_heads(request.text.tokens, request.text.vocabulary.size(), own.heads,
                                     own.first_order, {.temperature = own.temperature})};
      });
}

}  // namespace speclab
