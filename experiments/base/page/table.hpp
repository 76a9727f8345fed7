// Tables as plain data, and as a terminal shows them.
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
  std::optional<double> sort_key = {};  ///< set for numbers, which are then aligned right and sorted by value
  std::string css_class = {};           ///< "good", "bad", "note", or none
  std::string section = {};             ///< the id of a section of the page, to which the text leads
};

struct Table {
  std::string id;
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};  ///< each as long as `columns`
  std::string note = {};
  bool folded = false;  ///< closed at first: for long tables
};

/// Lines of text and tables, in the order in which a terminal shows them: an empty line before each table.
struct Listing {
  std::vector<std::variant<std::string, Table>> parts = {};

  Listing& operator+=(std::string_view text);
  Listing& operator+=(Table table);
  Listing& operator+=(const Listing& more);
};

/// std::invalid_argument when a row is not as long as its header.
void check_rows(const Table& table);

/// Columns of the standard output: of the variable COLUMNS where it is a number, else of the terminal, else
/// (a pipe or a file) 100.
std::size_t output_width();

/// Plain aligned text, ending with a line break, in at most `width` columns, 0 for any number. Where the
/// table is wider, columns that say the same in every row are left out first, and their value is named below;
/// then headers and text, but no numbers, are broken between words; then columns are left out from the right.
/// The first column stays, and so does a last one of verdicts. What was left out is named below the table
/// with the width that shows it whole. Throws as `check_rows`.
std::string terminal(const Table& table, std::size_t width = output_width());
std::string terminal(const Listing& listing);

}  // namespace speclab
