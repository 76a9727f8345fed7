// Recorded models of a config: target and draft are columns of one recording.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

/// The parameters of a model of kind "recorded".
struct RecordedParameters {
  std::string file;
  std::optional<std::string> draft_file;
  std::optional<std::string> column;
};

/// Returns the parameters; null for a model of another kind.
const RecordedParameters* recorded_parameters(const ModelConfig& model);

/// Returns q/p (draft over target) of the recorded token at each position, sequence after sequence, for the
/// draft in this column; an empty name means the only one. Throws ConfigError at `path` for a file that
/// cannot be read, for columns by depth, and for a text that was not sampled from the target.
std::shared_ptr<const std::vector<double>> recorded_ratios(const RecordedParameters& parameters,
                                                           const std::string& column, const std::string& path,
                                                           ModelFactory& factory);

}  // namespace speclab
