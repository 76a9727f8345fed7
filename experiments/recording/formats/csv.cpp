// Reads CSV: header sequence,position,token,logp,logq[,logq_depth2,...][,entropy][,task] in any order; for
// several drafters logq.NAME[,logq.NAME,...] instead of logq.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/columns.hpp"
#include "experiments/recording/recording_format.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

constexpr int none = -1;
constexpr std::size_t shown = 40;

/// The fields of a line, without their quotes. "" within quotes stays as written, since no field that is read
/// contains one.
class Fields {
 public:
  void split(std::string_view line) {
    fields_.clear();
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (;;) {
      std::size_t end = 0;
      if (line.starts_with('"')) {
        end = 1;
        while (end < line.size() && (line[end] != '"' || line.substr(end + 1).starts_with('"')))
          end += line[end] == '"' ? 2 : 1;
        fields_.push_back(line.substr(1, std::min(end, line.size()) - 1));
        end = std::min(line.find(',', end), line.size());
      } else {
        end = std::min(line.find(','), line.size());
        fields_.push_back(line.substr(0, end));
      }
      if (end >= line.size()) return;
      line.remove_prefix(end + 1);
    }
  }
  std::size_t size() const { return fields_.size(); }
  std::string_view operator[](int column) const { return fields_[static_cast<std::size_t>(column)]; }

 private:
  std::vector<std::string_view> fields_;
};

std::string_view without_blanks(std::string_view word) {
  while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.remove_suffix(1);
  return word;
}

/// Returns NaN, which no column may hold, if the word is not a number.
double number_of(std::string_view word) {
  word = without_blanks(word);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  constexpr double most = std::numeric_limits<double>::max();
  if (error == std::errc::result_out_of_range)
    return std::clamp(std::strtod(std::string(word).c_str(), nullptr), -most, most);
  if (error != std::errc{} || end != word.data() + word.size())
    return std::numeric_limits<double>::quiet_NaN();
  return value;
}

struct Columns {
  int sequence = none, position = none, token = none, logp = none, entropy = none, task = none;
  std::vector<int> logq;
  std::size_t count = 0;
};

struct KnownColumn {
  std::string_view name;
  int Columns::*column;
  bool needed;
};
constexpr KnownColumn known_columns[] = {
    {"sequence", &Columns::sequence, true}, {"position", &Columns::position, true},
    {"token", &Columns::token, true},       {"logp", &Columns::logp, true},
    {"entropy", &Columns::entropy, false},  {"task", &Columns::task, false}};

constexpr std::string_view drafter_prefix = "logq.";

/// Returns NAME of "logq.NAME"; empty for other names.
std::string_view drafter_of(std::string_view column) {
  return column.starts_with(drafter_prefix) ? column.substr(drafter_prefix.size()) : std::string_view();
}

/// Returns the column of the drafter that the source names. Throws UsageError, with the existing drafters, if
/// there is no such drafter, or if the source names none of several.
int drafter_column(const std::vector<std::pair<std::string, int>>& drafters, const RecordingSource& source,
                   const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [name, column] : drafters) {
    if (name == source.column()) return column;
    names.push_back(name);
  }
  if (source.column().empty()) {
    throw UsageError(
        "{}: columns of {} drafters, {}; name one: --column {}, or in a config \"column\": \"{}\" of the draft",
        where, names.size(), fmt::join(names, ", "), names.front(), names.front());
  }
  throw UsageError("{}: no column \"{}{}\"; the drafters are {}{}", where, drafter_prefix,
                   printable(source.column(), shown), fmt::join(names, ", "),
                   suggestion(source.column(), names));
}

/// Returns the columns of a header. Throws UsageError for unknown and for missing names.
Columns columns_of(std::string_view header, const RecordingSource& source, const std::string& where) {
  Columns columns;
  Fields names;
  names.split(header);
  columns.count = names.size();
  std::vector<std::pair<std::size_t, int>> depths;
  std::vector<std::pair<std::string, int>> drafters;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    const std::string_view name = without_blanks(names[i]);
    const auto* const known = std::find_if(std::begin(known_columns), std::end(known_columns),
                                           [name](const KnownColumn& one) { return one.name == name; });
    const std::string drafter(drafter_of(name));
    bool is_known = true;
    bool twice = false;
    if (known != std::end(known_columns)) {
      twice = columns.*known->column != none;
      columns.*known->column = i;
    } else if (const auto depth = depth_of(name)) {
      depths.emplace_back(*depth, i);
    } else if (!drafter.empty()) {
      twice = std::any_of(drafters.begin(), drafters.end(),
                          [&drafter](const auto& other) { return other.first == drafter; });
      drafters.emplace_back(drafter, i);
    } else {
      is_known = false;
    }
    if (twice || !is_known) {
      throw UsageError(
          "{}: column \"{}\" {}; expected sequence,position,token,logp,logq and optionally logq_depth2, ..., entropy, task, or logq.NAME of several drafters",
          where, printable(name, shown), is_known ? "occurs twice" : "is not known");
    }
  }
  std::sort(depths.begin(), depths.end());
  for (const auto& [depth, column] : depths) {
    if (depth != columns.logq.size()) {
      throw UsageError(
          "{}: the columns logq, logq_depth2, logq_depth3, ... must be there without gaps, each once", where);
    }
    columns.logq.push_back(column);
  }
  if (!drafters.empty()) {
    if (!columns.logq.empty()) {
      throw UsageError("{}: columns logq and logq.{}; with several drafters each has a name", where,
                       drafters.front().first);
    }
    columns.logq.push_back(drafter_column(drafters, source, where));
  } else if (!source.column().empty()) {
    throw UsageError("{}: one draft, logq, and no column \"{}{}\"; leave the column out", where,
                     drafter_prefix, printable(source.column(), shown));
  }
  const auto require = [&where](bool there, std::string_view name) {
    if (!there) throw UsageError("{}: no column \"{}\" in the header", where, name);
  };
  for (const auto& [name, column, needed] : known_columns) require(!needed || columns.*column != none, name);
  require(!columns.logq.empty(), "logq");
  return columns;
}

std::vector<std::string> drafters_of_csv(const RecordingSource& source) {
  Fields fields;
  fields.split(source.first_line());
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(fields.size()); ++i) {
    const std::string_view name = drafter_of(without_blanks(fields[i]));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::string not_csv(const RecordingSource& source) {
  const std::string_view line = source.first_line();
  const auto has = [line](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (line.front() != '{' && line.front() != '[' && has("sequence") && has("logp")) return "";
  return "its first line is no header such as sequence,position,token,logp,logq";
}

RecordingPart read_csv(const RecordingSource& source) {
  std::string_view text = source.bytes();
  std::size_t line_number = 0;
  const auto next_line = [&] {
    ++line_number;
    return take_line(text);
  };
  const auto where = [&] { return fmt::format("{}:{}", source.name(), line_number); };
  std::string_view header = next_line();
  while (without_blanks(header).find_first_not_of('\r') == std::string_view::npos) header = next_line();
  const Columns columns = columns_of(header, source, where());
  RecordingBuilder builder(columns.logq.size(), columns.entropy != none);
  TokenRecord record;
  record.logq.resize(columns.logq.size());
  Fields fields;
  const auto number = [&](int column, const char* name) {
    const double value = number_of(fields[column]);
    if (!std::isnan(value)) return value;
    throw UsageError("{}: {} is \"{}\"; expected a number", where(), name, printable(fields[column], shown));
  };
  while (!text.empty()) {
    const std::string_view line = next_line();
    if (line.empty() || line == "\r") continue;
    fields.split(line);
    if (fields.size() != columns.count) {
      throw UsageError("{}: {} fields; the header has {}", where(), fields.size(), columns.count);
    }
    record.sequence = without_blanks(fields[columns.sequence]);
    const std::string_view word = without_blanks(fields[columns.position]);
    const auto position = integer_in(word);
    if (!position) {
      throw UsageError("{}: position is \"{}\"; expected an integer", where(), printable(word, shown));
    }
    record.position = *position;
    record.logp = number(columns.logp, "logp");
    for (std::size_t depth = 0; depth < columns.logq.size(); ++depth)
      record.logq[depth] = number(columns.logq[depth], "logq");
    if (columns.entropy != none) record.entropy = number(columns.entropy, "entropy");
    if (columns.task != none) record.task = without_blanks(fields[columns.task]);
    builder.add(record, where);
  }
  warn_of_open_end(source.bytes(), source.name());
  return std::move(builder).take(source.name());
}

}  // namespace

RecordingFormat csv_format() {
  return {
      "csv",
      "speclab's own: the header sequence,position,token,logp,logq[,logq_depth2,...], natural logarithms.",
      not_csv, read_csv, drafters_of_csv};
}

}  // namespace speclab
