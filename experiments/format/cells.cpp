#include "experiments/format/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"

namespace speclab {

namespace {

constexpr double max_cells = 1e6;

/// Removes the decimal noise of from + i * step: 0.30000000000000004 is meant as 0.3.
double tidy(double value) { return std::round(value * 1e12) / 1e12; }

double number_of(const Json& axis, const char* key, const std::string& path) {
  if (!axis.contains(key) || !axis.at(key).is_number()) {
    throw ConfigError(fmt::format("{}/{}", path, key),
                      "missing or not a number; a range is {\"from\", \"to\", \"step\"} or "
                      "{\"from\", \"to\", \"count\"}");
  }
  return axis.at(key).get<double>();
}

Json as_number(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

/// Some keys describe the config as a whole; a cell's own value would change nothing, or only half of it.
void refuse_common_key(const std::string& path, const std::string& where) {
  static constexpr std::array common{"experiment", "confidence", "simultaneous", "cases",
                                     "sweep",      "metrics",    "figures"};
  const std::string name = path.substr(0, path.find('/', 1));
  for (const char* key : common) {
    if (name == std::string("/") + key) {
      throw ConfigError(where, fmt::format("\"{}\" is the same for all cells of a config", path));
    }
  }
}

std::string label_of(const Json& set) {
  std::string label;
  for (const auto& [path, value] : set.items()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    label += fmt::format("{}{} = {}", label.empty() ? "" : ", ", name,
                         value.is_string() ? value.get<std::string>() : shown(value));
  }
  return label;
}

}  // namespace

std::vector<Json> axis_values(const Json& axis, const std::string& path) {
  std::vector<Json> values;
  if (axis.is_array()) {
    for (const Json& value : axis) values.push_back(value);
  } else if (axis.is_object()) {
    for (const auto& [key, value] : axis.items()) {
      const std::vector<std::string> known{"from", "to", "step", "count"};
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw ConfigError(fmt::format("{}/{}", path, key),
                          fmt::format("unknown key \"{}\" in a range{}", key, suggestion(key, known)));
      }
    }
    const double from = number_of(axis, "from", path);
    const double to = number_of(axis, "to", path);
    const bool counted = axis.contains("count");
    if (counted == axis.contains("step")) throw ConfigError(path, "give either \"step\" or \"count\"");
    const double steps =
        counted ? number_of(axis, "count", path) - 1 : (to - from) / number_of(axis, "step", path);
    if (counted && std::floor(steps) != steps) {
      throw ConfigError(path + "/count", fmt::format("{} is not an integer", shown(axis.at("count"))));
    }
    if (!(steps >= 0) || !(steps < max_cells)) {
      throw ConfigError(path, fmt::format("{} is not a range of 1 to {} values", shown(axis), max_cells));
    }
    const auto last = static_cast<std::int64_t>(std::floor(steps + 1e-9));
    for (std::int64_t i = 0; i <= last; ++i) {
      const double share = static_cast<double>(i) / (counted && last > 0 ? static_cast<double>(last) : 1.0);
      const double value =
          counted ? from + share * (to - from) : from + share * axis.at("step").get<double>();
      values.push_back(as_number(tidy(value)));
    }
  } else {
    throw ConfigError(
        path,
        fmt::format("{} is not a list of values or a range {{\"from\", \"to\", \"step\"}}", shown(axis)));
  }
  if (values.empty()) throw ConfigError(path, "has no values");
  return values;
}

std::vector<CellSpec> expand(const Json& resolved, const Json& input) {
  std::vector<std::pair<std::string, std::vector<Json>>> axes;
  double count = resolved.contains("cases") ? static_cast<double>(resolved.at("cases").size()) : 1;
  if (resolved.contains("sweep")) {
    if (resolved.at("sweep").empty())
      throw ConfigError("/sweep", "has no paths; leave it out to run one cell");
    for (const auto& [path, axis] : resolved.at("sweep").items()) {
      refuse_common_key(path, "/sweep/" + path);
      axes.emplace_back(path, axis_values(axis, "/sweep/" + path));
      count *= static_cast<double>(axes.back().second.size());
    }
  }
  if (count > max_cells)
    throw ConfigError("/sweep", fmt::format("{} cells; at most {} are allowed", count, max_cells));

  Json base = input;
  for (const char* key : {"cases", "sweep", "figures", "metrics", "title", "about", "source"})
    base.erase(key);
  base["title"] = resolved.at("title");

  static const Json no_case = Json::object({{"label", ""},
                                            {"set", Json::object()},
                                            {"printed", Json::object()},
                                            {"measured", Json::object()},
                                            {"note", ""}});
  std::vector<CellSpec> cells;
  const std::size_t cases = resolved.contains("cases") ? resolved.at("cases").size() : 1;
  for (std::size_t index = 0; index < cases; ++index) {
    const Json& one = resolved.contains("cases") ? resolved.at("cases")[index] : no_case;
    const std::string set_path = fmt::format("/cases/{}/set", index);
    for (const auto& [path, value] : one.at("set").items()) refuse_common_key(path, set_path);
    std::vector<std::size_t> at(axes.size(), 0);
    for (bool more = true; more;) {
      CellSpec cell;
      cell.set = one.at("set");
      for (std::size_t axis = 0; axis < axes.size(); ++axis)
        cell.set[axes[axis].first] = axes[axis].second[at[axis]];
      Json config = base;
      for (const auto& [path, value] : cell.set.items())
        set_at(config, path, value, one.at("set").contains(path) ? set_path : "/sweep");
      try {
        cell.config = resolve(config);
      } catch (const ConfigError& error) {
        if (cell.set.empty()) throw;
        throw ConfigError(error.path, fmt::format("{} (in the cell {})", error.what(), label_of(cell.set)));
      }
      cell.label = one.at("label").get<std::string>();
      if (cell.label.empty()) cell.label = label_of(cell.set);
      cell.printed = one.at("printed");
      cell.measured = one.at("measured");
      cell.note = one.at("note").get<std::string>();
      cells.push_back(std::move(cell));

      more = false;
      for (std::size_t axis = axes.size(); axis-- > 0;) {
        if (++at[axis] < axes[axis].second.size()) {
          more = true;
          break;
        }
        at[axis] = 0;
      }
    }
  }
  return cells;
}

}  // namespace speclab
