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

Family<ModelKind>& model_family() {
  static const auto common =
      object<ModelKind::Common>("model", "Keys of every model.",
                                {field("sampling", &ModelKind::Common::sampling, sampling_type(),
                                       "Sampling options of this model (default: the config's).")});
#define SPECLAB_LIST_MODEL(name) name##_model(),
  static Family<ModelKind> family("model", "Models", common.type,
                                  [] { return std::vector<ModelKind>{SPECLAB_MODELS(SPECLAB_LIST_MODEL)}; });
  return family;
}

}  // namespace speclab
