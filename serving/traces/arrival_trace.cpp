#include "serving/traces/arrival_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "experiments/recording/json_document.hpp"

namespace speclab {

namespace {

constexpr double ms_of_second = 1e3;
constexpr double max_tokens = 1U << 24U;

std::uint32_t tokens_in(double tokens, const std::string& where) {
  if (!(tokens >= 0 && tokens <= max_tokens) || tokens != std::floor(tokens))
    throw UsageError("{}: {} tokens; expected a whole number up to {}", where, tokens, max_tokens);
  return std::max(1U, static_cast<std::uint32_t>(tokens));
}

/// Returns true if `text` has a digit wherever `pattern` has a d, and the same character elsewhere.
bool matches(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char c, char expected) {
    return expected == 'd' ? c >= '0' && c <= '9' : c == expected;
  });
}

/// Returns a time such as "2023-11-16 18:17:03.9799600" in milliseconds. A T may replace the blank, and Z,
/// +02:00 or -07:00 at the end gives a zone.
std::optional<double> time_of(std::string text) {
  const auto digits = [&](std::size_t from, std::size_t size) {
    int value = 0;
    for (const char digit : text.substr(from, size)) value = 10 * value + (digit - '0');
    return value;
  };
  constexpr std::string_view minutes = "dddd-dd-dd dd:dd:";
  constexpr std::string_view zone = "dd:dd";
  if (text.size() <= minutes.size()) return std::nullopt;
  if (text[10] == 'T') text[10] = ' ';
  int ahead = 0;  // minutes ahead of UTC
  if (text.back() == 'Z') {
    text.pop_back();
  } else if (const std::size_t at = text.size() - zone.size();
             matches(text.substr(at), zone) && (text[at - 1] == '+' || text[at - 1] == '-')) {
    ahead = (text[at - 1] == '+' ? 1 : -1) * (60 * digits(at, 2) + digits(at + 3, 2));
    text.resize(at - 1);
  }
  if (!matches(text.substr(0, minutes.size()), minutes)) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(digits(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(digits(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(digits(8, 2)))};
  const int hour = digits(11, 2);
  const int minute = digits(14, 2);
  const auto second = number_in(text.substr(minutes.size()));
  if (!date.ok() || hour > 23 || minute > 59) return std::nullopt;
  if (!second || !(*second >= 0 && *second < 61)) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  return ms_of_second * (((days * 24 + hour) * 60 + minute - ahead) * 60 + *second);
}

Request request_of(const std::string& where, const std::vector<std::string>& fields) {
  const auto seconds = number_in(fields[0]);
  const auto time = seconds ? ms_of_second * *seconds : time_of(fields[0]);
  const auto prompt = number_in(fields[1]);
  const auto output = number_in(fields[2]);
  if (!time || !prompt || !output) {
    throw UsageError("{}: \"{}\"; expected a time, prompt tokens and output tokens, such as 12.5,320,80",
                     where, fmt::format("{}", fmt::join(fields, ",")).substr(0, 80));
  }
  return {*time, tokens_in(*prompt, where), tokens_in(*output, where)};
}

/// Returns a timestamp in milliseconds. Alibaba's traces, which have a chat_id, are in seconds, Mooncake's in
/// whole milliseconds.
double ms_in(const JsonPlace& request, const std::string& where) {
  const double time = request.at("timestamp").number();
  if (request.has("chat_id")) return ms_of_second * time;
  if (time == std::floor(time)) return time;
  throw UsageError(
      "{}: timestamp {}: traces of this form are in whole milliseconds; write seconds as CSV with the header seconds,prompt,output",
      where, time);
}

}  // namespace

Trace read_trace(const std::string& file) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  Trace trace;
  if (const auto first = first_line_of(text);
      !first.empty() && (first.front() == '{' || first.front() == '[')) {
    for (const JsonDocument& document : json_documents(text, file)) {
      const JsonPlace request = place(document);
      trace.push_back({ms_in(request, document.where),
                       tokens_in(request.at("input_length").number(), document.where),
                       tokens_in(request.at("output_length").number(), document.where)});
    }
  } else {
    try {
      each_row(text, file,
               {{"seconds", "TIMESTAMP"}, {"prompt", "ContextTokens"}, {"output", "GeneratedTokens"}},
               [&](const std::string& where, const std::vector<std::string>& fields) {
                 trace.push_back(request_of(where, fields));
               });
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  }
  if (trace.size() < 2) throw UsageError("{}: {} requests; expected two or more", file, trace.size());
  std::stable_sort(trace.begin(), trace.end(),
                   [](const Request& a, const Request& b) { return a.arrival_ms < b.arrival_ms; });
  const double begin = trace.front().arrival_ms;
  for (Request& request : trace) request.arrival_ms -= begin;
  if (!(trace.back().arrival_ms > 0)) throw UsageError("{}: all requests arrive at one time", file);
  return trace;
}

}  // namespace speclab
