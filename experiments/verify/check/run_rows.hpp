// How the rows of a neural model depend on the number of tokens of its runs.
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

/// Rows of the same contexts, computed in two ways.
struct RowDifference {
  std::string rows;           ///< "runs of 4"
  std::string than;           ///< "runs of 1"
  std::uint64_t count = 0;    ///< contexts
  std::uint64_t differ = 0;   ///< of them: rows of other bits
  double mean_variation = 0;  ///< total variation at temperature 1, without sampling options
  double high_variation = 0;  ///< which 1% of the rows exceed
  double most_variation = 0;
  double most_logit = 0;     ///< largest difference of a logit
  std::uint64_t flips = 0;   ///< contexts whose likeliest token is another
  Interval flipped_texts{};  ///< share of texts with such a context, with interval
};

struct RunRowsReport {
  std::string file;
  std::string machine;
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;  ///< of each, after its prompt
  double temperature = 1;    ///< at which runs of one token wrote them
  double confidence = 0.95;
  std::vector<RowDifference> differences;
  /// Rows of fixed shapes that changed with the place of a token in its run: the option "batch" promises that
  /// there are none.
  std::uint64_t moved = 0;
};
template <>
const Typed<RunRowsReport>& described();

/// The config's target, of kind "gguf", writes a text of the simulation's length for each of its trials, in
/// runs of one token; then their rows are computed in runs of other sizes, all greater than 1 and ascending:
/// of fixed shape, and as a server does it, the prompt in one run. Empty when `control` stopped it; its
/// progress counts texts. Throws ConfigError and ModelError.
std::optional<RunRowsReport> compare_run_rows(const Config& config, const std::vector<std::int32_t>& sizes,
                                              const Control& control);

std::string run_rows_text(const RunRowsReport& report);

}  // namespace speclab
