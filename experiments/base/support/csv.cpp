#include "experiments/base/support/csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <system_error>
#include <type_traits>

namespace speclab {
namespace {

std::string quoted(const std::string& text) {
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
          return quoted(held);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

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
      if (!whole.empty() && run.find(whole.front()) != std::string_view::npos && !is_number(whole))
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
