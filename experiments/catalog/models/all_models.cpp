// Lists every model kind, one line each, in the order of `speclab list`.
#include "experiments/catalog/models/model_factory.hpp"

// clang-format off
#define SPECLAB_MODELS(ENTRY) \
  ENTRY(table) \
  ENTRY(zipf) \
  ENTRY(dirichlet) \
  ENTRY(uniform) \
  ENTRY(point) \
  ENTRY(markov) \
  ENTRY(ngram) \
  ENTRY(unigram) \
  ENTRY(bigram) \
  ENTRY(arpa) \
  ENTRY(cached) \
  ENTRY(mixture) \
  ENTRY(recorded) \
  ENTRY(gguf)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_MODEL(name) ModelKind name##_model();
SPECLAB_MODELS(SPECLAB_DECLARE_MODEL)

const Typed<Adjustment>& sampling_type() {
  static const auto type = object<Adjustment>(
      "sampling",
      "Sampling options, applied to each row as an adjusted distribution (Leviathan et al. 2023, section 2.2).",
      {field("temperature", &Adjustment::temperature, number(0, 100),
             "Probabilities are raised to the power 1/temperature and normalised; 0 is argmax."),
       with_unit(integer_field("top_k", &Adjustment::top_k, 0, max_model_vocab,
                               "Keep the k most probable tokens; 0 keeps all."),
                 "tokens"),
       field("top_p", &Adjustment::top_p, number_above(0, 1),
             "Keep the smallest set of most probable tokens whose probabilities sum to at least this.")});
  return type;
}

Family<ModelKind>& model_family() {
  static const auto common =
      object<ModelKind::Common>("model", "Keys of every model.",
                                {field("sampling", &ModelKind::Common::sampling, sampling_type(),
                                       "Sampling options of this model (default: the config's).")});
#define SPECLAB_ADD_MODEL(name) all.add(name##_model());
  static Family<ModelKind> family("model", "Models", common.type,
                                  [](Family<ModelKind>& all) { SPECLAB_MODELS(SPECLAB_ADD_MODEL) });
  return family;
}

}  // namespace speclab
