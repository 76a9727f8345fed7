// Recordings with the largest probabilities of whole rows: JSON lines as in formats/json_lines.cpp, with
//     "target": {"ids": [...], "logp": [...], "tail": mass of all others}, "draft": the same
// in each. They are recordings as any other, and their rows say what one step of any rule does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/run/record_pair.hpp"

namespace speclab {

/// The largest probabilities of a row, the larger first.
struct TopRow {
  std::vector<std::int64_t> ids;
  std::vector<double> logp;  ///< natural logarithms
  double tail = 0;           ///< mass of the others
};

/// The rows of one context.
struct TopRows {
  std::string where;  ///< "file:line", for errors
  TopRow target;
  TopRow draft;
};

/// Writes what was recorded of the set-up, with the `largest` probabilities of both models' rows.
void write_top_rows(const Setup& setup, const RecordedTokens& recorded, const std::filesystem::path& file,
                    std::int32_t largest);

/// Throws UsageError, with file and line, for a file without such rows, for ids that come twice, and for
/// numbers that are no log-probabilities.
std::vector<TopRows> read_top_rows(const std::string& file);

}  // namespace speclab
