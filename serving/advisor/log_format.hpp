// A format of logs: one file in log_formats/, one line in all_log_formats.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// What a log says of one model. Readers add records; a record with positions is also one of sums.
struct ModelLog {
  std::vector<LoggedRound> rounds = {};
  PositionCounts counts = {};
  std::uint64_t counted = 0;   ///< tokens drafted in the rounds of `counts`
  std::uint64_t short_by = 0;  ///< further ones, had all rounds of a record been as long as its longest

  // Sums of records without positions.
  std::uint64_t summed_rounds = 0;
  std::uint64_t summed_drafted = 0;
  std::uint64_t summed_accepted = 0;

  // Lines of means, of rounds that are not counted.
  double gamma = 0;
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};

  /// UsageError where more is accepted than drafted, or a round is longer than max_draft.
  void add_round(const std::string& where, std::uint64_t drafted, std::uint64_t accepted);
  /// `rounds` rounds of accepted.size() drafted tokens each, of which accepted[i] accepted position i + 1.
  /// `drafted` tokens in all; fewer than that many rounds have says that some were shorter. UsageError where
  /// a position is accepted more often than the one before it.
  void add_totals(const std::string& where, std::uint64_t rounds, const std::vector<std::uint64_t>& accepted,
                  std::uint64_t drafted);
  /// The same by the number of rounds that accepted 0, 1, 2, ... tokens; all of one length unless `drafted`
  /// says otherwise.
  void add_histogram(const std::string& where, const std::vector<std::uint64_t>& by_accepted,
                     std::optional<std::uint64_t> drafted = {});
  /// Sums of records without positions; refused as rounds are, by their mean length.
  void add_sums(const std::string& where, std::uint64_t rounds, std::uint64_t drafted,
                std::uint64_t accepted);
};

/// By the name of the model; "" where the log names none.
using ModelLogs = std::map<std::string, ModelLog>;

struct LogFormat {
  const char* name;
  const char* server;    ///< who writes it; "any" for none in particular
  const char* sentence;  ///< what is in it, and what asks a server for it
  const char* sample;    ///< a whole log in this format
  const char* source;    ///< where the format is documented: a URL, or none
  /// Why the file is not in this format, such as "has no line with ..."; empty when it is.
  std::string (*why_not)(const LogSource& source);
  /// Throws UsageError, with file, line, value and remedy, for a log of this format that does not hold
  /// together.
  ModelLogs (*read)(const LogSource& source);
};

/// Every format, in the order in which they are tried; tests and other programs may add some.
std::vector<LogFormat>& log_formats();

/// Totals of a record that gives numbers in a few digits: the number of rounds that fits the mean number of
/// emitted tokens (`mean_emitted`, accepted and one more a round, within `rounding`) and makes rates and
/// counts agree best. `rates` are shares of all rounds that accepted each position.
void add_rounded(ModelLog& log, const std::string& where, double mean_emitted, double rounding,
                 std::uint64_t accepted, std::uint64_t drafted, const std::vector<double>& rates);

/// The tokens drafted a round, as --drafted says. UsageError, which says that `what` does not, without it.
std::uint64_t drafted_option(const LogSource& source, const char* what);

/// The numbers of a list such as "0.805, 0.632, 0.483", up to what is no number.
std::vector<double> rates_in(std::string_view text);

}  // namespace speclab
