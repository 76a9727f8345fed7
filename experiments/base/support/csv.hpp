// Writes comma-separated values, for spreadsheets and other programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace speclab {

/// One field. Floating-point numbers are written in the shortest form that is read back as the same double.
using CsvValue = std::variant<std::string, double, std::int64_t, std::uint64_t>;

std::string csv_line(const std::vector<CsvValue>& row);

/// Returns a header line and one line per row, quoted as RFC 4180 says, but with lines ended by "\n" alone.
/// Throws std::invalid_argument if a row is not as long as the header.
std::string csv(const std::vector<std::string>& columns, const std::vector<std::vector<CsvValue>>& rows);

/// Returns whole records with an apostrophe before each text that a spreadsheet would run: one that begins
/// with =, +, -, @, a tab or a carriage return and is not a number.
std::string csv_for_spreadsheets(std::string_view records);

}  // namespace speclab
