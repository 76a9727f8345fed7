// Declares a format of recordings. Each has an entry in a file of formats/ and a line in all_formats.cpp.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/recording_source.hpp"
#include "experiments/recording/row_files.hpp"
#include "experiments/recording/scored_text.hpp"

namespace speclab {

/// The contents of a file: columns of both models, columns of one, or rows of one or both.
using RecordingPart = std::variant<Recording, ScoredText, RowFile>;

struct RecordingFormat {
  const char* name;
  const char* sentence;
  /// Returns why the file is not in this format ("does not begin with ..."); empty if it is.
  std::function<std::string(const RecordingSource& source)> why_not;
  /// Reads a file. Throws UsageError, with file, line or path, value and remedy, if it is inconsistent.
  std::function<RecordingPart(const RecordingSource& source)> read;
  /// Returns the drafters with a column each, among which the source must choose; empty for one unnamed
  /// draft. Null for formats of one draft.
  std::vector<std::string> (*drafters)(const RecordingSource& source) = nullptr;
};

/// Returns all formats in the order in which they are tried; tests and other programs may add some.
std::vector<RecordingFormat>& recording_formats();

}  // namespace speclab
