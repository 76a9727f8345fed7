#include "experiments/base/support/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "core/distribution/number.hpp"
#include "core/stop.hpp"
#include "experiments/base/support/text_files.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

void refuse_utf16(std::string_view text, const std::string& file) {
  if (const std::string problem = byte_order_mark_problem(text); !problem.empty())
    throw std::invalid_argument(fmt::format("{}: {}", file, problem));
}

std::string known_columns_of(const std::vector<ColumnNames>& columns) {
  std::string known;
  for (const ColumnNames& names : columns)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", fmt::join(names, " or "));
  return fmt::format(
      "expected the columns {}, in any order below a header with these names, or in this order without a header",
      known);
}

std::vector<std::size_t> places_in(const std::vector<std::string>& header,
                                   const std::vector<ColumnNames>& columns, const std::string& where) {
  std::vector<std::size_t> places(columns.size(), header.size());
  const auto refuse = [&](std::string_view name, const char* problem) {
    throw std::invalid_argument(fmt::format("{}: column \"{}\" {}; {}", where, name.substr(0, 80), problem,
                                            known_columns_of(columns)));
  };
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const ColumnNames& names) {
      return std::find(names.begin(), names.end(), header[i]) != names.end();
    });
    if (column == columns.end()) refuse(header[i], "is not known");
    std::size_t& place = places[static_cast<std::size_t>(column - columns.begin())];
    if (place != header.size()) refuse(header[i], "occurs twice");
    place = i;
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (places[j] == header.size()) refuse(columns[j].front(), "is missing");
  }
  return places;
}

std::string quoted_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"') out += '"';
    out += letter;
  }
  return out + '"';
}

std::string field(const CsvValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return quoted_text(held);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

}  // namespace

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (;;) {
    std::size_t end = text.find(separator);
    std::string word = trimmed(text.substr(0, end));
    // Within quotation marks, a separator is part of the word.
    if (word.starts_with('"')) {
      const std::size_t begin = text.find('"') + 1;
      const std::size_t close = std::min(text.find('"', begin), text.size());
      const std::size_t after = text.find(separator, close);
      if (close < text.size() && trimmed(text.substr(close + 1, after - close - 1)).empty()) {
        word = trimmed(text.substr(begin, close - begin));
        end = after;
      }
    }
    words.push_back(std::move(word));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view text) {
  const auto value = parsed<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view text) { return parsed<std::int64_t>(text); }

std::vector<TextLine> lines_of(std::string_view text, const std::string& file) {
  std::vector<TextLine> lines;
  StopCounter stop(1000);
  text = without_byte_order_mark(text);
  for (int number = 1; !text.empty(); ++number) {
    stop.step();
    if (std::string line = trimmed(take_line(text)); !line.empty())
      lines.push_back({fmt::format("{}:{}", file, number), std::move(line)});
  }
  return lines;
}

std::string_view first_line_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  text = without_byte_order_mark(text);
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string> header_names(std::string_view line) {
  std::vector<std::string> names = split(line, ',');
  const auto is_name = [](const std::string& word) {
    return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0 && !number_in(word) &&
           std::all_of(word.begin(), word.end(), [](unsigned char letter) {
             return std::isalnum(letter) != 0 || letter == '_' || letter == '.' || letter == '-';
           });
  };
  if (names.size() < 2 || !std::all_of(names.begin(), names.end(), is_name)) names.clear();
  return names;
}

std::vector<NumberRow> read_numbers(std::string_view text, const std::string& file) {
  refuse_utf16(text, file);
  std::vector<NumberRow> rows;
  StopCounter stop(1000);
  for (const TextLine& line : lines_of(text, file)) {
    stop.step();
    NumberRow row{line.where, {}};
    for (const std::string& word : split(line.text, ',')) {
      const auto value = number_in(word);
      if (!value) throw std::invalid_argument(fmt::format("{}: \"{}\" is not a number", line.where, word));
      row.numbers.push_back(*value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void each_row(std::string_view text, const std::string& file, const std::vector<ColumnNames>& columns,
              const VisitRow& visit) {
  refuse_utf16(text, file);
  const std::vector<TextLine> lines = lines_of(text, file);
  std::vector<std::size_t> places(columns.size());
  std::iota(places.begin(), places.end(), 0);
  const std::vector<std::string> first = split(lines.empty() ? "" : lines.front().text, ',');
  const bool headed = !lines.empty() && std::none_of(first.begin(), first.end(), [](const std::string& word) {
    return number_in(word).has_value();
  });
  if (headed) places = places_in(first, columns, lines.front().where);
  std::vector<std::string> fields(columns.size());
  StopCounter stop(1000);
  for (std::size_t i = headed ? 1 : 0; i < lines.size(); ++i) {
    stop.step();
    std::vector<std::string> words = split(lines[i].text, ',');
    if (words.size() != columns.size()) {
      throw std::invalid_argument(
          fmt::format("{}: {} fields; {}", lines[i].where, words.size(), known_columns_of(columns)));
    }
    for (std::size_t j = 0; j < fields.size(); ++j) fields[j] = std::move(words[places[j]]);
    visit(lines[i].where, fields);
  }
}

std::string csv_for_spreadsheets(std::string_view records) {
  std::string out;
  bool quoted_now = false;
  bool begins = true;
  for (std::size_t at = 0; at < records.size(); ++at) {
    if (begins) {
      const bool opens = records[at] == '"';
      const std::string_view rest = records.substr(at + (opens ? 1 : 0));
      const std::string_view whole = rest.substr(0, rest.find_first_of(opens ? "\"" : ",\n"));
      if (opens) {
        out += '"';
        ++at;
        quoted_now = true;
      }
      constexpr std::string_view run = "=+-@\t\r";
      if (!whole.empty() && run.find(whole.front()) != std::string_view::npos && !parsed<double>(whole))
        out += '\'';
      begins = false;
      if (at >= records.size()) break;
    }
    const char letter = records[at];
    out += letter;
    if (letter == '"') quoted_now = !quoted_now;
    begins = !quoted_now && (letter == ',' || letter == '\n');
  }
  return out;
}

std::string csv_line(const std::vector<CsvValue>& row) {
  std::string out;
  for (const CsvValue& value : row) out += field(value) + ',';
  if (!out.empty()) out.pop_back();
  return out + '\n';
}

std::string csv(const std::vector<std::string>& columns, const std::vector<std::vector<CsvValue>>& rows) {
  std::string out = csv_line(std::vector<CsvValue>(columns.begin(), columns.end()));
  for (const auto& row : rows) {
    if (row.size() != columns.size()) {
      throw std::invalid_argument(
          fmt::format("csv: a row of {} fields under {} columns", row.size(), columns.size()));
    }
    out += csv_line(row);
  }
  return out;
}

}  // namespace speclab
