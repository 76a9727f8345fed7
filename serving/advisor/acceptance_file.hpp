// Reads what a server logged about acceptance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/mean_accepted.hpp"

namespace speclab {

/// Facts about a log that the user adds.
struct LogOptions {
  std::string model = {};           ///< model whose records are read; empty if the log has only one
  std::optional<int> drafted = {};  ///< drafted tokens per round, for logs that do not state them
  /// Other names of the columns or keys accepted, emitted, drafted, rounds and model.
  std::map<std::string, std::string> fields = {};
  std::string earlier = {};  ///< an earlier page of the same counters, to subtract
  std::string earlier_file = {};
  bool part = false;  ///< the text is one record of a log, which is judged as a whole
};

struct AcceptanceFile {
  std::vector<LoggedRound> rounds;  ///< in the file's order; empty if the file holds totals
  PositionCounts counts;            ///< without rounds if only means are known
  std::uint64_t drafted = 0;  ///< drafted tokens of `rounds`, else of `counts`; 0 if only means are known
  std::optional<LoggedMeans> means = {};
  std::string format = {};                 ///< name of an entry of log_formats()
  std::string model = {};                  ///< the target, if the log names it
  std::vector<std::string> warnings = {};  ///< sentences

  /// Returns the length of the longest draft in the log.
  std::size_t longest() const;
};

/// Reads a log in one of log_formats(), recognised by its content. `options` must name the model if there are
/// several. Throws UsageError, naming file, line and value, for impossible values and a file without rounds;
/// for a file in no known format it says which line or keys are not known. Totals by position must come from
/// rounds of one length: with several, acceptance at a position cannot be separated from length.
AcceptanceFile acceptance_in(const std::string& text, const std::string& file,
                             const LogOptions& options = {});

/// Returns the models among which the user must choose; empty for one model. Throws as `acceptance_in`.
std::vector<std::string> models_in(const std::string& text, const std::string& file);

/// Reads a file, which may be gzipped, or standard input ("-"), as `acceptance_in` does. Throws ConfigError.
AcceptanceFile read_acceptance(const std::string& file, const LogOptions& options = {});

/// Returns a log's text, decompressed if it is gzipped; "-" is standard input.
std::string read_log_text(const std::string& file);

}  // namespace speclab
