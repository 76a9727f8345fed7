// A format of logs: each is one file in log_formats/ and one line in all_log_formats.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// The records of a log about one model. Readers add records. A record with positions also counts in the
/// sums.
struct ModelLog {
  std::vector<LoggedRound> rounds = {};
  PositionCounts counts = {};
  std::uint64_t counted = 0;  ///< drafted tokens in the rounds of `counts`
  /// Number of drafted tokens by which rounds were shorter than the longest round of their record.
  std::uint64_t short_by = 0;

  // Sums over records without positions.
  std::uint64_t summed_rounds = 0;
  std::uint64_t summed_drafted = 0;
  std::uint64_t summed_accepted = 0;

  // Lines of means over rounds that are not counted.
  double gamma = 0;
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};

  /// Adds a round. Throws UsageError if it accepted more than it drafted, or is longer than max_draft.
  void add_round(const std::string& where, std::uint64_t drafted, std::uint64_t accepted);
  /// Adds `rounds` rounds of accepted.size() drafted tokens each; accepted[i] of them accepted position i +
  /// 1. `drafted` is the number of drafted tokens in all; if it is smaller than rounds * accepted.size(),
  /// some rounds were shorter. Throws UsageError if a position was accepted more often than the one before
  /// it.
  void add_totals(const std::string& where, std::uint64_t rounds, const std::vector<std::uint64_t>& accepted,
                  std::uint64_t drafted);
  /// Does the same for the number of rounds that accepted 0, 1, 2, ... tokens. All rounds have one length
  /// unless `drafted` says otherwise.
  void add_histogram(const std::string& where, const std::vector<std::uint64_t>& by_accepted,
                     std::optional<std::uint64_t> drafted = {});
  /// Adds the sums of a record without positions. Throws UsageError as add_round does, for the mean length of
  /// rounds.
  void add_sums(const std::string& where, std::uint64_t rounds, std::uint64_t drafted,
                std::uint64_t accepted);
};

/// Logs by name of the model; "" if the log names none.
using ModelLogs = std::map<std::string, ModelLog>;

struct LogFormat {
  const char* name;
  const char* server;    ///< the server that writes it; "any" for none in particular
  const char* sentence;  ///< what it contains, and how to request it from a server
  const char* sample;    ///< a complete log in this format
  const char* source;    ///< URL of the format's documentation, or none
  /// Returns the reason why the file is not in this format, such as "has no line with ..."; empty if it is.
  std::string (*why_not)(const LogSource& source);
  /// Reads a log. Throws UsageError, with file, line, value and remedy, for a log of this format that is
  /// inconsistent.
  ModelLogs (*read)(const LogSource& source);
};

/// Returns every format in the order in which they are tried. Tests and other programs may add some.
std::vector<LogFormat>& log_formats();

/// Adds the totals of a record whose numbers have few digits. It takes the number of rounds that fits
/// `mean_emitted`, the mean of emitted tokens per round (accepted and one more) within `rounding`, and for
/// which rates and counts agree best. `rates` are the shares of all rounds that accepted each position.
void add_rounded(ModelLog& log, const std::string& where, double mean_emitted, double rounding,
                 std::uint64_t accepted, std::uint64_t drafted, const std::vector<double>& rates);

/// Returns the tokens drafted per round, from --drafted. If it is missing, throws UsageError, which says that
/// `what` does not state them.
std::uint64_t drafted_option(const LogSource& source, const char* what);

/// Returns the numbers of a list such as "0.805, 0.632, 0.483", up to the first word that is no number.
std::vector<double> rates_in(std::string_view text);

}  // namespace speclab
