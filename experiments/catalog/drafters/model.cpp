// The drafter "model".
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "sim/drafters/model_drafter.hpp"

namespace speclab {

namespace {

struct Parameters {
  ModelConfig model;
};

MadeDrafter make(const Parameters& own, const std::string&, const DrafterRequest& request) {
  DraftModel built = make_draft_model(own.model, request);
  if (!built.model) return {std::nullopt, built.unsupported_reason};
  return {ModelDrafter<Model>(*std::move(built.model))};
}

}  // namespace

DrafterKind model_drafter() {
  return kind_entry<DrafterKind, Parameters>(
      "model", "A model, run once for each token.",
      {required(field("model", &Parameters::model, kind_of(model_family()),
                      "The model; \"base\": \"target\" in a mixture is the task's target."))},
      make);
}

}  // namespace speclab
