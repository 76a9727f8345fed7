// What a server logged about acceptance, from a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/mean_accepted.hpp"

namespace speclab {

/// What is known of a log besides its text.
struct LogOptions {
  std::string model = {};  ///< whose records are read, of a log of several models; empty for the only one
  std::optional<int> drafted = {};  ///< tokens drafted a round, for logs that do not say
  /// The columns or keys of accepted, emitted, drafted, rounds and model, where they have other names.
  std::map<std::string, std::string> fields = {};
  std::string earlier = {};  ///< text of an earlier page of the same counters, which is subtracted
  std::string earlier_file = {};
};

struct AcceptanceFile {
  std::vector<LoggedRound> rounds;  ///< in the file's order; empty when it holds totals
  PositionCounts counts;            ///< no rounds when only means are known
  std::uint64_t drafted = 0;        ///< tokens of `rounds`, else of `counts`; 0 when only means are known
  std::optional<LoggedMeans> means = {};
  std::string format = {};                 ///< a name of log_formats()
  std::vector<std::string> warnings = {};  ///< sentences

  /// The longest draft of the log.
  std::size_t longest() const;
};

/// What the text of a file holds, in one of log_formats(), told apart by the content. Throws UsageError
/// naming file, line and value for what cannot be so, for a file without rounds, and for one in no format,
/// with what each format misses. Of several models one must be named. Totals by position must be of rounds of
/// one length: with several, acceptance at a position cannot be told from length.
AcceptanceFile acceptance_in(const std::string& text, const std::string& file,
                             const LogOptions& options = {});

/// The models of a log that a choice is to be made of: empty for a log of one model. Throws as
/// `acceptance_in` does.
std::vector<std::string> models_in(const std::string& text, const std::string& file);

/// The same as `acceptance_in` of a file, which may be compressed by gzip, or of the standard input, "-";
/// ConfigError when it cannot be read.
AcceptanceFile read_acceptance(const std::string& file, const LogOptions& options = {});

/// The text of a log: of "-" the standard input, of a file compressed by gzip what it holds.
std::string read_log_text(const std::string& file);

}  // namespace speclab
