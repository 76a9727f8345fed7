// Reading comma-separated values: one way for every file of numbers that users give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// Without blanks, tabs and carriage returns at either end.
std::string trimmed(std::string_view text);

/// The words between separators, trimmed; a single empty word of an empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// The whole text, trimmed, as a finite number; empty when it is not one.
std::optional<double> number_in(std::string_view text);

/// The whole text as an integer; empty when it is not one.
std::optional<std::int64_t> integer_in(std::string_view text);

/// A line that is not empty.
struct TextLine {
  std::string where;  ///< "file:number"
  std::string text;   ///< trimmed
};

/// The lines of a text that are not empty, numbered as they stand in the file of this name.
std::vector<TextLine> lines_of(std::string_view text, const std::string& file);

/// The first line that is not blank, trimmed; empty without one.
std::string_view first_line_of(std::string_view text);

/// The names of a table's header: two words or more between commas, none of them a number or with blanks.
/// Empty for other lines.
std::vector<std::string> header_names(std::string_view line);

/// A row of numbers.
struct NumberRow {
  std::string where;
  std::vector<double> numbers;
};

/// Every line as numbers between commas. A first line in which no field is a number may be a header and is
/// left out when `header_allowed`. Throws std::invalid_argument ("file:2: "x" is not a number") for other
/// fields, and for an empty one: after a comma at the end a number may be lost.
std::vector<NumberRow> read_numbers(std::string_view text, const std::string& file, bool header_allowed);

}  // namespace speclab
