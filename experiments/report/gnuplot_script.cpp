#include "experiments/report/gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "experiments/report/text_width.hpp"

namespace speclab {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr int plot_width = 610;
constexpr int plot_height = 450;
constexpr int colour_box_width = 130;
// Of one place on a categorical axis, and what a letter of its longest slanted name adds to the height.
constexpr int category_width = 34;
constexpr int category_letter = 5;

// Okabe and Ito's colours, which the colour-blind tell apart, less their yellow, which is lost on white; then
// darker ones from Paul Tol's "muted" set.
constexpr std::array<const char*, 12> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#882255",
                                                 "#332288", "#999933", "#117733", "#888888"};
// Filled circle, square, triangle, triangle upside down, diamond.
constexpr std::array<int, 5> markers = {7, 5, 9, 11, 13};

constexpr const char* viridis =
    "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', 5 '#27ad81', "
    "6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n";

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "NaN"; }

std::string range(const std::optional<AxisRange>& wanted) {
  return wanted ? fmt::format("[{}:{}]", wanted->low, wanted->high) : "[*:*]";
}

void write_frame(Out out, const Figure& figure, int width, int height) {
  fmt::format_to(out,
                 "set encoding utf8\n"
                 "set terminal svg size {},{} fixed noenhanced font 'sans-serif,15' background rgb 'white' "
                 "linewidth 1.2\n"
                 "set border 3 lc rgb '#555555'\nset tics nomirror scale 0.6 textcolor rgb '#222222'\n"
                 "set grid back lc rgb '#dddddd' lw 0.8 dt 1\nset format '%h'\n"
                 "set title {} offset 0,-0.4\nset xlabel {}\nset ylabel {}\n",
                 width, height, gnuplot_quoted(figure.title), gnuplot_quoted(figure.x_label),
                 gnuplot_quoted(figure.y_label));
  if (figure.log_x) fmt::format_to(out, "set logscale x\n");
  if (figure.log_y) fmt::format_to(out, "set logscale y\n");
}

// Of the widest name, in columns of text.
int widest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, text_width(name));
  return static_cast<int>(most);
}

// Where the legend goes, and the room it needs.
struct Legend {
  std::string place = "unset key\n";
  int width = 0;
  int height = 0;
};

// Beside the plot, or below it where the room beside it is taken (or wanted for a wide axis), or where it is
// short and its names are long.
Legend legend_of(const std::vector<std::string>& names, bool taken) {
  constexpr int long_name = 20;
  constexpr std::size_t short_list = 2;
  constexpr int row_height = 28;
  constexpr int letter_width = 9;
  // More rows than this do not fit beside the plot, and gnuplot would begin a second column.
  constexpr int rows_beside = 10;
  constexpr int sample_width = 70;
  if (names.empty()) return {};
  const int longest = widest(names);
  const std::string style = "Left reverse samplen 2 spacing 1.2\n";
  if (taken || (names.size() <= short_list && longest > long_name)) {
    return {"set key outside bottom center vertical height 1 maxcols 1 " + style, 0,
            row_height * static_cast<int>(names.size() + 1)};
  }
  return {"set key outside right top vertical " + style, sample_width + letter_width * longest,
          std::max(0, row_height * (static_cast<int>(names.size()) - rows_beside))};
}

std::string plot_elements(const std::vector<std::string>& elements) {
  return fmt::format("plot {}\n", fmt::join(elements, ", \\\n  "));
}

// ---- curves and points

std::string style_of(const Series& series, const char* colour, int marker) {
  switch (series.style) {
    case SeriesStyle::line:
      return fmt::format("lines lw 2 lc rgb '{}'", colour);
    case SeriesStyle::steps:
      return fmt::format("steps lw 2 lc rgb '{}'", colour);
    case SeriesStyle::levels:
      return fmt::format("vectors nohead lw 2.5 lc rgb '{}'", colour);
    case SeriesStyle::points:
      break;
  }
  return fmt::format("points lc rgb '{}' pt {} ps 0.7", colour, marker);
}

void write_data(Out out, const Series& series, std::size_t index) {
  fmt::format_to(out, "$series{} << EOD\n", index);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    fmt::format_to(out, "{} {}", number(series.x[i]), number(series.y[i]));
    if (!series.low.empty()) fmt::format_to(out, " {} {}", number(series.low[i]), number(series.high[i]));
    fmt::format_to(out, "\n");
  }
  fmt::format_to(out, "EOD\n");
}

void write_series(Out out, const Figure& figure, std::vector<std::string>& elements) {
  std::vector<std::size_t> colour_index;
  // Over a heat map the first colour would be lost among the cells.
  std::size_t next = figure.heat ? 1 : 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    colour_index.push_back(series.colour_of ? colour_index[*series.colour_of] : next++);
    if (series.x.empty()) continue;
    write_data(out, series, i);
    const char* colour = colours[colour_index[i] % colours.size()];
    // Two-headed arrows with flat heads: gnuplot's own error bars put a white disc under each marker, which
    // hides the short ones.
    if (!series.low.empty()) {
      elements.push_back(
          fmt::format("$series{} using 1:3:(0):($4-$3) with vectors heads size screen 0.006,90 "
                      "lw 1.2 lc rgb '{}' notitle",
                      i, colour));
    }
    const std::string title = series.name.empty() ? "notitle" : "title " + gnuplot_quoted(series.name);
    const char* columns = series.style == SeriesStyle::levels ? "($1-0.4):2:(0.8):(0)" : "1:2";
    elements.push_back(fmt::format("$series{} using {} with {} {}", i, columns,
                                   style_of(series, colour, markers[colour_index[i] % markers.size()]),
                                   title));
  }
}

// ---- heat map

// The n + 1 borders of n cells.
std::vector<double> cell_borders(std::span<const double> centres, bool logarithmic) {
  const auto to = [&](double v) { return logarithmic ? std::log(v) : v; };
  const auto from = [&](double v) { return logarithmic ? std::exp(v) : v; };
  const std::size_t n = centres.size();
  if (n == 1) return {from(to(centres[0]) - 0.5), from(to(centres[0]) + 0.5)};
  std::vector<double> borders(n + 1);
  for (std::size_t i = 1; i < n; ++i) borders[i] = (to(centres[i - 1]) + to(centres[i])) / 2;
  borders[0] = 2 * to(centres[0]) - borders[1];
  borders[n] = 2 * to(centres[n - 1]) - borders[n - 1];
  for (double& border : borders) border = from(border);
  return borders;
}

void write_heat(Out out, const Figure& figure, std::vector<std::string>& elements) {
  const HeatMap& heat = *figure.heat;
  const auto x = cell_borders(heat.x, figure.log_x);
  const auto y = cell_borders(heat.y, figure.log_y);
  // The offset keeps the label clear of numbers as wide as 0.001.
  fmt::format_to(out,
                 "{}set cblabel {} offset 2.5,0\nset colorbox\n{}unset grid\nset tics out\n$heat << EOD\n",
                 viridis, gnuplot_quoted(heat.z_label), heat.log_z ? "set logscale cb\n" : "");
  for (std::size_t row = 0; row < heat.y.size(); ++row) {
    for (std::size_t column = 0; column < heat.x.size(); ++column) {
      const double z = heat.z[row][column];
      if (!std::isfinite(z) || (heat.log_z && z <= 0)) continue;
      fmt::format_to(out, "{} {} {} {} {} {} {}\n", heat.x[column], heat.y[row], x[column], x[column + 1],
                     y[row], y[row + 1], z);
    }
  }
  fmt::format_to(out, "EOD\n");
  if (!figure.x_range) fmt::format_to(out, "set xrange [{}:{}]\n", x.front(), x.back());
  if (!figure.y_range) fmt::format_to(out, "set yrange [{}:{}]\n", y.front(), y.back());
  // Borders in the cells' own colours hide the seams that smoothing leaves between them.
  elements.emplace_back(
      "$heat using 1:2:3:4:5:6:7 with boxxyerror lc palette fillstyle solid noborder notitle");
}

// A label at a place of an axis. gnuplot reads a label of an axis, unlike other text, as a format for its
// place.
std::string tic(const std::string& label, double place) {
  std::string format;
  for (const char letter : label) format.append(letter == '%' ? 2 : 1, letter);
  return fmt::format("{} {}", gnuplot_quoted(format), place);
}

// Names below a categorical axis, slanted so that long ones keep clear of one another.
void write_categories(Out out, const std::vector<std::string>& categories) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    tics.push_back(tic(categories[i], static_cast<double>(i)));
  }
  fmt::format_to(out, "set xtics rotate by 45 right scale 0 ({})\n", fmt::join(tics, ", "));
}

std::string plane_script(const Figure& figure) {
  std::vector<std::string> names;
  for (const Series& series : figure.series) {
    if (!series.name.empty() && !series.x.empty()) names.push_back(series.name);
  }
  const Legend legend = legend_of(names, figure.heat.has_value() || !figure.categories.empty());
  const int beside = figure.heat ? colour_box_width : legend.width;
  std::string script;
  const Out out(script);
  const int width = std::max(plot_width, category_width * static_cast<int>(figure.categories.size()));
  write_frame(out, figure, width + beside,
              plot_height + legend.height + category_letter * widest(figure.categories));
  std::optional<AxisRange> x_range = figure.x_range;
  if (!figure.categories.empty()) {
    write_categories(out, figure.categories);
    x_range = AxisRange{-0.6, static_cast<double>(figure.categories.size()) - 0.4};
  }
  fmt::format_to(out, "set xrange {}\nset yrange {}\n{}", range(x_range), range(figure.y_range),
                 legend.place);
  std::vector<std::string> elements;
  if (figure.heat) write_heat(out, figure, elements);
  write_series(out, figure, elements);
  return script + plot_elements(elements);
}

// ---- trace diagram

std::vector<std::string> kinds_of(const std::vector<TraceRow>& rows) {
  std::vector<std::string> kinds;
  for (const TraceRow& row : rows) {
    for (const TraceBlock& block : row.blocks) {
      if (std::find(kinds.begin(), kinds.end(), block.kind) == kinds.end()) kinds.push_back(block.kind);
    }
  }
  return kinds;
}

std::string trace_script(const Figure& figure) {
  constexpr int frame_height = 150;
  constexpr int row_height = 44;
  constexpr int label_width = 100;
  constexpr double half_block = 0.3;
  const std::vector<TraceRow>& rows = figure.trace;
  const auto kinds = kinds_of(rows);
  std::string script;
  const Out out(script);
  const Legend legend = legend_of(kinds, false);
  write_frame(
      out, figure, plot_width + label_width + legend.width,
      frame_height + legend.height + row_height * static_cast<int>(std::max(rows.size(), kinds.size())));
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    tics.push_back(tic(rows[i].label, static_cast<double>(i + 1)));
  }
  fmt::format_to(
      out, "set ytics ({}) scale 0\nset grid x noy\nset border 1\nset xrange {}\nset yrange [{}:0.4]\n{}",
      fmt::join(tics, ", "), figure.x_range ? range(figure.x_range) : "[0:*]",
      static_cast<double>(rows.size()) + 0.6, legend.place);
  std::vector<std::string> elements;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    fmt::format_to(out, "$kind{} << EOD\n", kind);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double y = static_cast<double>(row + 1);
      for (const TraceBlock& block : rows[row].blocks) {
        if (block.kind != kinds[kind]) continue;
        fmt::format_to(out, "{} {} {} {} {} {}\n", (block.start + block.end) / 2, y, block.start, block.end,
                       y - half_block, y + half_block);
      }
    }
    fmt::format_to(out, "EOD\n");
    elements.push_back(
        fmt::format("$kind{} using 1:2:3:4:5:6 with boxxyerror fillstyle solid border lc rgb 'white' "
                    "lw 0.6 fillcolor rgb '{}' title {}",
                    kind, colours[kind % colours.size()], gnuplot_quoted(kinds[kind])));
  }
  return script + plot_elements(elements);
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
  // Octal, for whatever could be special: gnuplot's rules for quotes, macros and backquotes inside strings
  // have exceptions. The leading zero makes it read four digits, even when a digit follows.
  constexpr std::string_view plain_punctuation = " ,.:;-+=()";
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool letter_or_digit = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                                 (letter >= 'a' && letter <= 'z');
    if (byte < ' ') {
      out += ' ';
    } else if (byte >= 0x80U || letter_or_digit || plain_punctuation.find(letter) != std::string_view::npos) {
      out += letter;
    } else {
      out += fmt::format("\\0{:03o}", byte);
    }
  }
  return out + '"';
}

std::string gnuplot_script(const Figure& figure) {
  return figure.trace.empty() ? plane_script(figure) : trace_script(figure);
}

}  // namespace speclab
