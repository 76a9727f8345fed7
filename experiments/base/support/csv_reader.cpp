#include "experiments/base/support/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "core/stop.hpp"
#include "experiments/base/support/text_files.hpp"

namespace speclab {

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t end = text.find(separator);
    words.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view text) {
  const std::string word = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<TextLine> lines_of(std::string_view text, const std::string& file) {
  std::vector<TextLine> lines;
  StopCounter stop(1000);
  for (int number = 1; !text.empty(); ++number) {
    stop.step();
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::string line = trimmed(text.substr(0, end)); !line.empty()) {
      lines.push_back({fmt::format("{}:{}", file, number), std::move(line)});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view first_line_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
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

std::vector<NumberRow> read_numbers(std::string_view text, const std::string& file, bool header_allowed) {
  // With a byte order mark the first field would not be a number, and the first row would be taken for a
  // header.
  if (const std::string problem = byte_order_mark_problem(text); !problem.empty())
    throw std::invalid_argument(fmt::format("{}: {}", file, problem));
  std::vector<NumberRow> rows;
  StopCounter stop(1000);
  for (const TextLine& line : lines_of(text, file)) {
    stop.step();
    const std::vector<std::string> words = split(line.text, ',');
    const bool has_numbers = std::any_of(words.begin(), words.end(),
                                         [](const std::string& word) { return number_in(word).has_value(); });
    if (header_allowed && rows.empty() && !has_numbers) {
      header_allowed = false;
      continue;
    }
    NumberRow row{line.where, {}};
    for (const std::string& word : words) {
      const auto value = number_in(word);
      if (!value) throw std::invalid_argument(fmt::format("{}: \"{}\" is not a number", line.where, word));
      row.numbers.push_back(*value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace speclab
