// A table by columns: found by name, and what kind of numbers they hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/plot/plot_table.hpp"

namespace speclab {

/// Rows and columns are given by number. Columns are those of a results.csv, or of anybody's table.
class ColumnView {
 public:
  explicit ColumnView(const PlotTable& table) : table_(table) {}

  const std::vector<std::string>& columns() const { return table_.columns; }
  /// By its whole name, by its last part, or by its symbol ("γ").
  std::optional<std::size_t> index(const std::string& name) const;
  /// The same, else UsageError with the names that there are.
  std::size_t known(const char* option, const std::string& name) const;

  const std::string& text(std::size_t row, std::size_t column) const { return table_.rows[row][column]; }
  double number(std::size_t row, std::size_t column) const;
  /// Only numbers and empty fields, and some number.
  bool numeric(const std::vector<std::size_t>& rows, std::size_t column) const;
  void require_numbers(const char* option, const std::vector<std::size_t>& rows, std::size_t column) const;
  /// Each once: numbers by size, words by appearance.
  std::vector<std::string> values(const std::vector<std::size_t>& rows, std::size_t column) const;
  /// Rows that all of these columns and values agree to; UsageError with the values that there are when none
  /// does.
  std::vector<std::size_t> rows_where(
      const std::vector<std::pair<std::string, std::string>>& conditions) const;

 private:
  const PlotTable& table_;
};

/// A column of values with those of its interval.
struct ValueColumn {
  std::size_t column;
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
  std::string role;  ///< "formula", "simulated", "printed"; empty for a column without
};

/// The columns of a value's name: itself, or what was computed, simulated and printed of it.
std::vector<ValueColumn> value_columns(const ColumnView& table, const std::string& name);
/// The value to draw when nobody says: a metric that experiments draw, else the last column of numbers.
std::string default_value(const ColumnView& table, const std::vector<std::size_t>& rows);
/// Columns that differ between rows and stand before the first value: what was set.
std::vector<std::size_t> set_columns(const ColumnView& table, const std::vector<std::size_t>& rows,
                                     const std::vector<ValueColumn>& values);
/// Do no two rows have the same values in all of these columns?
bool tells_apart(const ColumnView& table, const std::vector<std::size_t>& rows,
                 const std::vector<std::size_t>& columns);

/// All names, of a value's columns one: for messages.
std::string known_names(const ColumnView& table);
/// As on axes: "γ", "speedup".
std::string axis_name(const ColumnView& table, std::size_t column);
std::string value_label(const std::string& name);
std::string shown_value(const std::string& text);

/// Rows with the same values in some columns, and those values in words: "γ = 3, c = 0.05".
struct RowGroup {
  std::string name;
  std::vector<std::size_t> rows;
};
/// In the order of the values; all rows without columns.
std::vector<RowGroup> grouped_rows(const ColumnView& table, const std::vector<std::size_t>& rows,
                                   const std::vector<std::size_t>& columns);

}  // namespace speclab
