// Declares a format of server logs. Each has one file in log_formats/ and a line in all_log_formats.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

/// The most tokens that one round is taken to draft; a record of more is the total of a request.
inline constexpr std::uint64_t max_round = 128;

/// A log's records about one model, which readers add. Records with positions also count in the sums.
struct ModelLog {
  std::vector<LoggedRound> rounds = {};
  PositionCounts counts = {};
  std::uint64_t counted = 0;  ///< drafted tokens of the rounds in `counts`
  /// Drafted tokens that rounds lacked, compared with the longest round of their record.
  std::uint64_t short_by = 0;
  /// Counts all rounds. Those of a record without lengths have its mean length, rounded down or up.
  DraftLengths lengths = {};
  /// Because rates are rounded, so many fewer or more rounds may have accepted all drafted tokens.
  std::uint64_t full_fewer = 0;
  std::uint64_t full_more = 0;

  // Sums over records without positions.
  std::uint64_t summed_rounds = 0;
  std::uint64_t summed_drafted = 0;
  std::uint64_t summed_accepted = 0;

  // Lines of means over an unknown number of rounds.
  double gamma = 0;
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};

  std::vector<std::string> warnings = {};  ///< sentences
  bool warned_of_unread = false;
  std::string refusal = {};  ///< why no plan can rest on this model; another of the file may be chosen

  /// Warns, once, that a number of the log is not read.
  void warn_unread(const std::string& what);
  /// Adds a round. Throws UsageError if it accepted more than it drafted, or drafted more than max_round.
  void add_round(const std::string& where, std::uint64_t drafted, std::uint64_t accepted);
  /// Adds `rounds` rounds of accepted.size() drafted tokens; accepted[i] of them accepted position i + 1.
  /// `drafted` counts the drafted tokens of all rounds. If it is `rounds` times the number of positions that
  /// were ever accepted, no round drafted the later positions, for which servers print zeros. If it is
  /// another number below rounds * accepted.size(), some rounds were shorter. Throws UsageError if it is
  /// above that number, or if acceptances rise with the position.
  void add_totals(const std::string& where, std::uint64_t rounds, std::vector<std::uint64_t> accepted,
                  std::uint64_t drafted);
  /// Adds rounds by their accepted tokens: by_accepted[k] of them accepted k tokens. All rounds have one
  /// length unless `drafted` says otherwise.
  void add_histogram(const std::string& where, const std::vector<std::uint64_t>& by_accepted,
                     std::optional<std::uint64_t> drafted = {});
  /// Adds the sums of a record without positions. Throws UsageError as add_round does, for the mean round.
  void add_sums(const std::string& where, std::uint64_t rounds, std::uint64_t drafted,
                std::uint64_t accepted);

 private:
  void add_lengths(std::uint64_t rounds, std::uint64_t drafted, std::uint64_t longest);
};

/// Logs by model; "" if the log names none.
using ModelLogs = std::map<std::string, ModelLog>;

struct LogFormat {
  const char* name;
  const char* server;    ///< server that writes it; "any" for none in particular
  const char* sentence;  ///< contents, and how to get it from a server
  const char* sample;    ///< a complete log in this format
  const char* source;    ///< URL of its documentation, if any
  /// Returns true if the file is in this format.
  bool (*fits)(const LogSource& source);
  /// Reads a log. Throws UsageError, with file, line, value and remedy, if it is inconsistent.
  ModelLogs (*read)(const LogSource& source);
};

/// Returns all formats in the order in which they are tried; tests and other programs may add some.
std::vector<LogFormat>& log_formats();

/// The totals of a record that prints rounded numbers.
struct RoundedTotals {
  std::uint64_t accepted = 0;
  std::uint64_t drafted = 0;
  std::vector<double> rates = {};            ///< rates[i] is the share of rounds that accepted position i + 1
  double rate_rounding = 0.0005;             ///< half of the last digit of a rate
  std::optional<std::uint64_t> rounds = {};  ///< empty if the record prints a mean instead
  double mean_emitted = 1;                   ///< mean of emitted tokens (accepted and one more) per round
  double mean_rounding = 0;                  ///< half of the last digit of the mean
};

/// Adds a record of rounded numbers. If it does not print its rounds, takes the smallest number of rounds
/// that fits the mean and whose counts print as these rates. Throws UsageError if there is none.
void add_rounded(ModelLog& log, const std::string& where, const RoundedTotals& totals);

/// A round emits one token more than it accepts. Returns the tokens that rounds accepted. Throws UsageError
/// for fewer emitted tokens than rounds.
std::uint64_t accepted_of(const std::string& where, std::uint64_t emitted, std::uint64_t rounds);

/// Returns the number of the target's runs that emitted these tokens, without the run over each prompt. A run
/// emits the tokens that it accepted and one more.
std::uint64_t runs_of(std::uint64_t emitted, std::uint64_t accepted, std::uint64_t requests);

/// Throws UsageError for a line with a number of rounds, which is no single round.
[[noreturn]] void refuse_totals(const TextLine& line);

/// If at least this share of the target's runs draft, then every run drafts that can. The run for the last
/// token of a text cannot.
inline constexpr double drafting_share = 0.98;
/// The same share if the runs include those over prompts, whose number is not known.
inline constexpr double drafting_share_with_prompts = 0.8;

/// Returns a sentence if the share of the target's runs that drafted, rounds / runs, is below `share`, and
/// else "". The other runs emit one token each, so that a plan from the rounds alone would promise too much.
std::string not_drafting(const std::string& where, std::uint64_t rounds, std::uint64_t runs,
                         std::uint64_t accepted, double share = drafting_share);

/// Throws UsageError with this sentence.
void check_drafting(const std::string& where, std::uint64_t rounds, std::uint64_t runs,
                    std::uint64_t accepted, double share = drafting_share);

/// Throws UsageError, with the numbers, if `requests` requests emitted too few tokens for these rounds. A
/// round emits its accepted tokens and one more; only the last of a request may go beyond the end of the
/// text. `inexact` is a share of `emitted` that may be missing.
void check_emitted(const std::string& where, std::uint64_t rounds, std::uint64_t drafted,
                   std::uint64_t accepted, std::uint64_t emitted, std::uint64_t requests, double inexact = 0);

/// Returns the number of rounds of a request that emitted `emitted` tokens (0: not known) and drafted `gamma`
/// a round. Servers do not draft the last token of a text. So each run of the target drafts, except the one
/// over the prompt and perhaps the one for the last token. Throws UsageError if gamma is so large or so small
/// that it contradicts the emitted tokens.
std::uint64_t rounds_of_request(const std::string& where, std::uint64_t gamma, std::uint64_t drafted,
                                std::uint64_t accepted, std::uint64_t emitted);

/// The largest error of a number that is printed with two decimals.
inline constexpr double two_decimals_rounding = 0.0051;

/// Throws UsageError, with both numbers, if a record states another number than follows from its counts.
void check_stated(const std::string& where, std::string_view name, double stated, double counted,
                  double rounding = two_decimals_rounding);

/// Returns --drafted, the tokens drafted per round. Throws UsageError about `what` if it is missing.
std::uint64_t drafted_option(const LogSource& source, std::string_view what);

/// Returns the numbers of a list such as "0.805, 0.632, 0.483", up to the first word that is not a number.
/// Throws UsageError, naming the line, for a list that is empty and not closed, or a rate outside 0 to 1.
std::vector<double> rates_in(const TextLine& line, std::string_view text);

}  // namespace speclab
