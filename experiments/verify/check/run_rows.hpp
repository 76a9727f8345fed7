// Measures how a neural model's rows depend on the number of tokens per run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "sim/control.hpp"

namespace speclab {

struct Config;

/// Compares rows of the same contexts, computed in two ways.
struct RowDifference {
  std::string rows;           ///< the rows compared: "runs of 4"
  std::string than;           ///< the rows they are compared with: "runs of 1"
  std::uint64_t count = 0;    ///< number of contexts
  std::uint64_t differ = 0;   ///< number of contexts whose rows have different bits
  double mean_variation = 0;  ///< mean total variation at temperature 1, without sampling options
  double high_variation = 0;  ///< 99th percentile of the total variation
  double most_variation = 0;
  double most_logit = 0;     ///< largest difference of a logit
  std::uint64_t flips = 0;   ///< number of contexts whose most probable token differs
  Interval flipped_texts{};  ///< share of texts with such a context, and its interval
};

struct RunRowsReport {
  std::string file;
  std::string machine;
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;  ///< tokens of each text after its prompt
  double temperature = 1;    ///< temperature of the texts, written by runs of one token
  double confidence = 0.95;
  std::vector<RowDifference> differences;
  /// Number of rows, computed in runs of fixed shape, that changed with a token's place in its run; the
  /// option "batch" promises 0.
  std::uint64_t moved = 0;
};
template <>
const Typed<RunRowsReport>& described();

/// Compares rows computed in runs of several sizes. For each trial the config's target, of kind "gguf",
/// writes a text of the simulation's length in runs of one token; then its rows are computed in runs of
/// `sizes` (ascending, above 1): with fixed shapes, and as a server does, with the prompt in one run.
/// Progress counts texts. Returns nothing if `control` stopped it. Throws ConfigError and ModelError.
std::optional<RunRowsReport> compare_run_rows(const Config& config, const std::vector<std::int32_t>& sizes,
                                              const Control& control);

std::string run_rows_text(const RunRowsReport& report);

}  // namespace speclab
