#include "experiments/page/publication.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "experiments/page/axis.hpp"
#include "experiments/page/colours.hpp"
#include "experiments/page/drawing_parts.hpp"
#include "experiments/page/gnuplot.hpp"
#include "experiments/page/text_width.hpp"

namespace speclab {

namespace {

using Lines = std::back_insert_iterator<std::string>;

// Filled circle, square, triangle, triangle upside down, diamond: as on pages.
constexpr std::array<int, 5> point_types = {7, 5, 9, 11, 13};

constexpr const char* viridis =
    "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', 5 '#27ad81', "
    "6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n";

struct Style {
  double points;  ///< size of letters
  double line;
};

Style style_of_theme(PictureTheme theme) {
  return theme == PictureTheme::paper ? Style{8, 1} : Style{12, 1.6};
}

std::string plotted(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "NaN"; }

/// What stands in the legend: name, and its element drawn without data.
struct Key {
  std::string name;
  std::string element;
};

std::string range_text(const std::optional<AxisRange>& range) {
  return range ? fmt::format("[{}:{}]", range->low, range->high) : "[*:*]";
}

/// The widest name of a legend, in letters.
std::size_t widest_name(const std::vector<Key>& keys) {
  std::size_t most = 0;
  for (const Key& key : keys) most = std::max(most, text_width(key.name));
  return most;
}

/// What a series' elements are drawn with: its colour among those of all panels.
struct Ink {
  const char* colour;
  int point;
};

Ink ink_of(std::size_t colour) {
  return {light_palette.at(colour), point_types.at(colour % point_types.size())};
}

/// `offset` moves points beside those of other series, where the axis has names.
void write_series_data(Lines out, const Series& series, const std::string& block, double offset) {
  fmt::format_to(out, "${} << EOD\n", block);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    fmt::format_to(out, "{} {}", plotted(series.x[i] + offset), plotted(series.y[i]));
    if (!series.low.empty()) fmt::format_to(out, " {} {}", plotted(series.low[i]), plotted(series.high[i]));
    fmt::format_to(out, "\n");
  }
  fmt::format_to(out, "EOD\n");
}

/// Elements of one series, those below first.
std::vector<std::string> series_elements(const Series& series, const std::string& block, const Ink& ink,
                                         bool bars) {
  std::vector<std::string> elements;
  const bool intervals = !series.low.empty();
  if (intervals && bars) {
    elements.push_back(fmt::format(
        "${} using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw 1 lc rgb '{}' notitle", block,
        ink.colour));
  } else if (intervals) {
    elements.push_back(
        fmt::format("${} using 1:3:4 with filledcurves fs transparent solid 0.2 noborder lc rgb '{}' notitle",
                    block, ink.colour));
  }
  switch (series.style) {
    case SeriesStyle::line:
      elements.push_back(
          fmt::format("${} using 1:2 with lines lw 1.6 lc rgb '{}' notitle", block, ink.colour));
      break;
    case SeriesStyle::steps:
      elements.push_back(
          fmt::format("${} using 1:2 with steps lw 1.6 lc rgb '{}' notitle", block, ink.colour));
      break;
    case SeriesStyle::levels:
      elements.push_back(fmt::format(
          "${} using ($1-0.4):2:(0.8):(0) with vectors nohead lw 2 lc rgb '{}' notitle", block, ink.colour));
      break;
    case SeriesStyle::points:
      elements.push_back(fmt::format("${} using 1:2 with points lc rgb '{}' pt {} ps 0.5 notitle", block,
                                     ink.colour, ink.point));
      break;
  }
  return elements;
}

/// Whether an unnamed series of the other kind, line or points, has the series' colour: then both are its
/// sample in the legend.
bool stands_for_both(const Figure& figure, std::size_t index) {
  const bool points = figure.series[index].style == SeriesStyle::points;
  return std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& other) {
    return other.colour_of == index && !other.x.empty() && (other.style == SeriesStyle::points) != points;
  });
}

std::string key_element(SeriesStyle style, bool both, const Ink& ink) {
  if (both) return fmt::format("with linespoints lw 1.8 lc rgb '{}' pt {} ps 0.7", ink.colour, ink.point);
  return style == SeriesStyle::points
             ? fmt::format("with points lc rgb '{}' pt {} ps 0.7", ink.colour, ink.point)
             : fmt::format("with lines lw 1.8 lc rgb '{}'", ink.colour);
}

/// Colours by name over all panels, so that one name has one colour in the picture.
class Names {
 public:
  explicit Names(const std::vector<Panel>& panels) {
    bool cells = false;
    for (const Panel& panel : panels) {
      cells = cells || panel.figure.heat;
      for (const Series& series : panel.figure.series) {
        if (!series.colour_of) note(series.name);
      }
      for (const BoxSeries& boxes : panel.boxes) note(boxes.name);
      for (const TraceRow& row : panel.figure.trace) {
        for (const TraceBlock& block : row.blocks) note(block.kind);
      }
    }
    colours_ = colours_of(names_, cells);
  }

  std::size_t colour(const std::string& name) const {
    return colours_.at(
        static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin()));
  }

 private:
  void note(const std::string& name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }

  std::vector<std::string> names_;
  std::vector<std::size_t> colours_;
};

void add_key(std::vector<Key>& keys, const std::string& name, std::string element) {
  const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  if (!name.empty() && !known) keys.push_back({name, std::move(element)});
}

/// A label at a place of an axis. gnuplot reads such a label, unlike other text, as a format for its place.
std::string tic_at(const std::string& label, double place) {
  std::string format;
  for (const char letter : label) format.append(letter == '%' ? 2 : 1, letter);
  return fmt::format("{} {}", gnuplot_quoted(format), place);
}

struct Ranges {
  std::optional<AxisRange> x;
  std::optional<AxisRange> y;
};

/// Of numbers over numbers: what all panels need.
Ranges shared_ranges(const std::vector<Panel>& panels) {
  const Figure& first = panels.front().figure;
  Ranges ranges{first.x_range, first.y_range};
  if (panels.size() < 2 || !first.trace.empty()) return ranges;
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Panel& panel : panels) {
    if (panel.figure.heat) return ranges;
    for (const Series& series : panel.figure.series) {
      xs.insert(xs.end(), series.x.begin(), series.x.end());
      for (const auto* values : {&series.y, &series.low, &series.high})
        ys.insert(ys.end(), values->begin(), values->end());
    }
    for (const BoxSeries& boxes : panel.boxes) {
      for (const Box& box : boxes.boxes) ys.insert(ys.end(), {box.least, box.most});
    }
  }
  if (!ranges.x && first.categories.empty() && !xs.empty()) ranges.x = range_of(xs, first.log_x);
  if (!ranges.y && !ys.empty()) ranges.y = range_of(ys, first.log_y);
  return ranges;
}

std::string heat_elements(Lines out, const Figure& figure) {
  const HeatMap& heat = *figure.heat;
  const auto x = cell_borders(heat.x, figure.log_x);
  const auto y = cell_borders(heat.y, figure.log_y);
  fmt::format_to(out, "{}set cblabel {} offset 1,0\nset colorbox\n{}unset grid\nset tics out\n$heat << EOD\n",
                 viridis, gnuplot_quoted(heat.z_label), heat.log_z ? "set logscale cb\n" : "");
  for (std::size_t row = 0; row < heat.y.size(); ++row) {
    for (std::size_t column = 0; column < heat.x.size(); ++column) {
      const double z = heat.z[row][column];
      if (!std::isfinite(z) || (heat.log_z && z <= 0)) continue;
      // Below the next cells, which are drawn later: else light shows between them.
      const double right = column + 2 < x.size() ? (x[column + 1] + x[column + 2]) / 2 : x[column + 1];
      const double top = row + 2 < y.size() ? (y[row + 1] + y[row + 2]) / 2 : y[row + 1];
      fmt::format_to(out, "{} {} {} {} {} {} {}\n", heat.x[column], heat.y[row], x[column], right, y[row],
                     top, z);
    }
  }
  fmt::format_to(out, "EOD\nset xrange [{}:{}]\nset yrange [{}:{}]\n", x.front(), x.back(), y.front(),
                 y.back());
  return "$heat using 1:2:3:4:5:6:7 with boxxyerror lc palette fillstyle solid noborder notitle";
}

std::vector<std::string> plane_elements(Lines out, const Panel& panel, const Names& names,
                                        std::vector<Key>& keys) {
  const Figure& figure = panel.figure;
  std::vector<std::string> elements;
  if (figure.heat) elements.push_back(heat_elements(out, figure));
  const auto is_points = [](const Series& series) {
    return series.style == SeriesStyle::points && !series.x.empty();
  };
  const auto lanes =
      static_cast<double>(std::count_if(figure.series.begin(), figure.series.end(), is_points));
  double lane = 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (series.x.empty()) continue;
    constexpr double room = 0.6;
    const bool beside = !figure.categories.empty() && is_points(series);
    const double offset = beside ? room * (lane++ - (lanes - 1) / 2) / lanes : 0;
    const Ink ink =
        ink_of(names.colour(series.colour_of ? figure.series[*series.colour_of].name : series.name));
    const std::string block = fmt::format("s{}", i);
    write_series_data(out, series, block, offset);
    for (std::string& element :
         series_elements(series, block, ink, !figure.categories.empty() || series.x.size() < 3))
      elements.push_back(std::move(element));
    add_key(keys, series.name, key_element(series.style, stands_for_both(figure, i), ink));
  }
  for (std::size_t i = 0; i < panel.boxes.size(); ++i) {
    const BoxSeries& boxes = panel.boxes[i];
    const Ink ink = ink_of(names.colour(boxes.name));
    // Side by side where several have a box at one place.
    const double width = 0.7 / static_cast<double>(panel.boxes.size());
    const double offset = (static_cast<double>(i) - static_cast<double>(panel.boxes.size() - 1) / 2) * width;
    fmt::format_to(out, "$b{} << EOD\n", i);
    for (const Box& box : boxes.boxes)
      fmt::format_to(out, "{} {} {} {} {} {}\n", box.x + offset, box.lower, box.least, box.most, box.upper,
                     box.median);
    fmt::format_to(out, "EOD\n");
    elements.push_back(
        fmt::format("$b{} using 1:2:3:4:5:({}) with candlesticks fs transparent solid 0.25 lw 1 lc rgb '{}' "
                    "notitle whiskerbars 0.5",
                    i, 0.85 * width, ink.colour));
    elements.push_back(
        fmt::format("$b{0} using 1:6:6:6:6:({1}) with candlesticks lw 1.8 lc rgb '{2}' notitle", i,
                    0.85 * width, ink.colour));
    add_key(keys, boxes.name, fmt::format("with boxes fs transparent solid 0.25 lc rgb '{}'", ink.colour));
  }
  return elements;
}

std::vector<std::string> timeline_elements(Lines out, const Figure& figure, const Names& names,
                                           std::vector<Key>& keys) {
  constexpr double half_block = 0.3;
  std::vector<std::string> tics;
  std::vector<std::string> kinds;
  for (std::size_t row = 0; row < figure.trace.size(); ++row) {
    tics.push_back(tic_at(figure.trace[row].label, static_cast<double>(row + 1)));
    for (const TraceBlock& block : figure.trace[row].blocks) {
      if (std::find(kinds.begin(), kinds.end(), block.kind) == kinds.end()) kinds.push_back(block.kind);
    }
  }
  fmt::format_to(
      out, "set ytics ({}) scale 0\nset grid x noy\nset border 1\nset xrange [0:*]\nset yrange [{}:0.4]\n",
      fmt::join(tics, ", "), static_cast<double>(figure.trace.size()) + 0.6);
  std::vector<std::string> elements;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    fmt::format_to(out, "$k{} << EOD\n", kind);
    for (std::size_t row = 0; row < figure.trace.size(); ++row) {
      for (const TraceBlock& block : figure.trace[row].blocks) {
        if (block.kind != kinds[kind]) continue;
        const auto y = static_cast<double>(row + 1);
        fmt::format_to(out, "{} {} {} {} {} {}\n", (block.start + block.end) / 2, y, block.start, block.end,
                       y - half_block, y + half_block);
      }
    }
    fmt::format_to(out, "EOD\n");
    const Ink ink = ink_of(names.colour(kinds[kind]));
    elements.push_back(
        fmt::format("$k{} using 1:2:3:4:5:6 with boxxyerror fillstyle solid border lc rgb 'white' lw 0.4 "
                    "fillcolor rgb '{}' notitle",
                    kind, ink.colour));
    add_key(keys, kinds[kind], fmt::format("with boxes fs solid lc rgb '{}'", ink.colour));
  }
  return elements;
}

/// A part of the picture: shares of its width and height.
struct Place {
  double x, y, width, height;
};

std::string panel_script(const Panel& panel, const Place& place, const Ranges& ranges, bool titled_panel,
                         const Names& names, std::vector<Key>& keys) {
  const Figure& figure = panel.figure;
  std::string script;
  const Lines out(script);
  fmt::format_to(out,
                 "reset\nset encoding utf8\nset origin {:.4f},{:.4f}\nset size {:.4f},{:.4f}\n"
                 "set border 3 lc rgb '#555555'\nset tics nomirror scale 0.5 textcolor rgb '#111111'\n"
                 "set grid back lc rgb '#dddddd' lw 0.5 dt 1\nset format '%h'\nunset key\n"
                 "set xlabel {} offset 0,0.4\nset ylabel {}\n",
                 place.x, place.y, place.width, place.height, gnuplot_quoted(figure.x_label),
                 gnuplot_quoted(figure.y_label));
  if (titled_panel) fmt::format_to(out, "set title {} offset 0,-0.6\n", gnuplot_quoted(figure.title));
  if (figure.log_x) fmt::format_to(out, "set logscale x\n");
  if (figure.log_y) fmt::format_to(out, "set logscale y\n");
  fmt::format_to(out, "set xrange {}\nset yrange {}\n", range_text(ranges.x), range_text(ranges.y));
  if (!figure.categories.empty()) {
    constexpr std::size_t most_letters = 44;
    std::size_t letters = 0;
    for (const std::string& name : figure.categories) letters += text_width(name) + 1;
    std::vector<std::string> tics;
    for (std::size_t i = 0; i < figure.categories.size(); ++i)
      tics.push_back(tic_at(figure.categories[i], static_cast<double>(i)));
    fmt::format_to(out, "set xtics {} scale 0 ({})\nset xrange [-0.6:{}]\n",
                   letters > most_letters ? "rotate by 45 right" : "", fmt::join(tics, ", "),
                   static_cast<double>(figure.categories.size()) - 0.4);
  }
  const std::vector<std::string> elements = figure.trace.empty()
                                                ? plane_elements(out, panel, names, keys)
                                                : timeline_elements(out, figure, names, keys);
  fmt::format_to(out, "plot {}\n", fmt::join(elements, ", \\\n  "));
  return script;
}

/// The legend as a part of its own: rows of names, of which there are `rows`, and below them a line of text.
std::string legend_script(const std::vector<Key>& keys, const Place& place, std::size_t columns,
                          std::size_t rows, const std::string& note) {
  const double line = 1 / (static_cast<double>(rows) + 1.5);
  std::vector<std::string> elements;
  for (const Key& key : keys)
    elements.push_back(fmt::format("NaN {} title {}", key.element, gnuplot_quoted(key.name)));
  return fmt::format(
      "reset\nset encoding utf8\nset origin {:.4f},{:.4f}\nset size {:.4f},{:.4f}\nunset border\nunset tics\n"
      "set lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
      "{}set key at graph 0.5,{:.4f} center center horizontal maxcols {} Left reverse samplen 2 spacing 1.1 "
      "width 1\n"
      "plot [0:1][0:1] {}\n",
      place.x, place.y, place.width, place.height,
      note.empty()
          ? ""
          : fmt::format("set label 1 {} at graph 0.5,{:.4f} center\n", gnuplot_quoted(note), 0.55 * line),
      note.empty() ? 0.5 : 0.5 + line / 2, columns, fmt::join(elements, ", \\\n  "));
}

std::string terminal_of(const Picture& picture, const PictureSize& size) {
  const Style style = style_of_theme(picture.theme);
  const double inches = 1 / 25.4;
  switch (picture.format) {
    case PictureFormat::pdf:
      return fmt::format(
          "set terminal pdfcairo size {:.2f}cm,{:.2f}cm noenhanced font 'DejaVu Sans,{}' linewidth {} "
          "pointscale 0.9 background rgb 'white'\n",
          size.width / 10, size.height / 10, style.points, style.line);
    case PictureFormat::png:
      return fmt::format(
          "set terminal pngcairo size {:.0f},{:.0f} noenhanced font 'DejaVu Sans,{}' fontscale {:.3f} "
          "linewidth {:.2f} pointscale 3.4 background rgb 'white'\n",
          size.width * inches * 300, size.height * inches * 300, style.points, 300.0 / 96, style.line * 3.2);
    case PictureFormat::svg:
      break;
  }
  return fmt::format(
      "set terminal svg size {:.0f},{:.0f} fixed noenhanced font 'DejaVu Sans,{:.1f}' linewidth {} "
      "background rgb 'white'\n",
      size.width * inches * 96, size.height * inches * 96, style.points * 96 / 72, style.line);
}

/// What lines and points of one colour are: the note of the first panel that has such.
std::string legend_note(const std::vector<Panel>& panels) {
  for (const Panel& panel : panels) {
    for (std::size_t i = 0; i < panel.figure.series.size(); ++i) {
      if (!panel.legend_note.empty() && !panel.figure.series[i].name.empty() &&
          stands_for_both(panel.figure, i))
        return panel.legend_note;
    }
  }
  return "";
}

std::size_t columns_of(std::size_t panels) { return panels <= 3 ? panels : panels == 4 ? 2 : 3; }

PictureSize natural_size(const std::vector<Panel>& panels, PictureTheme theme, std::size_t legend_rows) {
  const std::size_t columns = columns_of(panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double unit = theme == PictureTheme::paper ? 1 : 1.6;
  const Figure& first = panels.front().figure;
  const double wide = std::max(85.0, 5.0 * static_cast<double>(first.categories.size()));
  double names = 0;
  for (const std::string& name : first.categories)
    names = std::max(names, 1.1 * static_cast<double>(text_width(name)));
  const double high = first.trace.empty() ? 58 + names : 22 + 8 * static_cast<double>(first.trace.size());
  return {unit * (columns == 1 ? wide : 58 * static_cast<double>(columns)),
          unit * ((columns == 1 ? high : 50 + names) * static_cast<double>(rows) +
                  4.5 * static_cast<double>(legend_rows))};
}

}  // namespace

std::string draw_picture(const std::vector<Panel>& panels, const Picture& picture) {
  if (panels.empty()) throw std::invalid_argument("a picture has panels");
  for (const Panel& panel : panels) {
    if (panel.boxes.empty()) check_figure(panel.figure);
  }
  const Names names(panels);
  const Ranges ranges = shared_ranges(panels);
  const bool several = panels.size() > 1;
  const std::size_t columns = columns_of(panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  // Once for the names, then at the place that their rows leave.
  std::vector<Key> keys;
  for (const Panel& panel : panels) panel_script(panel, {0, 0, 1, 1}, ranges, several, names, keys);
  const Style style = style_of_theme(picture.theme);
  const PictureSize unlabelled = picture.size.value_or(natural_size(panels, picture.theme, 0));
  // A letter is about 0.6 of its size wide, and a sample as wide as five.
  const double entry = static_cast<double>(widest_name(keys) + 7) * 0.62 * style.points * 25.4 / 72;
  const auto fitting = static_cast<std::size_t>(std::max(1.0, std::floor(0.92 * unlabelled.width / entry)));
  const std::size_t key_columns = std::min(fitting, std::max<std::size_t>(1, keys.size()));
  const std::size_t key_rows = (keys.size() + key_columns - 1) / key_columns;
  const std::string note = keys.empty() ? "" : legend_note(panels);
  const std::size_t legend_rows = key_rows + (note.empty() ? 0 : 1);
  const PictureSize size = picture.size.value_or(natural_size(panels, picture.theme, legend_rows));
  const double line = 1.45 * style.points * 25.4 / 72 / size.height;
  const double below = keys.empty() ? 0 : line * (static_cast<double>(legend_rows) + 0.5);
  const double above = picture.title.empty() ? 0 : 1.6 * line;

  std::string script = terminal_of(picture, size) + "set encoding utf8\nset multiplot\n";
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double height = (1 - below - above) / static_cast<double>(rows);
    const Place place{static_cast<double>(i % columns) / static_cast<double>(columns),
                      below + height * static_cast<double>(rows - 1 - i / columns),
                      1 / static_cast<double>(columns), height};
    std::vector<Key> ignored;
    script += panel_script(panels[i], place, ranges, several, names, ignored);
  }
  if (!keys.empty()) script += legend_script(keys, {0, 0, 1, below}, key_columns, key_rows, note);
  if (!picture.title.empty()) {
    script += fmt::format(
        "reset\nset origin 0,{0:.4f}\nset size 1,{1:.4f}\nunset border\nunset tics\nunset key\n"
        "set label 1 {2} at graph 0.5,0.5 center\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin "
        "0\nplot [0:1][0:1] NaN notitle\n",
        1 - above, above, gnuplot_quoted(picture.title));
  }
  return run_gnuplot(script + "unset multiplot\n");
}

}  // namespace speclab
