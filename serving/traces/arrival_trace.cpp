#include "serving/traces/arrival_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/text_files.hpp"
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

constexpr std::array unit_words{"s", "ms", "us", "ns"};
const char* word(TimeUnit unit) { return unit_words.at(static_cast<std::size_t>(unit)); }
double ms_of(TimeUnit unit) { return std::pow(ms_of_second, 1 - static_cast<int>(unit)); }

constexpr const char* unit_hint =
    "give --trace-unit s, ms, us or ns (the key trace_unit of the section serving)";

/// The name of a column, in small letters and digits alone, without its unit.
struct ColumnName {
  std::string stem;
  std::optional<TimeUnit> unit;
};

/// Reads names such as "Request tokens", arrival_ms and "time (s)".
ColumnName column_name(const std::string& text) {
  ColumnName name;
  std::string word;  // the last word
  for (const char c : text + " ") {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      word += static_cast<char>(std::tolower(letter));
    } else if (!word.empty()) {
      name.stem += word;
      static const std::map<std::string, TimeUnit> units{
          {"s", TimeUnit::s},   {"sec", TimeUnit::s}, {"seconds", TimeUnit::s},      {"ms", TimeUnit::ms},
          {"us", TimeUnit::us}, {"ns", TimeUnit::ns}, {"milliseconds", TimeUnit::ms}};
      const auto unit = units.find(word);
      name.unit = unit == units.end() ? std::nullopt : std::optional(unit->second);
      if (name.unit && name.stem.size() > word.size()) name.stem.resize(name.stem.size() - word.size());
      word.clear();
    }
  }
  return name;
}

/// The names that traces give to a request's time, prompt tokens and output tokens.
const std::array<std::vector<std::string_view>, 3> known_stems{
    {{"time", "timestamp", "ts", "arrival", "arrivaltime", "arrivaltimestamp", "arrivedat", "requesttime",
      "starttime", "starttimes", "seconds", "milliseconds", "created", "createdat"},
     {"prompt", "prompttokens", "promptlength", "promptlen", "promptsize", "input", "inputtokens",
      "inputtoks", "inputlength", "inputlen", "inputlens", "contexttokens", "requesttokens", "numinputtokens",
      "numprefilltokens"},
     {"output", "outputtokens", "outputtoks", "outputlength", "outputlen", "outputlens", "generatedtokens",
      "responsetokens", "completiontokens", "tokensize", "numoutputtokens", "numdecodetokens"}}};
constexpr std::array meanings{"the time of arrival", "the tokens of the prompt", "the tokens of the output"};
constexpr std::array usual{"arrival_s or arrival_ms", "prompt_tokens", "output_tokens"};

/// The places of a request's time, prompt and output among the names of a file.
struct TraceColumns {
  std::array<std::size_t, 3> at{0, 1, 2};
  std::optional<TimeUnit> unit = TimeUnit::s;
  std::optional<std::size_t> batch = {};  ///< the place of Splitwise's batch_size
  bool unit_named = false;                ///< whether the time's own name says its unit
};

std::vector<std::string> stems_of(const std::vector<std::string>& names) {
  std::vector<std::string> stems;
  for (const std::string& name : names) stems.push_back(column_name(name).stem);
  return stems;
}

/// Returns the unit of a published trace with these stems: of BurstGPT, Splitwise, Vidur, `vllm bench serve`,
/// answers of OpenAI's interface (created), Alibaba (chat_id) and Mooncake (hash_ids, but no chat_id).
std::optional<TimeUnit> published_unit(const std::vector<std::string>& stems) {
  const auto has = [&](std::initializer_list<std::string_view> all) {
    return std::ranges::all_of(
        all, [&](std::string_view one) { return std::ranges::find(stems, one) != stems.end(); });
  };
  if (has({"timestamp", "requesttokens"}) || has({"arrivaltimestamp", "tokensize"}) ||
      has({"arrivedat", "numprefilltokens"}) || has({"starttimes", "inputlens"}) ||
      has({"created", "prompttokens", "completiontokens"}) || has({"timestamp", "inputlength", "chatid"}))
    return TimeUnit::s;
  return has({"timestamp", "inputlength", "hashids"}) ? std::optional(TimeUnit::ms) : std::nullopt;
}

TraceColumns columns_of(const std::vector<std::string>& names, const std::string& where) {
  TraceColumns found;
  const std::vector<std::string> stems = stems_of(names);
  for (std::size_t part = 0; part < known_stems.size(); ++part) {
    const auto& known = known_stems.at(part);
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::ranges::find(known, stems[i]) == known.end()) continue;
      if (at)
        throw UsageError("{}: \"{}\" and \"{}\" both name {}; leave one out", where,
                         printable(names[*at], 80), printable(names[i], 80), meanings.at(part));
      at = i;
    }
    if (!at) {
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      throw UsageError("{}: none of \"{}\" is {}; call it {}{}", where, printable(all, 300),
                       meanings.at(part), usual.at(part),
                       names.size() > 1 ? "" : ", put commas between columns and points before decimals");
    }
    found.at.at(part) = *at;
  }
  found.unit = column_name(names[found.at[0]]).unit;
  found.unit_named = found.unit.has_value();
  if (!found.unit) found.unit = published_unit(stems);
  if (const auto at = std::ranges::find(stems, "batchsize"); at != stems.end())
    found.batch = static_cast<std::size_t>(at - stems.begin());
  return found;
}

/// Makes requests of a file's records, all in one unit.
class TraceReader {
 public:
  TraceReader(TraceColumns columns, std::optional<TimeUnit> given, const std::string& file)
      : columns_(columns), given_(given) {
    if (given && columns.unit && *given != *columns.unit)
      throw UsageError("{}: --trace-unit {}: the names of its columns say {}; leave it out", file,
                       word(*given), word(*columns.unit));
  }

  const TraceColumns& columns() const { return columns_; }

  /// Throws UsageError if a record's names are those of a trace in another unit than the records above it.
  void check_names(const std::vector<std::string>& names, const std::string& where) const {
    const auto unit = columns_.unit_named ? std::nullopt : published_unit(stems_of(names));
    const auto own = given_ ? given_ : columns_.unit;
    if (unit && own && *unit != *own)
      throw UsageError(
          "{}: these are the names of a trace in {}, below records in {}; put it into a file of its own",
          where, word(*unit), word(*own));
  }

  void add(const std::string& where, const std::string& time, const std::string& prompt,
           const std::string& output) {
    const auto number = number_in(time);
    const auto date = number ? std::nullopt : time_of(time);
    const auto prompts = number_in(prompt);
    const auto outputs = number_in(output);
    if ((!number && !date) || !prompts || !outputs) {
      throw UsageError("{}: \"{}\"; expected a time, prompt tokens and output tokens, such as 12.5,320,80",
                       where, printable(fmt::format("{},{},{}", time, prompt, output), 80));
    }
    if (date && given_)
      throw UsageError("{}: --trace-unit {}: times such as {} need no unit; leave it out", where,
                       word(*given_), time);
    const auto unit = given_ ? given_ : columns_.unit;
    if (number && !unit)
      throw UsageError("{}: {}: the unit of times is not known; {}", where, time, unit_hint);
    const double ms = date ? *date : ms_of(*unit) * *number;
    if (!std::isfinite(ms) || dated_.value_or(date.has_value()) != date.has_value())
      throw UsageError("{}: {}; expected a time like those above it", where, time);
    dated_ = date.has_value();
    trace_.push_back({ms, tokens_in(*prompts, where), tokens_in(*outputs, where)});
  }

  /// Returns the requests in the order of arrival, from time 0.
  Trace finished(const std::string& file) {
    if (trace_.size() < 2) throw UsageError("{}: {} requests; expected two or more", file, trace_.size());
    std::ranges::stable_sort(trace_, {}, &Request::arrival_ms);
    const double begin = trace_.front().arrival_ms;
    if (!*dated_) check_clock(file, begin, trace_.back().arrival_ms);
    for (Request& request : trace_) request.arrival_ms -= begin;
    if (!(trace_.back().arrival_ms > 0)) throw UsageError("{}: all requests arrive at one time", file);
    constexpr double max_rate = 1e4;
    constexpr double min_rate = 1e-3;
    const double rate = trace_rate(trace_);
    if ((rate > max_rate || (rate < min_rate && !*dated_)) && !given_) {
      throw UsageError("{}: {:.4g} requests arrive per second, if times are in {}; {}", file, rate,
                       columns_.unit ? word(*columns_.unit) : "this form", unit_hint);
    }
    return std::move(trace_);
  }

 private:
  /// Throws UsageError if times read in one unit, as ms, are times since 1970 in another one.
  void check_clock(const std::string& file, double begin, double end) const {
    constexpr double min_clock = 1e12;  // 2001, in ms
    constexpr double max_clock = 4e12;  // 2096
    const TimeUnit own = given_ ? *given_ : *columns_.unit;
    for (const TimeUnit unit : {TimeUnit::s, TimeUnit::ms, TimeUnit::us, TimeUnit::ns}) {
      const double ratio = ms_of(unit) / ms_of(own);
      if (unit == own || begin * ratio < min_clock || end * ratio > max_clock) continue;
      if (given_ && end <= max_clock) continue;
      throw UsageError(
          "{}: its times are in {} since 1970, but were taken for {}; call the column arrival_{} or, where no name says the unit, give --trace-unit {}",
          file, word(unit), word(own), word(unit), word(unit));
    }
  }

  TraceColumns columns_;
  std::optional<TimeUnit> given_;
  std::optional<bool> dated_;  ///< whether times are dates, as the first one is
  Trace trace_;
};

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

Trace read_json_trace(const std::string& text, const std::string& file, std::optional<TimeUnit> unit) {
  const std::vector<JsonDocument> documents = json_documents(text, file);
  if (documents.empty() || !documents.front().value.is_object())
    throw UsageError("{}: holds no objects", file);
  const std::vector<std::string> names = keys_of(documents.front().value);
  TraceReader reader(columns_of(names, documents.front().where), unit, file);
  const auto& at = reader.columns().at;
  const auto part = [&](const JsonPlace& request, std::size_t i) {
    return request.at(names[at.at(i)].c_str());
  };
  const auto text_of = [](const JsonPlace& value) {
    return value.value->is_string() ? value.text() : fmt::format("{}", value.number());
  };
  std::vector<std::string> above = names;
  for (const JsonDocument& document : documents) {
    const JsonPlace request = place(document);
    if (auto own = keys_of(document.value); own != above) {
      reader.check_names(own, document.where);
      above = std::move(own);
    }
    const JsonPlace time = part(request, 0);
    if (!time.value->is_array()) {
      reader.add(document.where, text_of(time), text_of(part(request, 1)), text_of(part(request, 2)));
      continue;
    }
    for (std::size_t i = 0; i < time.size(); ++i) {
      const auto element = [&](std::size_t j) {
        const JsonPlace list = part(request, j);
        if (list.size() != time.size())
          list.refuse(fmt::format("{} elements, as many as {}", time.size(), names[at[0]]));
        return text_of(list.at(i));
      };
      reader.add(time.at(i).where, text_of(time.at(i)), element(1), element(2));
    }
  }
  return reader.finished(file);
}

Trace read_csv_trace(const std::string& text, const std::string& file, std::optional<TimeUnit> unit) {
  const std::vector<TextLine> lines = lines_of(text, file);
  std::vector<std::string> names;
  if (!lines.empty()) names = split(lines.front().text, ',');
  const bool headed =
      std::ranges::none_of(names, [](const std::string& name) { return number_in(name).has_value(); });
  TraceReader reader(headed && !lines.empty() ? columns_of(names, lines.front().where)
                                              : TraceColumns{.unit = unit.value_or(TimeUnit::s)},
                     unit, file);
  const auto& [at, ignored, batch, named] = reader.columns();
  const std::size_t size = headed ? names.size() : at.size();
  for (std::size_t i = headed ? 1 : 0; i < lines.size(); ++i) {
    const auto& [where, line] = lines[i];
    const std::vector<std::string> fields = split(line, ',');
    if (fields.size() != size)
      throw UsageError(
          "{}: {} fields; expected {}", where, fields.size(),
          headed ? fmt::format("{}, as in the header", size) : "seconds,prompt,output, or a header");
    if (batch && number_in(fields[*batch]) != 1)
      throw UsageError("{}: batch_size {}; expected 1, a line for each request", where,
                       printable(fields[*batch], 80));
    reader.add(where, fields[at[0]], fields[at[1]], fields[at[2]]);
  }
  return reader.finished(file);
}

}  // namespace

Trace read_trace(const std::string& file, std::optional<TimeUnit> unit) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  if (const std::string problem = byte_order_mark_problem(text); !problem.empty())
    throw UsageError("{}: {}", file, problem);
  const auto first = first_line_of(text);
  const bool json = !first.empty() && (first.front() == '{' || first.front() == '[');
  return json ? read_json_trace(text, file, unit) : read_csv_trace(text, file, unit);
}

}  // namespace speclab
