// The drafter "model".
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "sim/drafters/model_drafter.hpp"

namespace speclab {

namespace {

struct ModelParameters {
  ModelConfig model;
};

MadeDrafter make_model(const ModelParameters& own, const std::string&, const DrafterRequest& request) {
  DraftModel built = make_draft_model(own.model, request);
  if (!built.model) return {std::nullopt, built.unsupported_reason};
  return {ModelDrafter<Model>(*std::move(built.model))};
}

}  // namespace

DrafterKind model_drafter() {
  return kind_entry<DrafterKind, ModelParameters>(
      "model", "A model, run once for each token.",
      {required(field("model", &ModelParameters::model, kind_of(model_family()),
                      "The model; \"base\": \"target\" in a mixture is the task's target."))},
      make_model);
}

}  // namespace speclab
