#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "sim/drafters/model_drafter.hpp"

namespace speclab {

DrafterKind model_drafter() {
  struct P {
    ModelConfig model;
  };
  return kind_entry<DrafterKind, P>(
      "model", "A model, run once for each token.",
      {required(field("model", &P::model, kind_of(model_family()),
                      "The model; \"base\": \"target\" in a mixture is the task's target."))},
      [](const P& own, const std::string&, const DrafterRequest& request) -> MadeDrafter {
        DraftModel built = make_draft_model(own.model, request);
        if (!built.model) return {std::nullopt, built.unsupported_reason};
        return {ModelDrafter<Model>(*std::move(built.model))};
      });
}

}  // namespace speclab
