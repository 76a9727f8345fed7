#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "experiments/base/page/page_text.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

constexpr std::size_t gap_width = 2;
/// Text is broken into lines no shorter than this, so that it stays readable.
constexpr std::size_t shortest_line = 22;

struct ColumnLayout {
  std::size_t index = 0;
  std::size_t width = 0;
  std::size_t least = 0;  ///< width with all allowed line breaks
  bool numeric = false;
};

/// Returns the table with its texts escaped for terminals.
Table shown(Table table) {
  const auto show = [](std::string& text) { text = printable_line(text, std::string::npos); };
  table.caption = printable(table.caption, std::string::npos);
  table.note = printable(table.note, std::string::npos);
  for (std::string& column : table.columns) show(column);
  for (auto& row : table.rows) {
    for (Cell& cell : row) {
      cell.text = printed_text(cell);
      show(cell.text);
    }
  }
  return table;
}

/// Returns the least width at which a text of width `whole` takes no more than `lines` lines, or one more.
std::size_t shortest_of(std::size_t whole, std::size_t lines) {
  constexpr std::size_t slack = 4;  // room for the break between words
  return std::min(whole, std::max(shortest_line, whole / lines + slack));
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, text_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

ColumnLayout measured(const Table& table, std::size_t index, std::size_t lines = 2) {
  ColumnLayout column{index, text_width(table.columns[index]), longest_word(table.columns[index])};
  for (const auto& row : table.rows) column.numeric = column.numeric || row[index].sort_key.has_value();
  for (const auto& row : table.rows) {
    const std::string& text = row[index].text;
    const std::size_t whole = text_width(text);
    column.width = std::max(column.width, whole);
    column.least = std::max(column.least,
                            column.numeric ? whole : std::max(longest_word(text), shortest_of(whole, lines)));
  }
  return column;
}

bool says_the_same(const Table& table, std::size_t column) {
  return table.rows.size() > 1 && std::ranges::all_of(table.rows, [&](const auto& row) {
           return row[column].text == table.rows.front()[column].text;
         });
}

bool has_verdicts(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const auto& row) {
    return row[column].css_class == "good" || row[column].css_class == "bad";
  });
}

std::size_t total_of(const std::vector<ColumnLayout>& columns, std::size_t ColumnLayout::*width) {
  std::size_t sum = 0;
  for (const ColumnLayout& column : columns) sum += column.*width + gap_width;
  return sum - std::min(sum, gap_width);
}

/// Repeatedly narrows the widest breakable column a little, until all columns fit.
void break_lines(std::vector<ColumnLayout>& columns, std::size_t width) {
  while (total_of(columns, &ColumnLayout::width) > width) {
    ColumnLayout* widest = nullptr;
    for (ColumnLayout& column : columns) {
      if (column.width > column.least && (widest == nullptr || column.width > widest->width))
        widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

std::vector<ColumnLayout> layout(const Table& table, std::size_t width) {
  std::vector<ColumnLayout> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back(measured(table, i));
  if (width == 0) return columns;
  const std::size_t last = table.columns.size() - 1;
  const bool keep_last = !columns.empty() && has_verdicts(table, last);
  for (const bool alike : {true, false}) {
    // The first column, which names the row, is broken once more before another column is left out.
    if (!alike && total_of(columns, &ColumnLayout::least) > width) columns.front() = measured(table, 0, 3);
    for (std::size_t i = table.columns.size(); i-- > 1;) {
      const bool fits = alike ? total_of(columns, &ColumnLayout::width) <= width
                              : total_of(columns, &ColumnLayout::least) <= width;
      if (fits) break;
      if ((i == last && keep_last) || (alike && !says_the_same(table, i))) continue;
      std::erase_if(columns, [i](const ColumnLayout& column) { return column.index == i; });
    }
  }
  break_lines(columns, width);
  return columns;
}

std::vector<std::string> broken(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return {text};
  std::vector<std::string> lines(1);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string word(rest.substr(0, end));
    if (!lines.back().empty() && text_width(lines.back()) + 1 + text_width(word) > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

/// Prints a row on as many lines as its cells need, without trailing blanks; a header is aligned with its
/// last line.
template <class Text>
std::string printed_row(const std::vector<ColumnLayout>& columns, const Text& text, bool header) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const ColumnLayout& column : columns) {
    cells.push_back(broken(text(column.index), column.width));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string printed;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t above = header ? height - cells[i].size() : 0;
      const bool there = line >= above && line - above < cells[i].size();
      const std::string part = there ? cells[i][line - above] : std::string();
      const std::string padding(columns[i].width - std::min(columns[i].width, text_width(part)), ' ');
      if (i > 0) printed.append(gap_width, ' ');
      printed += columns[i].numeric ? padding + part : part + padding;
    }
    printed.erase(printed.find_last_not_of(' ') + 1);
    out += printed + '\n';
  }
  return out;
}

std::string left_out_line(const Table& table, const std::vector<ColumnLayout>& kept) {
  std::string names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (std::ranges::any_of(kept, [i](const ColumnLayout& column) { return column.index == i; })) continue;
    names += (names.empty() ? "" : ", ") + table.columns[i];
    if (!says_the_same(table, i)) continue;
    const std::string& value = table.rows.front()[i].text;
    names += value.empty() ? " (empty)" : fmt::format(" ({} in every row)", value);
  }
  if (names.empty()) return "";
  return fmt::format("Left out for want of width: {}. COLUMNS={} shows all.\n", names,
                     total_of(layout(table, 0), &ColumnLayout::width));
}

}  // namespace

void check_rows(const Table& table) {
  for (const auto& row : table.rows) {
    if (row.size() == table.columns.size()) continue;
    throw std::invalid_argument(fmt::format("table '{}': a row of {} cells under {} columns", table.id,
                                            row.size(), table.columns.size()));
  }
}

std::size_t output_width() {
  constexpr std::size_t of_a_pipe = 100;
  const char* const text = std::getenv("COLUMNS");
  const auto columns = integer_in(text != nullptr ? text : "");
  if (columns && *columns > 0) return static_cast<std::size_t>(*columns);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return of_a_pipe;
}

Listing& Listing::operator+=(std::string_view text) {
  if (parts.empty() || !std::holds_alternative<std::string>(parts.back())) parts.emplace_back(std::string());
  std::get<std::string>(parts.back()) += text;
  return *this;
}

Listing& Listing::operator+=(Table table) {
  parts.emplace_back(std::move(table));
  return *this;
}

Listing& Listing::operator+=(const Listing& more) {
  parts.insert(parts.end(), more.parts.begin(), more.parts.end());
  return *this;
}

std::string terminal(const Listing& listing) {
  std::string out;
  for (const auto& part : listing.parts) {
    const auto* const table = std::get_if<Table>(&part);
    if (table != nullptr && !out.empty() && !out.ends_with("\n\n")) out += '\n';
    out += table != nullptr ? terminal(*table) : printable(std::get<std::string>(part), std::string::npos);
  }
  return out;
}

std::string terminal(const Table& given, std::size_t width) {
  check_rows(given);
  const Table table = shown(given);
  const std::vector<ColumnLayout> columns = layout(table, width);
  std::string out;
  if (!table.caption.empty()) out += table.caption + '\n';
  out += printed_row(
      columns, [&](std::size_t i) { return table.columns[i]; }, true);
  std::string under;
  for (const ColumnLayout& column : columns)
    under += (under.empty() ? "" : std::string(gap_width, ' ')) + fmt::format("{:─<{}}", "", column.width);
  out += under + '\n';
  for (const auto& row : table.rows) {
    out += printed_row(
        columns, [&](std::size_t i) { return row[i].text; }, false);
  }
  out += left_out_line(table, columns);
  if (!table.note.empty()) out += table.note + '\n';
  return out;
}

}  // namespace speclab
