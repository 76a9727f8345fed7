#include "experiments/run/model_file.hpp"

#include <sstream>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/setup.hpp"
#include "sim/models/arpa.hpp"

namespace speclab {

BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory) {
  refuse_many_cells(config, "a model is taken from");
  facts_of_model(config, draft);
  const BuiltModel target =
      factory.model(config.models->target, model_request(config, factory, nullptr), config.sampling);
  if (!draft) return target;
  BuiltModel made =
      factory.model(config.models->draft, model_request(config, factory, &target.model), config.sampling);
  if (!made.vocabulary) made.vocabulary = target.vocabulary;
  return made;
}

void write_arpa_file(const BuiltModel& built, const std::filesystem::path& file) {
  const NgramModel* const ngram = built.model.ngram();
  if (ngram == nullptr || !built.vocabulary) {
    throw UsageError(
        "{}: an ARPA file holds an n-gram model, and this model is another; speclab.models in Python gives its rows",
        file.string());
  }
  std::ostringstream text;
  write_arpa(*ngram, *built.vocabulary, text);
  write_file_atomically(file, text.str());
}

}  // namespace speclab
