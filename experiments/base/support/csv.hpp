// Comma-separated values, for spreadsheets and other programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace speclab {

/// One field. Floating-point numbers are written in the shortest form that reads back as the same double.
using CsvValue = std::variant<std::string, double, std::int64_t, std::uint64_t>;

/// One row, which is as long as the header.
std::string csv_line(const std::vector<CsvValue>& row);

/// A header line and one line per row, quoted as RFC 4180 says, but with lines ended by "\n" alone.
/// std::invalid_argument when a row's length is not the header's.
std::string csv(const std::vector<std::string>& columns, const std::vector<std::vector<CsvValue>>& rows);

/// Whole records with an apostrophe before each text that a spreadsheet would run: one that begins with =, +,
/// -, @, a tab or a carriage return and is no number.
std::string csv_for_spreadsheets(std::string_view records);

}  // namespace speclab
