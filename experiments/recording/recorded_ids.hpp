// The token ids of a recording, which models can be trained on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace speclab {

struct RecordedIds {
  std::string name;  ///< of the sequence
  std::vector<std::int64_t> ids;
};

/// The sequences of a CSV or JSON lines file with the columns or keys "sequence" and "token", in the order of
/// their first tokens. Throws UsageError, with file and line, for a file without them.
std::vector<RecordedIds> read_recorded_ids(const std::string& file);

}  // namespace speclab
