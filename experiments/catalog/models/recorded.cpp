#include "experiments/catalog/models/recorded.hpp"

#include <cmath>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/recording_file.hpp"

namespace speclab {

ModelKind recorded_model() {
  using P = RecordedParameters;
  return kind_entry<ModelKind, P>(
      "recorded",
      "A text with its log-probabilities under target and draft (docs/recordings.md). Target and draft name the same files; token verification alone.",
      {required(field("file", &P::file, input_file(), "The recording.")),
       field("draft_file", &P::draft_file, input_file(), "The draft's file, if each file holds one model."),
       field("column", &P::column, text(),
             "For the draft: NAME of its column logq.NAME, if the file has several drafters.")},
      // A run's set-up builds recorded models as a pair. Code that builds one alone needs rows, which
      // recordings lack.
      [](const P&, const std::string& path, const ModelRequest&) -> BuiltModel {
        throw ConfigError(
            path + "/kind",
            "a recorded model has no rows of contexts outside its text; target and draft of one recording run in experiments of acceptance (experiment decode), and speclab plan recording says more");
      });
}

const RecordedParameters* recorded_parameters(const ModelConfig& model) {
  static const KindInfo* const kind = model_family().find("recorded");
  return model.kind == kind ? &model.as<RecordedParameters>() : nullptr;
}

std::shared_ptr<const std::vector<double>> recorded_ratios(const RecordedParameters& parameters,
                                                           const std::string& column, const std::string& path,
                                                           ModelFactory& factory) {
  const std::string draft = parameters.draft_file.value_or("");
  return factory.shared(
      [](const std::string& file, const std::string& draft_file, const std::string& of,
         const SharedPlace& place) {
        try {
          const Recording recording = read_recording(file, draft_file, nullptr, of).recording;
          if (recording.by_depth()) {
            throw UsageError(
                "{}: has one column per depth, which a model does not know; use speclab plan recording",
                file);
          }
          if (!recording.drawn) {
            throw UsageError(
                "{}: its text was given to the target, not drawn from it, so it does not determine rounds",
                file);
          }
          std::vector<double> ratios;
          for (std::size_t i = 0; i < recording.size(); ++i)
            ratios.push_back(std::exp(recording.draft.front()[i] - recording.target[i]));
          return ratios;
        } catch (const UsageError& error) {
          throw ConfigError(place.path + "/file", error.what());
        }
      },
      path, parameters.file, draft, column);
}

}  // namespace speclab
