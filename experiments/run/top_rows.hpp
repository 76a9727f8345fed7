// Recordings that also hold the largest probabilities of each row: JSON lines as in formats/json_lines.cpp,
// each with
//    "target": {"ids": [...], "logp": [...], "tail": mass of all others}, "draft": the same.
// They can be used as any other recording; their rows also determine one step of any rule.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/run/record_pair.hpp"

namespace speclab {

/// The largest probabilities of a row, in decreasing order.
struct TopRow {
  std::vector<std::int64_t> ids;
  std::vector<double> logp;  ///< natural logarithms
  double tail = 0;           ///< mass of all others
};

/// The rows of one context.
struct TopRows {
  std::string where;  ///< "file:line", for errors
  TopRow target;
  TopRow draft;
};

/// Writes the set-up's recording with the `largest` most probable tokens of both models' rows.
void write_top_rows(const Setup& setup, const RecordedTokens& recorded, const std::filesystem::path& file,
                    std::int32_t largest);

/// Reads the rows. Throws UsageError, with file and line, for a file without them, repeated ids, and numbers
/// that are not log-probabilities.
std::vector<TopRows> read_top_rows(const std::string& file);

}  // namespace speclab
