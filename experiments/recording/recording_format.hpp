// A format of recordings: one file in formats/, one line in all_formats.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/recording_source.hpp"
#include "experiments/recording/row_files.hpp"
#include "experiments/recording/scored_text.hpp"

namespace speclab {

/// What a file holds: both models' columns; one model's; rows of one or both.
using RecordingPart = std::variant<Recording, ScoredText, RowFile>;

struct RecordingFormat {
  const char* name;
  const char* sentence;
  /// Why the file is not in this format, such as "does not begin with ..."; empty when it is.
  std::string (*why_not)(const RecordingSource& source);
  /// Throws UsageError, with file, line or path, value and remedy, for a file of this format that does not
  /// hold together.
  RecordingPart (*read)(const RecordingSource& source);
  /// The names of the drafters that have columns of their own, of which the source names one; none in a file
  /// of one draft without a name. Null for formats of one draft.
  std::vector<std::string> (*drafters)(const RecordingSource& source) = nullptr;
};

/// Every format, in the order in which they are tried; tests and other programs may add some.
std::vector<RecordingFormat>& recording_formats();

}  // namespace speclab
