// A file that may be a log: its lines, and its JSON documents if it is JSON.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
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
  /// Returns --drafted, the tokens drafted per round, and notes that the log does not say them itself.
  std::optional<int> drafted() const {
    drafted_read_ = true;
    return options_.drafted;
  }
  bool drafted_read() const { return drafted_read_; }
  /// Returns the non-empty lines, without colours and fences of Markdown.
  const std::vector<TextLine>& lines() const { return lines_; }
  /// Returns true if a line contains this text.
  bool has(std::string_view text) const;

  /// Returns the JSON documents (the file, the elements of its list, or its lines), parsed at the first call.
  /// Returns nothing if the file is not JSON; `json_problem` then says why.
  const std::vector<JsonDocument>& documents() const;
  const std::string& json_problem() const;

 private:
  std::string name_;
  const LogOptions& options_;
  std::vector<TextLine> lines_;
  mutable std::unique_ptr<std::vector<JsonDocument>> documents_;
  mutable std::string problem_;
  mutable bool drafted_read_ = false;
};

/// Throws UsageError, naming the line.
template <class... Arguments>
[[noreturn]] void refuse_line(const TextLine& line, fmt::format_string<Arguments...> what,
                              Arguments&&... arguments) {
  throw UsageError(line.where + ": " + fmt::format(what, std::forward<Arguments>(arguments)...));
}

/// Largest accepted count: sums of counts and their products with max_draft fit into 64 bits.
inline constexpr std::uint64_t max_count = 1'000'000'000'000;
/// Largest number of drafted tokens per round, also for --drafted and --max-gamma.
inline constexpr std::uint64_t max_draft = 1000;

/// Returns `drafted`, a round's tokens. Throws UsageError, beginning with `where`, above max_draft.
std::uint64_t checked_draft(const std::string& where, std::uint64_t drafted);

/// Returns an integer from 0 to max_count. Throws UsageError, naming the line and `what`, otherwise.
std::uint64_t count_of(const TextLine& line, const std::string& word, const char* what);

/// Returns the number after `label`, such as 2.5 in "Mean acceptance length: 2.50,"; empty without the label.
std::optional<double> number_after(std::string_view line, std::string_view label);

/// Returns the number as a count; empty unless it is an integer from 0 to max_count.
std::optional<std::uint64_t> as_count(std::optional<double> number);

/// Returns the count after `label`. Throws UsageError, naming the line, if there is none.
std::uint64_t count_after(const TextLine& line, std::string_view label);

}  // namespace speclab
