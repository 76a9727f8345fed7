#include "serving/advisor/log_source.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/distribution/number.hpp"
#include "experiments/recording/json_document.hpp"

namespace speclab {

namespace {

/// Removes the codes of a terminal's colours, such as "\x1b[32m".
void remove_colours(std::string& line) {
  for (auto at = line.find("\x1b["); at != std::string::npos; at = line.find("\x1b[", at)) {
    const auto end = line.find_first_not_of("0123456789;", at + 2);
    line.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

}  // namespace

LogSource::LogSource(const std::string& text, std::string file, const LogOptions& options)
    : name_(std::move(file)), options_(options), lines_(lines_of(text, name_)) {
  for (TextLine& line : lines_) remove_colours(line.text);
  // A log pasted into Markdown stands between fences.
  std::erase_if(lines_,
                [](const TextLine& line) { return line.text.empty() || line.text.starts_with("```"); });
}

LogSource::~LogSource() = default;

bool LogSource::has(std::string_view text) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [text](const TextLine& line) { return line.text.find(text) != std::string::npos; });
}

const std::vector<JsonDocument>& LogSource::documents() const {
  if (!documents_) {
    std::string text;
    for (const TextLine& line : lines_) text += line.text + "\n";
    documents_ = std::make_unique<std::vector<JsonDocument>>(json_documents(text, name_, problem_));
  }
  return *documents_;
}

const std::string& LogSource::json_problem() const {
  documents();
  return problem_;
}

std::uint64_t checked_draft(const std::string& where, std::uint64_t drafted) {
  if (drafted <= max_draft) return drafted;
  throw UsageError("{}: {} tokens drafted in one round; at most {}", where, drafted, max_draft);
}

std::uint64_t count_of(const TextLine& line, const std::string& word, const char* what) {
  const auto value = parsed<std::uint64_t>(word);
  if (!value || *value > max_count) {
    refuse_line(line, "{} is \"{}\"; expected an integer from 0 to {}", what, brief(word), max_count);
  }
  return *value;
}

std::optional<double> number_after(std::string_view line, std::string_view label) {
  const auto at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + label.size());
  line.remove_prefix(std::min(line.find_first_not_of(" =:(\""), line.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  // In "1,500" and "2k" another number is meant.
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  const bool grouped = line.size() > 1 && line[0] == ',' && is_digit(line[1]);
  if (grouped || (!line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0))
    return std::nullopt;
  return value;
}

std::optional<std::uint64_t> as_count(std::optional<double> number) {
  if (!number || !(*number >= 0 && *number <= max_count) || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::uint64_t count_after(const TextLine& line, std::string_view label) {
  const auto count = as_count(number_after(line.text, label));
  if (!count) refuse_line(line, "no count from 0 to {} after \"{}\"", max_count, label);
  return *count;
}

}  // namespace speclab
