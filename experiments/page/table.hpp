// Tables as plain data, and as a terminal shows them.
#pragma once

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

/// Plain aligned text, ending with a line break. std::invalid_argument when a row is not as long as its
/// header.
std::string terminal(const Table& table);
std::string terminal(const Listing& listing);

}  // namespace speclab
