// Tables as data, and their form for a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace speclab {

struct Cell {
  std::string text;
  std::optional<double> sort_key = {};  ///< set for numbers, which are aligned right and sorted by value
  std::string css_class = {};           ///< "good", "bad", "note", or none
  std::string section = {};             ///< id of a section of the page to which the text links
};

/// Returns the cell's text, or "–" for a number that is not finite if the text is C's word for it ("nan",
/// "-inf").
std::string printed_text(const Cell& cell);

struct Table {
  std::string id;
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};  ///< each has as many cells as `columns`
  std::string note = {};
  bool folded = false;  ///< closed at first; for long tables
};

/// Lines of text and tables in the order of a terminal's output, with an empty line before each table.
struct Listing {
  std::vector<std::variant<std::string, Table>> parts = {};

  Listing& operator+=(std::string_view text);
  Listing& operator+=(Table table);
  Listing& operator+=(const Listing& more);
};

/// Throws std::invalid_argument if a row is not as long as its header.
void check_rows(const Table& table);

/// Returns the width of standard output in columns: the variable COLUMNS if it is a number, else the
/// terminal's width, else (for a pipe or a file) 100.
std::size_t output_width();

/// Returns aligned text that ends with a line break, in at most `width` columns; 0: no limit. For a wider
/// table, columns with the same value in every row are replaced by a line below; then headers and text, but
/// not numbers, are broken between words; then columns are left out from the right, except the first and a
/// last column of verdicts. A line below the table names the columns left out and the width that shows the
/// whole table. Throws as `check_rows` does.
std::string terminal(const Table& table, std::size_t width = output_width());
std::string terminal(const Listing& listing);

}  // namespace speclab
