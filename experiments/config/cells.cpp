#include "experiments/config/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

using GridValues = OrderedMap<std::shared_ptr<const Json>>;

struct GridAxis {
  std::string path;
  std::vector<std::shared_ptr<const Json>> values;
};

/// The place in the config of a path that cells set. The key that contains it is read anew for each cell.
struct GridPlace {
  std::string key;
  const Field* field = nullptr;  ///< null: the whole config must be read
  bool deep = false;             ///< true if the path goes on below the key
};

struct GridPlan {
  Config whole;   ///< the config of a cell that sets nothing
  Json base;      ///< the config's JSON without the keys that cells lack
  Config common;  ///< `base`, read by itself
  std::vector<CaseConfig> cases;
  std::vector<GridAxis> axes;
  std::map<std::string, GridPlace> places = {};

  Config config_of(const GridValues& set, std::size_t of_case) const;
  bool read_quickly(const GridValues& set, Config& config) const;
};

namespace {

constexpr double max_cells = 1e6;
constexpr double bytes_of_cell = 3500;  // measured with 10^5 cells of "predict" and their results

/// Removes the decimal noise of from + i * step: 0.30000000000000004 becomes 0.3. Whole numbers have none.
double tidy(double value) {
  if (value == std::round(value)) return value;
  constexpr double max_decimals = 9000;  // above it a double has fewer than 12 decimals
  return std::abs(value) < max_decimals ? std::round(value * 1e12) / 1e12
                                        : std::stod(fmt::format("{:.15g}", value));
}
/// Smallest range that is tidied; 12 decimals keep few digits of smaller ones.
constexpr double min_tidied = 1e-6;

/// {"from", "to", "step"} or {"from", "to", "count"}.
struct Range {
  double from = 0;
  double to = 0;
  std::optional<double> step;
  std::optional<std::int64_t> count;
};

const Typed<Range>& range_type() {
  static const auto type = object<Range>(
      "a range", "Equally spaced numbers, by \"step\" or \"count\".",
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

/// Throws ConfigError for keys of the config as a whole: if a cell set them, that would have no effect, or
/// only part of it.
void refuse_common_key(const std::string& path, const std::string& where) {
  static constexpr std::array common{"experiment", "confidence", "simultaneous", "cases",
                                     "sweep",      "metrics",    "figures"};
  const std::string name = path.substr(0, path.find('/', 1));
  for (const char* key : common) {
    if (name == std::string("/") + key)
      throw ConfigError(where, "\"{}\" is the same for all cells of a config", path);
  }
}

std::string label_of(const GridValues& set) {
  std::string label;
  for (const auto& [path, value] : set) {
    const std::string name = path.substr(path.rfind('/') + 1);
    label += fmt::format("{}{} = {}", label.empty() ? "" : ", ", name,
                         value->is_string() ? value->get<std::string>() : shown(*value));
  }
  return label;
}

void set_value(GridValues& values, const std::string& path, std::shared_ptr<const Json> value) {
  const auto known = std::ranges::find(values, path, &GridValues::value_type::first);
  if (known != values.end())
    known->second = std::move(value);
  else
    values.emplace_back(path, std::move(value));
}

/// Returns the axes of the sweep. Throws ConfigError if they make too many cells with `cases` cases.
std::vector<GridAxis> axes_of(const Config& config, std::size_t cases) {
  std::vector<GridAxis> axes;
  double count = static_cast<double>(cases);
  if (config.sweep) {
    if (config.sweep->empty()) throw ConfigError("/sweep", "has no paths; leave it out to run one cell");
    for (const auto& [path, axis] : *config.sweep) {
      refuse_common_key(path, "/sweep/" + path);
      GridAxis& made = axes.emplace_back(GridAxis{path, {}});
      for (Json& value : axis_values(*axis, "/sweep/" + path))
        made.values.push_back(std::make_shared<const Json>(std::move(value)));
      count *= static_cast<double>(made.values.size());
    }
  }
  if (count > max_cells) throw ConfigError("/sweep", "{} cells; at most {} are allowed", count, max_cells);
  return axes;
}

/// Throws ConfigError if a path of index `from` or higher would replace a value that an earlier path sets.
void refuse_replaced(const std::vector<std::string>& set, std::size_t from, const std::string& where) {
  for (std::size_t later = from; later < set.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!(set[earlier] + "/").starts_with(set[later] + "/")) continue;
      throw ConfigError(where, "\"{}\" replaces what \"{}\" has set; leave one of them out", set[later],
                        set[earlier]);
    }
  }
}

/// The parts of a config that its cells lack.
constexpr std::array not_of_cells{"cases", "sweep", "figures", "metrics", "about", "source", "measured_note"};

/// Returns the config of a cell that sets nothing.
Config only_cell(Config config) {
  config.cases.reset();
  config.sweep.reset();
  config.figures.reset();
  config.metrics.reset();
  config.about.clear();
  config.measured_note.reset();
  config.source.clear();
  config.input.reset();
  return config;
}

GridPlace place_of(const std::string& path) {
  const std::size_t end = path.find('/', 1);
  GridPlace place{.key = path.substr(std::min<std::size_t>(path.size(), 1), end - 1),
                  .deep = end != std::string::npos};
  if (path.find('~') != std::string::npos || path.empty() || path.front() != '/') return place;
  place.field = find_named(config_type().type->object()->fields(), place.key);
  return place;
}

}  // namespace

std::vector<Json> axis_values(const Json& axis, const std::string& path) {
  std::vector<Json> values;
  if (axis.is_array()) {
    values.assign(axis.begin(), axis.end());
  } else if (axis.is_object()) {
    const Range range = read(range_type(), axis, path);
    if (range.count.has_value() == range.step.has_value())
      throw ConfigError(path, "give either \"step\" or \"count\"");
    const double steps =
        range.count ? static_cast<double>(*range.count - 1) : (range.to - range.from) / *range.step;
    if (!(steps >= 0) || !(steps < max_cells))
      throw ConfigError(path, "{} is not a range of 1 to {} values", shown(axis), max_cells);
    const bool tidied = std::max(std::abs(range.from), std::abs(range.to)) >= min_tidied;
    const double last = std::floor(steps + 1e-9);
    for (double i = 0; i <= last; ++i) {
      const double value = range.step ? range.from + i * *range.step
                                      : range.from + i / std::max(last, 1.0) * (range.to - range.from);
      values.push_back(as_number(tidied ? tidy(value) : value));
    }
  } else {
    throw ConfigError(path, "{} is not a list of values or a range {{\"from\", \"to\", \"step\"}}",
                      shown(axis));
  }
  if (values.empty()) throw ConfigError(path, "has no values");
  return values;
}

/// Sets values in `config`, a copy of the common one, by reading only the keys that contain them, which takes
/// a hundredth of the time. Returns false, and leaves `config` unusable, for values that may replace
/// everything under their key.
bool GridPlan::read_quickly(const GridValues& set, Config& config) const {
  std::map<const Field*, Json> changed;
  for (const auto& [path, value] : set) {
    const GridPlace& place = places.at(path);
    if (place.field == nullptr || value->is_structured() || value->is_null()) return false;
    if (!place.deep) {
      changed[place.field] = *value;
      continue;
    }
    const auto [known, fresh] = changed.try_emplace(place.field);
    if (fresh) {
      const auto held = base.find(place.key);
      known->second = held == base.end() ? Json::object() : *held;
    }
    if (!known->second.is_object()) return false;
    set_at(known->second, path.substr(place.key.size() + 1), *value, "/sweep");
  }
  for (const auto& [field, json] : changed)
    field->type->read(json, "/" + field->name,
                      field->optional() ? field->create(&config) : field->at(&config));
  return true;
}

Config GridPlan::config_of(const GridValues& set, std::size_t of_case) const {
  if (set.empty()) return whole;
  try {
    Config config = common;
    if (read_quickly(set, config)) return config;
  } catch (const ConfigError&) {  // reading the whole config below gives the full message
  }
  Json json = base;
  for (const auto& [path, value] : set) {
    const bool by_case = find(cases[of_case].set, path) != nullptr;
    set_at(json, path, *value, by_case ? fmt::format("/cases/{}/set", of_case) : "/sweep");
  }
  try {
    Config config = read_config(json);
    config.input.reset();  // otherwise each of a million cells would hold a copy
    return config;
  } catch (const ConfigError& error) {
    throw ConfigError(error.path, "{} (in the cell {})", error.what(), label_of(set));
  }
}

CellGrid::CellGrid(const Config& config, bool split) {
  Json base = *config.input;
  for (const char* key : not_of_cells) base.erase(key);
  const std::size_t cases = config.cases ? config.cases->size() : 1;
  GridPlan plan{.whole = only_cell(config),
                .base = base,
                .common = only_cell(read_config(base)),
                .cases = config.cases.value_or(std::vector<CaseConfig>(1)),
                .axes = axes_of(config, cases)};
  plan.whole.input = config.input;
  for (std::size_t index = 0; index < plan.cases.size(); ++index) {
    std::vector<std::string> set;
    for (const auto& [path, value] : plan.cases[index].set) {
      refuse_common_key(path, fmt::format("/cases/{}/set", index));
      plan.places.try_emplace(path, place_of(path));
      set.push_back(path);
    }
    refuse_replaced(set, 0, fmt::format("/cases/{}/set", index));
    const std::size_t of_case = set.size();
    for (const GridAxis& axis : plan.axes) set.push_back(axis.path);
    refuse_replaced(set, of_case, "/sweep");
  }
  size_ = plan.cases.size();
  for (const GridAxis& axis : plan.axes) {
    plan.places.try_emplace(axis.path, place_of(axis.path));
    size_ *= axis.values.size();
  }
  plan_ = std::make_shared<const GridPlan>(std::move(plan));
  if (!split || !config.experiment->split) return;
  std::size_t end = 0;
  for (std::size_t i = 0; i < size_; ++i) ends_.push_back(end += config.experiment->split(unsplit(i)).size());
  size_ = end;
}

std::string cell_name(const ShownConfig& config, const CaseConfig& cell) {
  GridValues swept;
  for (const auto& value : cell.set) {
    if (config.sweep && find(*config.sweep, value.first) != nullptr) swept.push_back(value);
  }
  return !config.cases || swept.empty() || cell.label == label_of(cell.set)
             ? cell.label
             : fmt::format("{}, {}", cell.label, label_of(swept));
}

const Experiment& CellGrid::experiment() const { return *plan_->whole.experiment; }

CellSpec CellGrid::unsplit(std::size_t index) const {
  GridValues values;
  std::size_t rest = index;
  std::vector<std::size_t> at(plan_->axes.size());
  for (std::size_t axis = at.size(); axis-- > 0;) {
    at[axis] = rest % plan_->axes[axis].values.size();
    rest /= plan_->axes[axis].values.size();
  }
  const CaseConfig& one = plan_->cases[rest];
  GridValues set = one.set;
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    set_value(set, plan_->axes[axis].path, plan_->axes[axis].values[at[axis]]);
  CellSpec cell{one, plan_->config_of(set, rest)};
  if (one.label.empty()) cell.label = label_of(set);
  cell.set = std::move(set);
  return cell;
}

CellSpec CellGrid::operator[](std::size_t index) const {
  if (ends_.empty()) return unsplit(index);
  const auto at = std::upper_bound(ends_.begin(), ends_.end(), index);
  const std::size_t begin = at == ends_.begin() ? 0 : *(at - 1);
  CellSpec cell = unsplit(static_cast<std::size_t>(at - ends_.begin()));
  return experiment().split(std::move(cell)).at(index - begin);
}

void require_memory_of_cells(std::size_t cells) {
  require_memory(static_cast<double>(cells) * bytes_of_cell, "/sweep",
                 fmt::format("{} cells, which one process holds at once (shards do not: --shard),", cells));
}

std::vector<CellSpec> expand(const Config& config) {
  const CellGrid grid(config, false);
  require_memory_of_cells(grid.size());
  std::vector<CellSpec> cells;
  for (std::size_t i = 0; i < grid.size(); ++i) cells.push_back(grid[i]);
  return cells;
}

}  // namespace speclab
