// The text of a file that may be a log: its lines, and its JSON where it is JSON.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "experiments/base/support/printable.hpp"
#include "serving/advisor/acceptance_file.hpp"

namespace speclab {

struct JsonDocument;

class LogSource {
 public:
  LogSource(const std::string& text, std::string file, const LogOptions& options);
  ~LogSource();
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  const std::string& name() const { return name_; }
  const LogOptions& options() const { return options_; }
  /// Lines that are not empty; "data: " before a line, as servers stream JSON, is left out.
  const std::vector<TextLine>& lines() const { return lines_; }
  /// Whether some line has this text.
  bool has(std::string_view text) const;

  /// The JSON values of the file, parsed at the first call: the whole, a list's elements, or one a line.
  /// Empty when it is not JSON; then `json_problem` says why not.
  const std::vector<JsonDocument>& documents() const;
  const std::string& json_problem() const;

 private:
  std::string name_;
  const LogOptions& options_;
  std::vector<TextLine> lines_;
  mutable std::unique_ptr<std::vector<JsonDocument>> documents_;
  mutable std::string problem_;
};

/// UsageError that names the line.
template <class... Arguments>
[[noreturn]] void refuse_line(const TextLine& line, fmt::format_string<Arguments...> what,
                              Arguments&&... arguments) {
  throw UsageError(line.where + ": " + fmt::format(what, std::forward<Arguments>(arguments)...));
}

/// The largest count that is read: sums of counts, and their products with max_draft, fit into 64 bits.
inline constexpr std::uint64_t max_count = 1'000'000'000'000;
/// The most tokens that a round drafts, as of --drafted and --max-gamma: work and memory grow with it.
inline constexpr std::uint64_t max_draft = 1000;

/// `drafted` tokens of a round; UsageError, which begins with `where`, above max_draft.
std::uint64_t checked_draft(const std::string& where, std::uint64_t drafted);

/// What somebody wrote, as it stands in a message.
inline std::string brief(std::string_view text) { return printable(text, 80); }

/// An integer from 0 to max_count; UsageError that names the line and `what` otherwise.
std::uint64_t count_of(const TextLine& line, const std::string& word, const char* what);

/// The number that follows `label` in a line, such as 2.5 of "Mean acceptance length: 2.50,"; none without
/// the label.
std::optional<double> number_after(std::string_view line, std::string_view label);

/// None unless it is a whole number from 0 to max_count.
std::optional<std::uint64_t> as_count(std::optional<double> number);

/// The count that follows `label`; UsageError that names the line otherwise.
std::uint64_t count_after(const TextLine& line, std::string_view label);

}  // namespace speclab
