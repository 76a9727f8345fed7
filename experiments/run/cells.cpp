#include "experiments/run/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_io.hpp"

namespace speclab {

namespace {

constexpr double max_cells = 1e6;
constexpr double bytes_of_cell = 4500;  // measured: of 10^5 cells of "predict", with their results

/// Removes the decimal noise of from + i * step: 0.30000000000000004 is meant as 0.3.
double tidy(double value) { return std::round(value * 1e12) / 1e12; }

/// {"from", "to", "step"} or {"from", "to", "count"}.
struct Range {
  double from = 0;
  double to = 0;
  std::optional<double> step;
  std::optional<std::int64_t> count;
};

const Typed<Range>& range_type() {
  static const auto type = object<Range>(
      "a range", "Numbers at equal distances: \"step\" or \"count\" says how many.",
      {required(field("from", &Range::from, number(-1e300, 1e300), "The first value.")),
       required(field("to", &Range::to, number(-1e300, 1e300), "The last value, or its bound.")),
       field("step", &Range::step, number(-1e300, 1e300), "Distance of neighbours."),
       integer_field("count", &Range::count, 1, max_cells, "Number of values.")});
  return type;
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

using Values = OrderedMap<std::shared_ptr<const Json>>;

std::string label_of(const Values& set) {
  std::string label;
  for (const auto& [path, value] : set) {
    const std::string name = path.substr(path.rfind('/') + 1);
    label += fmt::format("{}{} = {}", label.empty() ? "" : ", ", name,
                         value->is_string() ? value->get<std::string>() : shown(*value));
  }
  return label;
}

bool contains(const Values& values, const std::string& path) {
  return std::any_of(values.begin(), values.end(), [&](const auto& one) { return one.first == path; });
}

/// Replaces the value of a path that is set already.
void set_value(Values& values, const std::string& path, std::shared_ptr<const Json> value) {
  for (auto& [known, held] : values) {
    if (known != path) continue;
    held = std::move(value);
    return;
  }
  values.emplace_back(path, std::move(value));
}

struct Axis {
  std::string path;
  std::vector<std::shared_ptr<const Json>> values;
};

/// The axes of the sweep; ConfigError when they make too many cells of `cases` cases.
std::vector<Axis> axes_of(const Config& config, std::size_t cases) {
  std::vector<Axis> axes;
  double count = static_cast<double>(cases);
  if (config.sweep) {
    if (config.sweep->empty()) throw ConfigError("/sweep", "has no paths; leave it out to run one cell");
    for (const auto& [path, axis] : *config.sweep) {
      refuse_common_key(path, "/sweep/" + path);
      Axis& made = axes.emplace_back(Axis{path, {}});
      for (Json& value : axis_values(*axis, "/sweep/" + path))
        made.values.push_back(std::make_shared<const Json>(std::move(value)));
      count *= static_cast<double>(made.values.size());
    }
  }
  if (count > max_cells)
    throw ConfigError("/sweep", fmt::format("{} cells; at most {} are allowed", count, max_cells));
  return axes;
}

/// The parts of a config that its cells do not have.
constexpr std::array not_of_cells{"cases", "sweep", "figures", "metrics", "about", "source"};

/// The config of one cell that sets nothing.
Config only_cell(Config config) {
  config.cases.reset();
  config.sweep.reset();
  config.figures.reset();
  config.metrics.reset();
  config.about.clear();
  config.source.clear();
  config.input.reset();
  return config;
}

/// The config of one cell: `base` with the cell's values.
Config cell_config(const Json& base, const Values& set, const Values& of_case, const std::string& set_path) {
  Json json = base;
  for (const auto& [path, value] : set)
    set_at(json, path, *value, contains(of_case, path) ? set_path : "/sweep");
  try {
    Config config = read_config(json);
    config.input.reset();  // a million cells are many copies
    return config;
  } catch (const ConfigError& error) {
    throw ConfigError(error.path, fmt::format("{} (in the cell {})", error.what(), label_of(set)));
  }
}

/// Moves to the next combination of values, the last axis fastest; false after the last one.
bool advance(std::vector<std::size_t>& at, const std::vector<Axis>& axes) {
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    if (++at[axis] < axes[axis].values.size()) return true;
    at[axis] = 0;
  }
  return false;
}

}  // namespace

std::vector<Json> axis_values(const Json& axis, const std::string& path) {
  std::vector<Json> values;
  if (axis.is_array()) {
    for (const Json& value : axis) values.push_back(value);
  } else if (axis.is_object()) {
    const Range range = read(range_type(), axis, path);
    if (range.count.has_value() == range.step.has_value())
      throw ConfigError(path, "give either \"step\" or \"count\"");
    const double steps =
        range.count ? static_cast<double>(*range.count - 1) : (range.to - range.from) / *range.step;
    if (!(steps >= 0) || !(steps < max_cells)) {
      throw ConfigError(path, fmt::format("{} is not a range of 1 to {} values", shown(axis), max_cells));
    }
    const double last = std::floor(steps + 1e-9);
    for (double i = 0; i <= last; ++i) {
      const double value = range.step ? range.from + i * *range.step
                                      : range.from + i / std::max(last, 1.0) * (range.to - range.from);
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

std::vector<CellSpec> expand(const Config& config) {
  const std::vector<CaseConfig> cases = config.cases.value_or(std::vector<CaseConfig>(1));
  const std::vector<Axis> axes = axes_of(config, cases.size());
  Json base = *config.input;
  for (const char* key : not_of_cells) base.erase(key);

  double count = static_cast<double>(cases.size());
  for (const Axis& axis : axes) count *= static_cast<double>(axis.values.size());
  require_memory(count * bytes_of_cell, "/sweep", fmt::format("{} cells", count));
  std::vector<CellSpec> cells;
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const CaseConfig& one = cases[index];
    const std::string set_path = fmt::format("/cases/{}/set", index);
    for (const auto& [path, value] : one.set) refuse_common_key(path, set_path);
    std::vector<std::size_t> at(axes.size(), 0);
    do {
      Values set = one.set;
      for (std::size_t axis = 0; axis < axes.size(); ++axis)
        set_value(set, axes[axis].path, axes[axis].values[at[axis]]);
      CellSpec& cell = cells.emplace_back(
          CellSpec{one, set.empty() ? only_cell(config) : cell_config(base, set, one.set, set_path)});
      if (one.label.empty()) cell.label = label_of(set);
      cell.set = std::move(set);
    } while (advance(at, axes));
  }
  return cells;
}

}  // namespace speclab
