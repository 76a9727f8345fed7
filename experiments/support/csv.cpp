#include "experiments/support/csv.hpp"

#include <fmt/format.h>

#include <stdexcept>
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

template <class Values>
void append_line(std::string& out, const Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    out += field(values[i]);
  }
  out += '\n';
}

}  // namespace

std::string csv_line(const std::vector<CsvValue>& row) {
  std::string out;
  append_line(out, row);
  return out;
}

std::string csv(const std::vector<std::string>& columns, const std::vector<std::vector<CsvValue>>& rows) {
  std::string out;
  append_line(out, columns);
  for (const auto& row : rows) {
    if (row.size() != columns.size()) {
      throw std::invalid_argument(
          fmt::format("csv: a row of {} fields under {} columns", row.size(), columns.size()));
    }
    append_line(out, row);
  }
  return out;
}

}  // namespace speclab
