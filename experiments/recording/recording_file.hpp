// A recording, from a file in any known format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/row_files.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

struct ReadRecording {
  Recording recording;
  std::string format;  ///< of the file; "vllm, with openai-completions" of two
};

/// Of rows, the overlap is the acceptance rate of `rate`, where that is not null.
///
/// `draft` is a second file with the draft's log-probabilities or rows of the same tokens, for formats that
/// hold one model; empty for none. Throws UsageError: for a file in no known format with the reason of each,
/// and for files that do not hold together. `column` is the drafter whose column is read, of a file with
/// several (logq.NAME); empty for the column logq.
ReadRecording read_recording(const std::string& file, const std::string& draft = "",
                             const AnyRule* rate = nullptr, const std::string& column = "");

/// The rows of both models, checked, of a file that holds whole rows (and of a second one, as above); none
/// where the first file has columns instead. Throws UsageError as `read_recording` does.
std::optional<RowFile> read_row_file(const std::string& file, const std::string& draft = "");

/// The drafters of a recording with a column for each, of which one is to be named; none for one draft
/// without a name. Throws UsageError for a file in no known format.
std::vector<std::string> drafters_in(const std::string& file);

}  // namespace speclab
