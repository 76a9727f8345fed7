#include "experiments/plot/column_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/run/metric.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

/// "alpha" of "models_draft_alpha" and of "/models/draft/alpha": a setting without its section.
std::string last_part(const std::string& column) {
  const auto slash = column.rfind('/');
  if (slash != std::string::npos) return column.substr(slash + 1);
  for (const std::string_view section : {"models_target_", "models_draft_", "models_", "cost_", "simulation_",
                                         "sampling_", "corpus_", "rule_"}) {
    if (column.starts_with(section)) return column.substr(section.size());
  }
  return column;
}

/// "γ" for a column ".../gamma"; else its last part.
std::string column_symbol(const std::string& column) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const auto found = symbols.find(last_part(column));
  return found == symbols.end() ? last_part(column) : found->second;
}

/// Columns that say which row it is, and not what was set.
bool describes_row(const std::string& column) {
  static const std::set<std::string> names{"label", "case",  "verdict",    "version", "cell", "inputs",
                                           "seed",  "title", "experiment", "unit",    "units"};
  return names.contains(column) || column.find("sha256") != std::string::npos ||
         column.find("hash") != std::string::npos;
}

constexpr std::array<std::string_view, 3> roles = {"printed_", "formula_", "simulated_"};

std::string without_role(const std::string& column) {
  for (const std::string_view role : roles) {
    if (column.starts_with(role)) return column.substr(role.size());
  }
  return column;
}

ValueColumn value_column(const ColumnView& table, std::size_t column) {
  const std::string& name = table.columns()[column];
  ValueColumn value{column, {}, {}, ""};
  for (const std::string_view role : roles) {
    if (name.starts_with(role)) value.role = role.substr(0, role.size() - 1);
  }
  const auto exact = [&](const std::string& wanted) -> std::optional<std::size_t> {
    const auto found = std::find(table.columns().begin(), table.columns().end(), wanted);
    if (found == table.columns().end()) return std::nullopt;
    return static_cast<std::size_t>(found - table.columns().begin());
  };
  value.low = exact(name + "_low");
  value.high = exact(name + "_high");
  if (!value.low || !value.high) value.low = value.high = std::nullopt;
  return value;
}

bool is_bound(const ColumnView& table, const std::string& column) {
  for (const std::string_view end : {"_low", "_high"}) {
    if (!column.ends_with(end)) continue;
    const std::string base = column.substr(0, column.size() - end.size());
    if (std::find(table.columns().begin(), table.columns().end(), base) != table.columns().end()) return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> ColumnView::index(const std::string& name) const {
  const auto& all = table_.columns;
  const auto exact = std::find(all.begin(), all.end(), name);
  if (exact != all.end()) return static_cast<std::size_t>(exact - all.begin());
  std::vector<std::size_t> ending;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (last_part(all[i]) == name || column_symbol(all[i]) == name) ending.push_back(i);
  }
  return ending.size() == 1 ? std::optional(ending.front()) : std::nullopt;
}

std::size_t ColumnView::known(const char* option, const std::string& name) const {
  if (const auto found = index(name)) return *found;
  throw UsageError(fmt::format("{} {}: no such column; there are {}", option, name, known_names(*this)));
}

double ColumnView::number(std::size_t row, std::size_t column) const {
  return number_in(text(row, column)).value_or(std::nan(""));
}

bool ColumnView::numeric(const std::vector<std::size_t>& rows, std::size_t column) const {
  bool any = false;
  for (const std::size_t row : rows) {
    if (text(row, column).empty()) continue;
    if (!number_in(text(row, column))) return false;
    any = true;
  }
  return any;
}

void ColumnView::require_numbers(const char* option, const std::vector<std::size_t>& rows,
                                 std::size_t column) const {
  if (numeric(rows, column)) return;
  for (const std::size_t row : rows) {
    if (text(row, column).empty() || number_in(text(row, column))) continue;
    throw UsageError(
        fmt::format("{} {}: \"{}\" is not a number", option, columns()[column], text(row, column)));
  }
  throw UsageError(fmt::format("{} {}: no numbers in these rows", option, columns()[column]));
}

std::vector<std::string> ColumnView::values(const std::vector<std::size_t>& rows, std::size_t column) const {
  std::vector<std::string> all;
  std::unordered_set<std::string_view> seen;
  StopCounter now_and_then(1 << 12);
  for (const std::size_t row : rows) {
    now_and_then.step();
    if (seen.insert(text(row, column)).second) all.push_back(text(row, column));
  }
  if (numeric(rows, column)) {
    std::stable_sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
      const double lowest = -std::numeric_limits<double>::infinity();
      return number_in(a).value_or(lowest) < number_in(b).value_or(lowest);
    });
  }
  return all;
}

std::vector<std::size_t> ColumnView::rows_where(
    const std::vector<std::pair<std::string, std::string>>& conditions) const {
  std::vector<std::size_t> rows(table_.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  for (const auto& [name, value] : conditions) {
    const std::size_t column = known("--where", name);
    const auto wanted = number_in(value);
    const std::vector<std::string> there = values(rows, column);
    std::erase_if(rows, [&](std::size_t row) {
      const auto have = number_in(text(row, column));
      if (wanted && have) return std::abs(*have - *wanted) > 1e-9 * std::max(std::abs(*wanted), 1e-300);
      return text(row, column) != value;
    });
    if (!rows.empty()) continue;
    constexpr std::size_t most_named = 20;
    std::vector<std::string> named(
        there.begin(), there.begin() + static_cast<std::ptrdiff_t>(std::min(there.size(), most_named)));
    throw UsageError(fmt::format("--where {}={}: no row has it; there are {}{}", name, value,
                                 fmt::join(named, ", "), there.size() > most_named ? ", ..." : ""));
  }
  return rows;
}

std::vector<ValueColumn> value_columns(const ColumnView& table, const std::string& name) {
  const auto exact = std::find(table.columns().begin(), table.columns().end(), name);
  if (exact != table.columns().end())
    return {value_column(table, static_cast<std::size_t>(exact - table.columns().begin()))};
  std::vector<ValueColumn> all;
  for (const char* role : {"formula_", "simulated_", "printed_"}) {
    const auto found = std::find(table.columns().begin(), table.columns().end(), role + name);
    if (found != table.columns().end())
      all.push_back(value_column(table, static_cast<std::size_t>(found - table.columns().begin())));
  }
  if (!all.empty()) return all;
  return {value_column(table, table.known("--y", name))};
}

std::string default_value(const ColumnView& table, const std::vector<std::size_t>& rows) {
  for (const char* name :
       {"speedup", "best_speedup", "tokens_per_target_step", "first_token_acceptance", "alpha_overlap"}) {
    for (const std::string_view role : {"", "simulated_", "formula_"}) {
      const auto found = std::find(table.columns().begin(), table.columns().end(), std::string(role) + name);
      if (found != table.columns().end() &&
          table.numeric(rows, static_cast<std::size_t>(found - table.columns().begin())))
        return role.empty() ? *found : name;
    }
  }
  for (const char* role : {"simulated_", "formula_"}) {
    for (const std::string& column : table.columns()) {
      if (column.starts_with(role) && !is_bound(table, column)) return without_role(column);
    }
  }
  for (std::size_t i = table.columns().size(); i-- > 0;) {
    if (!is_bound(table, table.columns()[i]) && table.numeric(rows, i)) return table.columns()[i];
  }
  throw UsageError(fmt::format("--y: no column of numbers; there are {}", known_names(table)));
}

std::string known_names(const ColumnView& table) {
  std::vector<std::string> names;
  for (const std::string& column : table.columns()) {
    const std::string name = without_role(column);
    if (!is_bound(table, column) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::size_t> set_columns(const ColumnView& table, const std::vector<std::size_t>& rows,
                                     const std::vector<ValueColumn>& values) {
  const auto& columns = table.columns();
  std::size_t first_value = columns.size();
  for (const ValueColumn& value : values) first_value = std::min(first_value, value.column);
  for (std::size_t i = 0; i < first_value; ++i) {
    const std::string& name = columns[i];
    const bool bounded = std::find(columns.begin(), columns.end(), name + "_low") != columns.end();
    if (without_role(name) != name || metric_named(name) || bounded) first_value = i;
  }
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < first_value; ++i) {
    if (!describes_row(columns[i]) && table.values(rows, i).size() > 1) axes.push_back(i);
  }
  return axes;
}

bool tells_apart(const ColumnView& table, const std::vector<std::size_t>& rows,
                 const std::vector<std::size_t>& columns) {
  std::set<std::vector<std::string>> seen;
  for (const std::size_t row : rows) {
    std::vector<std::string> key;
    for (const std::size_t column : columns) key.push_back(table.text(row, column));
    if (!seen.insert(std::move(key)).second) return false;
  }
  return true;
}

std::string axis_name(const ColumnView& table, std::size_t column) {
  return column_symbol(table.columns()[column]);
}

std::string value_label(const std::string& name) {
  if (const auto metric = metric_named(without_role(name))) return metric_label(*metric);
  return last_part(name);
}

std::string shown_value(const std::string& text) {
  const auto number = number_in(text);
  return number ? number_text(*number) : text.empty() ? "none" : text;
}

std::vector<RowGroup> grouped_rows(const ColumnView& table, const std::vector<std::size_t>& rows,
                                   const std::vector<std::size_t>& columns) {
  if (columns.empty()) return {{"", rows}};
  std::vector<RowGroup> groups{{"", rows}};
  for (const std::size_t column : columns) {
    std::vector<RowGroup> finer;
    for (const RowGroup& group : groups) {
      for (const std::string& value : table.values(group.rows, column)) {
        RowGroup one;
        const bool numeric = number_in(value).has_value();
        const std::string words = numeric || value.empty()
                                      ? fmt::format("{} = {}", axis_name(table, column), shown_value(value))
                                      : value;
        one.name = group.name.empty() ? words : group.name + ", " + words;
        for (const std::size_t row : group.rows) {
          if (table.text(row, column) == value) one.rows.push_back(row);
        }
        finer.push_back(std::move(one));
      }
    }
    groups = std::move(finer);
  }
  return groups;
}

}  // namespace speclab
