#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "experiments/report/page.hpp"
#include "experiments/report/text_width.hpp"

namespace speclab {
namespace {

struct Marks {
  std::string_view before;
  std::string_view after;
};

// In the order of SpanKind.
constexpr std::array<Marks, 6> span_colours = {{{"", ""},
                                                {"\x1b[2m", "\x1b[0m"},
                                                {"\x1b[32m", "\x1b[0m"},
                                                {"\x1b[31;9m", "\x1b[0m"},
                                                {"\x1b[34m", "\x1b[0m"},
                                                {"\x1b[36m", "\x1b[0m"}}};
constexpr std::array<Marks, 6> span_brackets = {
    {{"", ""}, {"", ""}, {"", ""}, {"[-", "-]"}, {"{+", "+}"}, {"{*", "*}"}}};

struct Column {
  std::size_t width = 0;
  bool numeric = false;
};

std::vector<Column> measure(const Table& table) {
  std::vector<Column> columns(table.columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].width = text_width(table.columns[i]);
  for (const auto& row : table.rows) {
    if (row.size() != columns.size()) {
      throw std::invalid_argument(fmt::format("table '{}': a row of {} cells under {} columns", table.id,
                                              row.size(), columns.size()));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].width = std::max(columns[i].width, text_width(row[i].text));
      columns[i].numeric = columns[i].numeric || row[i].sort_key.has_value();
    }
  }
  return columns;
}

// One line, without blanks at its end.
template <class Text>
std::string aligned(const std::vector<Column>& columns, const Text& text, std::string_view gap) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string padding(columns[i].width - text_width(text(i)), ' ');
    if (i > 0) line += gap;
    line += columns[i].numeric ? padding + text(i) : text(i) + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string rule(std::size_t width) {
  std::string line;
  for (std::size_t i = 0; i < width; ++i) line += "─";
  return line;
}

}  // namespace

std::string terminal(const Table& table) {
  constexpr std::string_view gap = "  ";
  const std::vector<Column> columns = measure(table);
  std::string out;
  if (!table.caption.empty()) out += table.caption + '\n';
  out += aligned(
      columns, [&](std::size_t i) { return table.columns[i]; }, gap);
  out += aligned(
      columns, [&](std::size_t i) { return rule(columns[i].width); }, gap);
  for (const auto& row : table.rows) {
    out += aligned(
        columns, [&](std::size_t i) { return row[i].text; }, gap);
  }
  if (!table.note.empty()) out += table.note + '\n';
  return out;
}

std::string terminal(const Passage& passage, bool colour) {
  std::string out;
  if (!passage.caption.empty()) out += passage.caption + '\n';
  for (const auto& line : passage.lines) {
    for (const TextSpan& span : line) {
      const auto kind = static_cast<std::size_t>(span.kind);
      const Marks& marks = colour ? span_colours.at(kind) : span_brackets.at(kind);
      out.append(marks.before).append(span.text).append(marks.after);
    }
    out += '\n';
  }
  return out;
}

}  // namespace speclab
