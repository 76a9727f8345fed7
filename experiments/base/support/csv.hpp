// Writes comma-separated values for spreadsheets and other programs, and reads those of users' files of
// numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace speclab {

/// Returns the text without blanks, tabs and carriage returns at either end.
std::string trimmed(std::string_view text);

/// Returns the words between separators, trimmed; a single empty word for an empty text. A word in quotation
/// marks is returned without them and may contain separators.
std::vector<std::string> split(std::string_view text, char separator);

/// Returns the whole text, trimmed, as a finite number; empty if it is not one.
std::optional<double> number_in(std::string_view text);

/// Returns the whole text as an integer; empty if it is not one.
std::optional<std::int64_t> integer_in(std::string_view text);

/// Warns on standard error, once for each file, if the last line of a table has no newline: if the file was
/// cut off, its last number may be, too.
void warn_of_open_end(std::string_view text, const std::string& file);

/// A line that is not empty.
struct TextLine {
  std::string where;  ///< "file:number"
  std::string text;   ///< trimmed
};

/// Returns the lines of a text that are not empty, numbered as in the file of this name. A byte order mark of
/// UTF-8 is left out, here and in `first_line_of`.
std::vector<TextLine> lines_of(std::string_view text, const std::string& file);

/// Returns the first line that is not blank, trimmed; empty if there is none.
std::string_view first_line_of(std::string_view text);

/// Returns the names of a table's header: at least two words between commas. No word may be a number or
/// contain blanks. Returns nothing for other lines.
std::vector<std::string> header_names(std::string_view line);

/// Returns the numbers of every line, which commas separate. With `columns`, each line has these and no
/// others, in the order of a header with these names, if there is one; they are returned in the order of
/// `columns`. Throws std::invalid_argument ("file:2: "x" is not a number") for other fields, and for an empty
/// one: a line that ends with a comma may have lost a number.
std::vector<std::vector<double>> read_numbers(std::string_view text, const std::string& file,
                                              const std::vector<std::string>& columns = {});

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
