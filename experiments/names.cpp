#include "experiments/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/metrics.hpp"

namespace speclab {

namespace {

void check_metric(const std::string& name, const std::string& path) {
  std::vector<std::string> known;
  for (const Metric& metric : metrics()) {
    if (name == metric.name) return;
    known.emplace_back(metric.name);
  }
  throw ConfigError(path, fmt::format("unknown metric \"{}\"{}", name, suggestion(name, known)));
}

/// Printed values are text, so that their digits count, and must still be numbers.
void check_printed(const Json& printed, const std::string& path) {
  for (const auto& [metric, value] : printed.items()) {
    const std::string here = fmt::format("{}/{}", path, metric);
    check_metric(metric, here);
    const auto text = value.get<std::string>();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
      throw ConfigError(here, fmt::format("{} is not a number in quotes, such as \"2.4\"", shown(value)));
    }
  }
}

}  // namespace

void check_names(const Json& resolved) {
  std::vector<std::string> varied;
  if (resolved.contains("sweep")) {
    for (const auto& [path, axis] : resolved.at("sweep").items()) varied.push_back(path);
  }
  if (resolved.contains("cases")) {
    for (std::size_t i = 0; i < resolved.at("cases").size(); ++i) {
      const Json& one = resolved.at("cases")[i];
      for (const auto& [path, value] : one.at("set").items()) varied.push_back(path);
      const std::string printed = fmt::format("/cases/{}/printed", i);
      check_printed(one.at("printed"), printed);
      const Json& experiment = resolved.at("experiment");
      if ((experiment == "verifiers" || experiment == "schedules") && !one.at("printed").empty()) {
        throw ConfigError(
            printed,
            fmt::format("{} has no formula to judge printed values by; {}", experiment.get<std::string>(),
                        experiment == "verifiers" ? "show them as \"measured\"" : "leave them out"));
      }
    }
  }
  if (resolved.contains("metrics")) {
    for (std::size_t i = 0; i < resolved.at("metrics").size(); ++i) {
      check_metric(resolved.at("metrics")[i].get<std::string>(), fmt::format("/metrics/{}", i));
    }
  }
  if (!resolved.contains("figures")) return;
  for (std::size_t i = 0; i < resolved.at("figures").size(); ++i) {
    const Json& figure = resolved.at("figures")[i];
    check_metric(figure.at("y").get<std::string>(), fmt::format("/figures/{}/y", i));
    for (const char* key : {"x", "series"}) {
      const auto path = figure.at(key).get<std::string>();
      if (path.empty() || std::find(varied.begin(), varied.end(), path) != varied.end()) continue;
      throw ConfigError(fmt::format("/figures/{}/{}", i, key),
                        fmt::format("\"{}\" is not swept and no case sets it", path));
    }
  }
}

}  // namespace speclab
