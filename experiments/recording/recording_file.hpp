// Reads a recording from a file in any known format.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/row_files.hpp"

namespace speclab {

class AnyRule;

struct ReadRecording {
  Recording recording;
  std::string format;  ///< format of the file; "vllm, with openai-completions" for two files
};

/// Reads a recording. If it has rows, `overlap` is the acceptance rate of the rule `rate` (unless null).
///
/// `draft` is a second file with the draft's log-probabilities or rows of the same tokens, for formats of one
/// model; empty: none. `column` names the drafter in a file with several (column logq.NAME); empty: column
/// logq. `fields` names the file's columns or keys, as --fields does; empty: a known format. Throws
/// UsageError for inconsistent files, and for a file in no known format, with each format's reason.
ReadRecording read_recording(const std::string& file, const std::string& draft = "",
                             const AnyRule* rate = nullptr, const std::string& column = "",
                             const std::map<std::string, std::string>& fields = {});

/// Returns whether a file is in a known format of recordings.
bool is_recording(const std::string& file);

/// Returns the drafters of a recording that has a column for each, so that one must be named; empty if there
/// is one draft without a name. Throws UsageError for a file in no known format.
std::vector<std::string> drafters_in(const std::string& file);

}  // namespace speclab
