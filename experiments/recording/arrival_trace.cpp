#include "experiments/recording/arrival_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

constexpr double ms_of_second = 1e3;
constexpr double max_tokens = 1U << 24U;

std::uint32_t tokens_in(double tokens, const std::string& where) {
  if (!(tokens >= 0 && tokens <= max_tokens) || tokens != std::floor(tokens))
    throw UsageError(
        fmt::format("{}: {} tokens; expected a whole number up to {}", where, tokens, max_tokens));
  return std::max(1U, static_cast<std::uint32_t>(tokens));
}

/// Days since 1970-01-01 of a date of the Gregorian calendar (Hinnant 2021, "chrono-compatible low-level date
/// algorithms").
double days_of(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = year / 400;
  const int of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097.0 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2023-11-16 18:17:03.9799600" as milliseconds.
std::optional<double> time_of(const std::string& text) {
  const auto number = [&](std::size_t from, std::size_t size) {
    return from + size <= text.size() ? number_in(text.substr(from, size)) : std::nullopt;
  };
  const auto year = number(0, 4);
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  const auto hour = number(11, 2);
  const auto minute = number(14, 2);
  const auto second = text.size() > 17 ? number_in(text.substr(17)) : std::nullopt;
  if (!year || !month || !day || !hour || !minute || !second || text[4] != '-' || text[13] != ':')
    return std::nullopt;
  const double days = days_of(static_cast<int>(*year), static_cast<int>(*month), static_cast<int>(*day));
  return ms_of_second * (((days * 24 + *hour) * 60 + *minute) * 60 + *second);
}

Request row_of(const TextLine& line) {
  const std::vector<std::string> words = split(line.text, ',');
  const auto prompt = words.size() == 3 ? number_in(words[1]) : std::nullopt;
  const auto output = words.size() == 3 ? number_in(words[2]) : std::nullopt;
  const auto seconds = number_in(words[0]);
  const auto time = seconds ? ms_of_second * *seconds : time_of(words[0]);
  if (!time || !prompt || !output) {
    throw UsageError(
        fmt::format("{}: \"{}\"; expected a time, prompt tokens and output tokens, such as 12.5,320,80",
                    line.where, line.text.substr(0, 80)));
  }
  return {*time, tokens_in(*prompt, line.where), tokens_in(*output, line.where)};
}

}  // namespace

Trace read_trace(const std::string& file) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  Trace trace;
  if (const auto first = first_line_of(text);
      !first.empty() && (first.front() == '{' || first.front() == '[')) {
    std::string problem;
    for (const JsonDocument& document : json_documents(text, file, problem)) {
      const JsonPlace request = place(document);
      trace.push_back({request.at("timestamp").number(),
                       tokens_in(request.at("input_length").number(), document.where),
                       tokens_in(request.at("output_length").number(), document.where)});
    }
    if (!problem.empty()) throw UsageError(problem);
  } else {
    const std::vector<TextLine> lines = lines_of(text, file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool header = i == 0 && !lines[i].text.empty() &&
                          std::isalpha(static_cast<unsigned char>(lines[i].text.front())) != 0;
      if (!header) trace.push_back(row_of(lines[i]));
    }
  }
  if (trace.size() < 2)
    throw UsageError(fmt::format("{}: {} requests; expected two or more", file, trace.size()));
  std::stable_sort(trace.begin(), trace.end(),
                   [](const Request& a, const Request& b) { return a.arrival_ms < b.arrival_ms; });
  const double begin = trace.front().arrival_ms;
  for (Request& request : trace) request.arrival_ms -= begin;
  if (!(trace.back().arrival_ms > 0))
    throw UsageError(fmt::format("{}: all requests arrive at one time", file));
  return trace;
}

}  // namespace speclab
