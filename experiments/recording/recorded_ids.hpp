// Reads a recording's token ids, to train models on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace speclab {

struct RecordedIds {
  std::string name;  ///< name of the sequence
  std::vector<std::int64_t> ids;
};

/// Returns the sequences of a CSV or JSON-lines file with columns or keys "sequence" and "token", in order of
/// first appearance. Throws UsageError, with file and line, if these are missing.
std::vector<RecordedIds> read_recorded_ids(const std::string& file);

}  // namespace speclab
