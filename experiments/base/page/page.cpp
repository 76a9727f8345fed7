#include "experiments/base/page/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {

// page.css and page.js, as the build embeds them. The script has the theme, values of figures, legends,
// sorting, downloads and the cue of wide tables.
extern const std::string_view page_css;
extern const std::string_view page_js;

namespace {

// The explorer uses the same colours, so that accepted, rejected and corrected tokens look alike on every
// page.
constexpr std::string_view light_colours =
    "--ground: #fff; --ink: #1b1b1b; --faint: #565656; --line: #d4d4d4; --soft: #f3f4f6; --link: #0b5394; "
    "--accepted: #0b6b3a; --rejected: #b3261e; --correction: #0b4fa8; --bonus: #6a3d9a; --bad-ground: "
    "#fdf0ee;";
constexpr std::string_view dark_colours =
    "--ground: #15181c; --ink: #e8e8e8; --faint: #a9b0b8; --line: #454b53; --soft: #22272d; --link: #7ab8f5; "
    "--accepted: #5fd39b; --rejected: #ff8f85; --correction: #82b4ff; --bonus: #c9a4f2; --bad-ground: "
    "#3a1f1d;";

std::string colour_classes(const std::array<const char*, 12>& palette, std::string_view scope) {
  std::string css;
  for (std::size_t i = 0; i < palette.size(); ++i)
    css += fmt::format("{} .c{} {{ color: {}; }}\n", scope, i, palette.at(i));
  return css;
}

/// Returns the style sheet: readable on a phone and on paper, light or dark as the reader's system or the
/// page's button asks.
std::string page_style() {
  constexpr std::string_view follows = ":root:not([data-theme=light])";
  constexpr std::string_view chosen = ":root[data-theme=dark]";
  return fmt::format(
      "\n:root {{ color-scheme: light; {} }}\n{}@media (prefers-color-scheme: dark) {{\n{} {{ color-scheme: "
      "dark; {} }}\n{}}}\n"
      "{} {{ color-scheme: dark; {} }}\n{}\n{}",
      light_colours, colour_classes(light_palette, ""), follows, dark_colours,
      colour_classes(dark_palette, follows), chosen, dark_colours, colour_classes(dark_palette, chosen),
      page_css);
}

using Out = std::back_insert_iterator<std::string>;

struct KindMarkup {
  std::string_view element;
  std::string_view name;
};

// The entries have the order of SpanKind.
constexpr std::array<KindMarkup, 6> kind_markup = {{{"span", "plain"},
                                                    {"span", "prompt"},
                                                    {"span", "accepted"},
                                                    {"del", "rejected"},
                                                    {"ins", "correction"},
                                                    {"span", "bonus"}}};

void check_id(const std::string& id, std::set<std::string>& seen) {
  if (!is_markup_id(id)) throw std::invalid_argument(fmt::format("page: '{}' is not an id", id));
  if (!seen.insert(id).second) throw std::invalid_argument(fmt::format("page: the id '{}' comes twice", id));
}

void check_table(const Table& table, std::set<std::string>& seen) {
  check_id(table.id, seen);
  check_id(table.id + "-name", seen);
}

constexpr const char* provenance_id = "how-this-was-made";

void check_ids(const Page& page) {
  std::set<std::string> seen{provenance_id};
  for (const Section& section : page.sections) {
    check_id(section.id, seen);
    for (const Table& table : section.tables) check_table(table, seen);
    for (const auto& part : section.listing.parts) {
      if (const auto* const table = std::get_if<Table>(&part)) check_table(*table, seen);
    }
    for (const Drawing& figure : section.figures) check_id(figure.id, seen);
    for (const Passage& passage : section.passages) check_id(passage.id, seen);
  }
}

void write_paragraphs(Out out, std::string_view text) {
  constexpr std::string_view parting = "\n\n";
  while (!text.empty()) {
    const std::size_t end = text.find(parting);
    const std::string_view paragraph = text.substr(0, end);
    if (!paragraph.empty()) fmt::format_to(out, "<p>{}</p>\n", escape_markup(paragraph));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + parting.size());
  }
}

void write_cell(Out out, const Cell& cell) {
  // On a wide screen, verdicts of up to this many letters stay on one line.
  constexpr std::size_t short_text = 44;
  std::string classes = cell.css_class;
  if (!classes.empty() && text_width(cell.text) <= short_text) classes += " short";
  if (cell.sort_key) classes += classes.empty() ? "number" : " number";
  fmt::format_to(out, "<td");
  if (!classes.empty()) fmt::format_to(out, " class=\"{}\"", escape_markup(classes));
  // NaN has no order: such a cell sorts with the texts.
  if (cell.sort_key && !std::isnan(*cell.sort_key)) {
    // JavaScript reads "Infinity" where C++ writes "inf".
    const double key = *cell.sort_key;
    const std::string infinity = key > 0 ? "Infinity" : "-Infinity";
    fmt::format_to(out, " data-key=\"{}\"", std::isinf(key) ? infinity : fmt::format("{}", key));
  }
  std::string text = escape_markup(printed_text(cell));
  if (!cell.section.empty()) text = fmt::format("<a href=\"#{}\">{}</a>", escape_markup(cell.section), text);
  fmt::format_to(out, ">{}</td>", text);
}

void write_rows(Out out, const Table& table) {
  check_rows(table);
  // A last column of verdicts stays visible if the table is wider than the screen.
  const bool judged = std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
    return row.size() > 1 && !row.back().sort_key && !row.back().css_class.empty();
  });
  fmt::format_to(out, "<table id=\"{}\"{} aria-labelledby=\"{}-name\">\n<thead><tr>", table.id,
                 judged ? " class=\"judged\"" : "", table.id);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool numeric = std::any_of(table.rows.begin(), table.rows.end(),
                                     [i](const auto& row) { return row[i].sort_key.has_value(); });
    fmt::format_to(out, "<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                   numeric ? " class=\"number\"" : "", escape_markup(table.columns[i]));
  }
  fmt::format_to(out, "</tr></thead>\n<tbody>\n");
  for (const auto& row : table.rows) {
    fmt::format_to(out, "<tr>");
    for (const Cell& cell : row) write_cell(out, cell);
    fmt::format_to(out, "</tr>\n");
  }
  fmt::format_to(out, "</tbody></table>");
}

/// Writes the table in its own box, which scrolls sideways if the table is wider; the first column stays in
/// place.
void write_table(Out out, const Table& table) {
  const std::string name = escape_markup(table.caption.empty() ? "Table" : table.caption);
  fmt::format_to(out, "<div class=\"table\"><h3 id=\"{}-name\">{}</h3>\n", table.id, name);
  if (table.folded) fmt::format_to(out, "<details><summary>{} rows</summary>\n", table.rows.size());
  fmt::format_to(out, "<div class=\"scroll\" role=\"group\" aria-labelledby=\"{}-name\" tabindex=\"0\">",
                 table.id);
  write_rows(out, table);
  fmt::format_to(out, "</div>\n<p class=\"cue\" aria-hidden=\"true\">more columns →</p>\n");
  if (!table.note.empty()) fmt::format_to(out, "<p class=\"tablenote\">{}</p>\n", escape_markup(table.note));
  fmt::format_to(out, "<div class=\"tools\"><button type=\"button\">Table as CSV</button></div>\n");
  fmt::format_to(out, "{}</div>\n", table.folded ? "</details>" : "");
}

/// Returns where the text of a line begins that labelled_line made; 0 if it has no label.
std::size_t after_label(std::string_view line) {
  const std::size_t gap = line.find("  ");
  if (gap == std::string_view::npos) return 0;
  const std::size_t text = line.find_first_not_of(' ', gap);
  return text != std::string_view::npos && text_width(line.substr(0, text)) == plan_label_width ? text : 0;
}

/// Writes lines unchanged, without the empty ones before and after them. On a narrow screen labels stand
/// above their texts.
void write_lines(Out out, std::string_view text) {
  const std::size_t first = text.find_first_not_of('\n');
  if (first == std::string_view::npos) return;
  text = text.substr(first, text.find_last_not_of('\n') + 1 - first);
  fmt::format_to(out, "<pre class=\"listing\">");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t label = after_label(line);
    if (label > 0) fmt::format_to(out, "<span>{}</span>", escape_markup(line.substr(0, label)));
    fmt::format_to(out, "{}", escape_markup(line.substr(label)));
    text.remove_prefix(line.size());
    if (text.empty()) break;
    fmt::format_to(out, "\n");
    text.remove_prefix(1);
  }
  fmt::format_to(out, "</pre>\n");
}

void write_legend(Out out, const std::vector<LegendEntry>& legend) {
  if (legend.empty()) return;
  fmt::format_to(out, "<ul class=\"legend\" aria-label=\"Series; press one to hide it\">");
  for (const LegendEntry& entry : legend) {
    fmt::format_to(out,
                   "<li><button type=\"button\" aria-pressed=\"true\" class=\"c{}\" data-colour=\"{}\" "
                   "data-shows=\"{}\"><svg viewBox=\"0 0 24 14\" "
                   "aria-hidden=\"true\">{}</svg><span>{}</span></button></li>",
                   entry.colour, light_palette.at(entry.colour), fmt::join(entry.series, " "), entry.sample,
                   escape_markup(entry.name));
  }
  fmt::format_to(out, "</ul>\n");
}

void write_figure(Out out, const Drawing& figure) {
  const std::string title = escape_markup(figure.title.empty() ? "Figure" : figure.title);
  fmt::format_to(out, "<figure class=\"drawing\" id=\"{}\"><h3>{}</h3>\n", figure.id, title);
  write_legend(out, figure.legend);
  fmt::format_to(
      out,
      "<div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"{0}: the arrow keys read its "
      "values\"><svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}\">{3}</svg>"
      "<div class=\"tip\" role=\"status\"></div></div>\n<script type=\"application/json\">{4}</script>\n"
      "<figcaption>{5}",
      title, figure.width, figure.height, figure.plot, figure.data, escape_markup(figure.caption));
  if (!figure.command.empty()) {
    fmt::format_to(out, "<div class=\"command\">Draw it again: <code>{}</code></div>",
                   escape_markup(figure.command));
  }
  fmt::format_to(
      out,
      "<div class=\"tools\"><button type=\"button\">Its data as CSV</button></div></figcaption></figure>\n");
}

void write_span(Out out, const TextSpan& span) {
  const KindMarkup& kind = kind_markup.at(static_cast<std::size_t>(span.kind));
  fmt::format_to(out, "<{0} class=\"{1}\">{2}</{0}>", kind.element, kind.name, escape_markup(span.text));
}

void write_passage(Out out, const Passage& passage) {
  std::set<SpanKind> used;
  for (const auto& line : passage.lines) {
    for (const TextSpan& span : line) used.insert(span.kind);
  }
  used.erase(SpanKind::plain);
  fmt::format_to(out, "<figure class=\"text\" id=\"{}\"><p class=\"kinds\">", passage.id);
  for (const SpanKind kind : used) {
    write_span(out, {std::string(kind_markup.at(static_cast<std::size_t>(kind)).name), kind});
    fmt::format_to(out, " ");
  }
  fmt::format_to(out, "</p>\n<div class=\"passage\">");
  for (const auto& line : passage.lines) {
    fmt::format_to(out, "<div>");
    for (const TextSpan& span : line) write_span(out, span);
    fmt::format_to(out, "</div>");
  }
  fmt::format_to(out, "</div>\n<figcaption>{}</figcaption></figure>\n", escape_markup(passage.caption));
}

/// The number of figures that a folded section shows.
constexpr std::size_t open_figures = 2;

void write_drawings(Out out, const Section& section, std::size_t first, std::size_t last) {
  last = std::min(last, section.figures.size());
  if (first >= last) return;
  fmt::format_to(out, "<div class=\"figures\">\n");
  for (std::size_t i = first; i < last; ++i) write_figure(out, section.figures[i]);
  fmt::format_to(out, "</div>\n");
}

/// Writes the section's tables from `first` on (open ones before folded ones), its listing, text and notes.
void write_rest(Out out, const Section& section, std::size_t first) {
  for (const bool folded : {false, true}) {
    for (std::size_t i = first; i < section.tables.size(); ++i) {
      if (section.tables[i].folded == folded) write_table(out, section.tables[i]);
    }
  }
  for (const auto& part : section.listing.parts) {
    if (const auto* const table = std::get_if<Table>(&part)) {
      write_table(out, *table);
    } else {
      write_lines(out, std::get<std::string>(part));
    }
  }
  write_paragraphs(out, section.intro);
  if (!section.notes.empty()) {
    fmt::format_to(out, "<ul class=\"notes\">\n");
    for (const std::string& note : section.notes) fmt::format_to(out, "<li>{}</li>\n", escape_markup(note));
    fmt::format_to(out, "</ul>\n");
  }
}

/// Returns a summary such as "2 more figures, table of 12 rows, how it was made".
std::string rest_text(const Section& section) {
  std::string text;
  if (section.figures.size() > open_figures)
    text = fmt::format("{} more figure{}, ", section.figures.size() - open_figures,
                       section.figures.size() == open_figures + 1 ? "" : "s");
  for (const Table& table : section.tables) text += fmt::format("table of {} rows, ", table.rows.size());
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + (text.empty() ? "Notes" : "notes");
}

/// `alone`: the page's only section, which has the page's heading and headline.
void write_section(Out out, const Section& section, bool alone) {
  fmt::format_to(out, "<section id=\"{}\">\n", section.id);
  if (alone) {
    fmt::format_to(out, "<h2 class=\"heard\">What was found</h2>\n");
  } else {
    fmt::format_to(out, "<h2>{}</h2>\n", escape_markup(section.title));
    if (!section.headline.empty())
      fmt::format_to(out, "<p class=\"headline\">{}</p>\n", escape_markup(section.headline));
  }
  for (const Passage& passage : section.passages) write_passage(out, passage);
  const bool beside = section.beside && !section.tables.empty() && !section.figures.empty();
  if (beside) fmt::format_to(out, "<div class=\"beside\">\n");
  write_drawings(out, section, 0, section.folded ? open_figures : section.figures.size());
  if (beside) {
    write_table(out, section.tables.front());
    fmt::format_to(out, "</div>\n");
  }
  if (section.folded) {
    fmt::format_to(out, "<details class=\"rest\"><summary>{}</summary>\n", rest_text(section));
    write_drawings(out, section, open_figures, section.figures.size());
  }
  write_rest(out, section, beside ? 1 : 0);
  fmt::format_to(out, "{}</section>\n", section.folded ? "</details>\n" : "");
}

void write_opening(Out out, const Page& page, const std::string& headline) {
  const std::string title = escape_markup(page.title);
  fmt::format_to(
      out,
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // An empty icon keeps browsers from requesting one from a server.
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{0}</h1>\n<button type=\"button\" class=\"theme\">theme</button>\n",
      title, page_style());
  if (!headline.empty()) fmt::format_to(out, "<p class=\"headline\">{}</p>\n", escape_markup(headline));
  if (!page.subtitle.empty())
    fmt::format_to(out, "<p class=\"subtitle\">{}</p>\n", escape_markup(page.subtitle));
  fmt::format_to(out, "</header>\n");
  if (page.sections.size() > 1) {
    fmt::format_to(out, "<nav aria-label=\"Sections\"><details><summary>{} sections</summary><ol>\n",
                   page.sections.size());
    for (const Section& section : page.sections)
      fmt::format_to(out, "<li><a href=\"#{}\">{}</a></li>\n", section.id, escape_markup(section.title));
    fmt::format_to(out, "</ol></details></nav>\n");
  }
  fmt::format_to(out, "<main>\n");
}

void write_facts(Out out, const Page& page) {
  if (page.facts.empty() && page.citation.empty()) return;
  fmt::format_to(out, "<section id=\"{}\">\n<h2>How this was made</h2>\n<dl class=\"facts\">\n",
                 provenance_id);
  for (const auto& [name, value] : page.facts)
    fmt::format_to(out, "<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  fmt::format_to(out, "</dl>\n");
  if (!page.citation.empty())
    fmt::format_to(out, "<h3>Cite this</h3>\n<pre>{}</pre>\n", escape_markup(page.citation));
  fmt::format_to(out, "</section>\n");
}

}  // namespace

std::string html(const Page& page, const std::string& explorer) {
  check_ids(page);
  const bool alone = page.sections.size() == 1 && page.sections.front().title == page.title;
  std::string text;
  const Out out(text);
  write_opening(out, page, page.headline.empty() && alone ? page.sections.front().headline : page.headline);
  for (const Section& section : page.sections) write_section(out, section, alone);
  write_facts(out, page);
  fmt::format_to(out, "</main>\n");
  for (const auto& [what, path] : page.links) {
    fmt::format_to(out, "<footer><p>Another paper: <a href=\"{}\">{}</a></p></footer>\n", escape_markup(path),
                   escape_markup(what));
  }
  if (!explorer.empty()) {
    fmt::format_to(
        out,
        "<footer><p><a href=\"{}\">The explorer</a>, a page that computes with the same program: one "
        "round draw by draw, tokens per target step, the best γ, live decoding, your own "
        "data.</p></footer>\n",
        escape_markup(explorer));
  }
  fmt::format_to(out, "<script>\n{}</script>\n</body>\n</html>\n", page_js);
  return text;
}

}  // namespace speclab
