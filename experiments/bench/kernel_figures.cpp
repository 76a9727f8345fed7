#include "experiments/bench/kernel_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "experiments/bench/kernel_sweep.hpp"
#include "kernels/bench/measure.hpp"

namespace speclab {

namespace {

/// Points by method, in the order of their rows.
class Curves {
 public:
  void add(const std::string& method, double x, double y) {
    auto found = std::find_if(curves_.begin(), curves_.end(),
                              [&](const auto& curve) { return curve.first == method; });
    if (found == curves_.end()) found = curves_.insert(curves_.end(), {method, {}});
    found->second.emplace_back(x, y);
  }

  std::vector<Series> series() {
    std::vector<Series> all;
    for (auto& [method, points] : curves_) {
      std::sort(points.begin(), points.end());
      Series series{.name = method,
                    .style = SeriesStyle::points,
                    .x = {},
                    .y = {},
                    .low = {},
                    .high = {},
                    .colour_of = {}};
      for (const auto& [x, y] : points) {
        series.x.push_back(x);
        series.y.push_back(y);
      }
      // A line through them, without a name of its own.
      Series line = series;
      line.name.clear();
      line.style = SeriesStyle::line;
      line.colour_of = all.size();
      all.push_back(std::move(series));
      all.push_back(std::move(line));
    }
    return all;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> curves_;
};

Figure figure_of(std::string id, std::string title, std::string x_label, std::string y_label,
                 std::vector<Series> series, std::string caption) {
  return {.id = std::move(id),
          .title = std::move(title),
          .x_label = std::move(x_label),
          .y_label = std::move(y_label),
          .log_x = true,
          .log_y = true,
          .x_range = {},
          .y_range = {},
          .series = std::move(series),
          .heat = {},
          .trace = {},
          .caption = std::move(caption),
          .command = "speclab bench kernels --from result.json --out FOLDER"};
}

bool drawable(const Json& row, const char* key) {
  return !row.at(key).is_null() && row.at(key).get<double>() > 0;
}

}  // namespace

std::vector<Figure> kernel_figures(const Json& result) {
  const Json& rows = result.at("verification");
  if (rows.empty()) return {};
  const BenchShape centre = centre_shape();
  const Json leading = rows.front().at("dtype");
  std::vector<Figure> figures;
  for (const char* const cache : {"flushed", "hot"}) {
    Curves roofline;
    Curves times;
    for (const Json& row : rows) {
      if (row.at("cache") != cache || row.at("dtype") != leading) continue;
      const auto method = row.at("method").get<std::string>();
      // One curve needs one alpha: that of the first row.
      if (row.at("alpha") != rows.front().at("alpha")) continue;
      if (drawable(row, "bytes") && drawable(row, "gb_per_s")) {
        roofline.add(method, row.at("bytes").get<double>() / 1e6, row.at("gb_per_s").get<double>());
      }
      const bool on_axis = row.at("gamma") == centre.gamma && row.at("vocab") == centre.vocab;
      if (on_axis && drawable(row, "median_us")) {
        times.add(method, row.at("requests").get<double>(), row.at("median_us").get<double>());
      }
    }
    const std::string where =
        fmt::format("{}, alpha = {}", leading.get<std::string>(), rows.front().at("alpha").get<double>());
    if (auto series = roofline.series(); !series.empty()) {
      figures.push_back(figure_of(
          fmt::format("roofline-{}", cache), fmt::format("Rate over bytes moved, cache {}", cache),
          "MB moved, as counted", "GB/s", std::move(series),
          fmt::format("All sizes; {}. The copies and the read kernel, over the bytes of the logits, are what "
                      "the device allows. Medians.",
                      where)));
    }
    if (auto series = times.series(); !series.empty()) {
      figures.push_back(
          figure_of(fmt::format("requests-{}", cache), fmt::format("Time over requests, cache {}", cache),
                    "requests in a batch", "us", std::move(series),
                    fmt::format("gamma = {}, V = {}, {}. Medians.", centre.gamma, centre.vocab, where)));
    }
  }
  return figures;
}

}  // namespace speclab
