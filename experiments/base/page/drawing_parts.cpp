#include "experiments/base/page/drawing_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {

namespace {

std::vector<std::string> label_lines(const std::string& label) {
  return wrapped(label, drawing_width - 2 * letter_width, 3);
}

/// Draws the grid's lines, the axis' own line from (x, y) to its end `to`, and the texts beside it.
std::string drawn_axis(const std::string& grid, double x, double y, const std::string& to,
                       const std::string& texts) {
  return fmt::format(
      "<path class=\"grid\" stroke=\"#dddddd\" d=\"{}\"/><path class=\"frame\" stroke=\"#767676\" "
      "d=\"M{:.1f} {:.1f}{}\"/>{}",
      grid, x, y, to, texts);
}

}  // namespace

Drawing unpainted(const Figure& figure, double bottom, const std::string& label) {
  const auto lines = static_cast<double>(label_lines(label).size());
  const auto height = static_cast<int>(bottom + line_height * (1.4 + lines) + 4);
  return {figure.id, figure.title, figure.caption, figure.command, drawing_width, height, "", {}, ""};
}

double drawn_width(std::string_view text) { return letter_width * static_cast<double>(text_width(text)); }

std::vector<std::string> wrapped(const std::string& text, double width, std::size_t most) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (lines.empty() || drawn_width(lines.back() + " " + word) > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  const bool more = lines.size() > most;
  if (more) lines.resize(most);
  for (std::string& each : lines) {
    const bool last = &each == &lines.back();
    const bool cut = drawn_width(each) > width || (more && last);
    while (cut && !each.empty() && drawn_width(each) + letter_width > width) {
      do each.pop_back();
      while (!each.empty() && (static_cast<unsigned char>(each.back()) & 0xc0U) == 0x80U);
      // Removes the first byte of a cut multi-byte character, which still remains.
      if (!each.empty() && (static_cast<unsigned char>(each.back()) & 0xc0U) == 0xc0U) each.pop_back();
    }
    if (cut) each += "…";
  }
  return lines;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escape_markup(text));
}

std::string axis_below(const Axis& axis, double top, double bottom, const std::string& label, bool whole) {
  std::vector<double> ticks;
  for (int most = 8; most >= 2; --most) {
    ticks = ticks_of(axis, most, whole);
    double free_from = -INFINITY;
    const bool clear = std::all_of(ticks.begin(), ticks.end(), [&](double value) {
      const double half = drawn_width(tick_text(value)) / 2;
      const bool fits = axis.place(value) - half > free_from && axis.place(value) + half <= drawing_width;
      free_from = axis.place(value) + half + letter_width;
      return fits;
    });
    if (clear) break;
  }
  std::string lines;
  std::string texts;
  for (const double value : ticks) {
    lines += fmt::format("M{:.1f} {:.1f}V{:.1f}", axis.place(value), top, bottom);
    texts += text_at(axis.place(value), bottom + line_height, "middle", tick_text(value));
  }
  double y = bottom + 2 * line_height + 3;
  for (const std::string& line : label_lines(label)) {
    const double half = drawn_width(line) / 2;
    const double centre = std::max(half, std::min((axis.from + axis.to) / 2, drawing_width - half));
    texts += text_at(centre, y, "middle", line);
    y += line_height;
  }
  return drawn_axis(lines, axis.from, bottom, fmt::format("H{:.1f}", axis.to), texts);
}

std::string axis_left(const Axis& axis, double left, double right, bool whole) {
  constexpr int most = 7;
  constexpr double half_letter = 5;
  std::string lines;
  std::string texts;
  for (const double value : ticks_of(axis, most, whole)) {
    lines += fmt::format("M{:.1f} {:.1f}H{:.1f}", left, axis.place(value), right);
    texts += text_at(left - half_letter - 1, axis.place(value) + half_letter, "end", tick_text(value));
  }
  return drawn_axis(lines, left, axis.from, fmt::format("V{:.1f}", axis.to), texts);
}

std::string marker_at(std::size_t colour, double x, double y, double radius) {
  const double r = radius;
  constexpr std::size_t shapes = 5;
  switch (colour % shapes) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x, y, r);
    case 1:
      return fmt::format("<path d=\"M{0:.1f} {1:.1f}h{2:.1f}v{2:.1f}h-{2:.1f}z\"/>", x - .9 * r, y - .9 * r,
                         1.8 * r);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h-{:.1f}z\"/>", x, y - 1.2 * r, 1.15 * r,
                         2 * r, 2.3 * r);
    case 3:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} -{:.1f}h-{:.1f}z\"/>", x, y + 1.2 * r, 1.15 * r,
                         2 * r, 2.3 * r);
    default:
      return fmt::format("<path d=\"M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}l-{2:.1f} {2:.1f}l-{2:.1f} -{2:.1f}z\"/>",
                         x, y - 1.25 * r, 1.25 * r);
  }
}

std::string coloured_group(std::size_t colour, std::size_t series, std::string_view content) {
  return fmt::format("<g class=\"c{}\" color=\"{}\" data-series=\"{}\">{}</g>\n", colour,
                     light_palette.at(colour), series, content);
}

std::vector<LegendEntry> legend_of(const Figure& figure, const std::vector<std::size_t>& colours,
                                   const std::vector<std::string>& dashes) {
  constexpr double middle = 7;
  constexpr double radius = 4.2;
  std::vector<LegendEntry> legend;
  std::vector<std::size_t> entry_of(figure.series.size(), figure.series.size());
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (series.x.empty()) continue;
    if (!series.name.empty()) {
      entry_of[i] = legend.size();
      legend.push_back({series.name, colours[i], "", {}});
    } else if (series.colour_of) {
      entry_of[i] = entry_of[*series.colour_of];
    }
    if (entry_of[i] >= legend.size()) continue;
    LegendEntry& entry = legend[entry_of[i]];
    entry.series.push_back(i);
    switch (series.style) {
      case SeriesStyle::points:
        entry.sample += marker_at(colours[i], 12, middle, radius);
        break;
      case SeriesStyle::levels:
        entry.sample += "<path d=\"M12 0v14\" stroke=\"currentColor\" stroke-width=\"2.5\"/>";
        break;
      case SeriesStyle::line:
      case SeriesStyle::steps:
        entry.sample +=
            fmt::format("<path d=\"M0 7h24\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\"{}/>",
                        dashes[i].empty() ? "" : " stroke-dasharray=\"5 3\"");
        break;
    }
  }
  return legend;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < ' ' || letter == '<' || letter == '"' || letter == '\\') {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += letter;
    }
  }
  return out + '"';
}

std::string json_list(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) {
    out += out.empty() ? "" : ",";
    out += std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
  }
  return "[" + out + "]";
}

std::string series_json(const Figure& figure, const std::vector<Placed>& places, std::string_view kind) {
  std::vector<std::string> series;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& one = figure.series[i];
    const std::string& name =
        one.name.empty() && one.colour_of ? figure.series[*one.colour_of].name : one.name;
    std::string text = fmt::format("{{\"name\":{},\"line\":{},\"x\":{},\"y\":{},\"px\":{},\"py\":{}",
                                   json_text(name), one.style != SeriesStyle::points, json_list(one.x),
                                   json_list(one.y), json_list(places[i].px), json_list(places[i].py));
    if (!one.low.empty())
      text += fmt::format(",\"low\":{},\"high\":{}", json_list(one.low), json_list(one.high));
    if (!one.names.empty()) {
      std::vector<std::string> points;
      for (const std::string& point : one.names) points.push_back(json_text(point));
      text += fmt::format(",\"names\":[{}]", fmt::join(points, ","));
    }
    series.push_back(text + "}");
  }
  std::vector<std::string> names;
  for (const std::string& name : figure.categories) names.push_back(json_text(name));
  return fmt::format("{{\"kind\":\"{}\",\"x\":{},\"y\":{},\"names\":[{}],\"series\":[{}]", kind,
                     json_text(figure.x_label), json_text(figure.y_label), fmt::join(names, ","),
                     fmt::join(series, ","));
}

}  // namespace speclab
