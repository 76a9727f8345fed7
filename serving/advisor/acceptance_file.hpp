// Reads from a file what a server logged about acceptance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/mean_accepted.hpp"

namespace speclab {

/// Facts that the user states about a log in addition to its text.
struct LogOptions {
  std::string model = {};           ///< the model whose records are read; empty if the log has only one
  std::optional<int> drafted = {};  ///< drafted tokens per round, for logs that do not state them
  /// The columns or keys that stand for accepted, emitted, drafted, rounds and model, if they have other
  /// names.
  std::map<std::string, std::string> fields = {};
  std::string earlier = {};  ///< text of an earlier page of the same counters, which are subtracted
  std::string earlier_file = {};
};

struct AcceptanceFile {
  std::vector<LoggedRound> rounds;  ///< in the order of the file; empty if the file holds totals
  PositionCounts counts;            ///< has no rounds if only means are known
  std::uint64_t drafted = 0;        ///< tokens of `rounds`, or else of `counts`; 0 if only means are known
  std::optional<LoggedMeans> means = {};
  std::string format = {};                 ///< a name of log_formats()
  std::vector<std::string> warnings = {};  ///< sentences

  /// Returns the length of the longest draft in the log.
  std::size_t longest() const;
};

/// Reads the text of a file in one of log_formats(), which is recognised by the content. Throws UsageError,
/// which names file, line and value, for impossible values and for a file without rounds; for a file in no
/// format it says what each format misses. If the log has several models, `options` must name one. Totals by
/// position must come from rounds of one length: with several lengths, acceptance at a position cannot be
/// separated from length.
AcceptanceFile acceptance_in(const std::string& text, const std::string& file,
                             const LogOptions& options = {});

/// Returns the models among which the user must choose; empty for a log of one model. Throws as
/// `acceptance_in` does.
std::vector<std::string> models_in(const std::string& text, const std::string& file);

/// Does the same as `acceptance_in` for a file, which may be compressed by gzip, or for the standard input,
/// "-". Throws ConfigError if it cannot be read.
AcceptanceFile read_acceptance(const std::string& file, const LogOptions& options = {});

/// Returns the text of a log: of the standard input for "-"; a file compressed by gzip is decompressed.
std::string read_log_text(const std::string& file);

}  // namespace speclab
