#include "experiments/base/support/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>

#include "core/distribution/number.hpp"
#include "core/stop.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/text_files.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

std::string field(const CsvValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
  if (text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  return '"' + boost::algorithm::replace_all_copy(*text, "\"", "\"\"") + '"';
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

void warn_of_open_end(std::string_view text, const std::string& file) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::scoped_lock lock(mutex);
  if (text.empty() || text.ends_with('\n') || text.ends_with('\r') || !warned.insert(file).second) return;
  print_error(fmt::format(
      "warning: {}:{}: no newline after this line; if the file was cut off, its last number is wrong",
      printable_line(file), 1 + std::ranges::count(text, '\n')));
}

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

std::vector<std::vector<double>> read_numbers(std::string_view text, const std::string& file,
                                              const std::vector<std::string>& columns) {
  if (const std::string problem = byte_order_mark_problem(text); !problem.empty())
    throw std::invalid_argument(fmt::format("{}: {}", file, problem));
  warn_of_open_end(text, file);
  std::vector<std::size_t> places;  // of the columns in the header
  std::vector<std::vector<double>> rows;
  StopCounter stop(1000);
  const std::vector<TextLine> lines = lines_of(text, file);
  for (const TextLine& line : lines) {
    stop.step();
    const auto refuse = [&](const std::string& problem) {
      throw std::invalid_argument(fmt::format("{}: {}", line.where, problem));
    };
    const std::vector<std::string> words = split(line.text, ',');
    if (!columns.empty() && &line == lines.data() && !header_names(line.text).empty()) {
      if (!std::is_permutation(words.begin(), words.end(), columns.begin(), columns.end()))
        refuse(fmt::format("columns {}; expected {}, in any order", line.text.substr(0, 80),
                           fmt::join(columns, ", ")));
      for (const std::string& column : columns)
        places.push_back(static_cast<std::size_t>(std::ranges::find(words, column) - words.begin()));
      continue;
    }
    if (!columns.empty() && words.size() != columns.size())
      refuse(fmt::format("{} numbers; expected {}", words.size(), fmt::join(columns, ", ")));
    std::vector<double>& row = rows.emplace_back();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[places.empty() ? i : places[i]];
      const auto value = number_in(word);
      if (!value) refuse(fmt::format("\"{}\" is not a number", word));
      row.push_back(*value);
    }
  }
  return rows;
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
