#include "experiments/presentation/set_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/report/cells.hpp"

namespace speclab {

namespace {

const Json* value_at(const CellResult& cell, const std::string& path) {
  for (const auto& [set, value] : cell.set) {
    if (set == path) return value.get();
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> set_paths(const std::vector<CellResult>& cells) {
  std::vector<std::string> paths;
  for (const CellResult& cell : cells) {
    for (const auto& [path, value] : cell.set) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

std::optional<double> set_number(const CellResult& cell, const std::string& path) {
  const Json* value = value_at(cell, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::string> set_text(const CellResult& cell, const std::string& path) {
  const Json* value = value_at(cell, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return number_text(value->get<double>());
  // A kind with its parameters goes by its name.
  const auto kind = value->is_object() ? value->find("kind") : value->end();
  if (value->is_object() && kind != value->end() && kind->is_string()) return kind->get<std::string>();
  return value->is_string() ? value->get<std::string>() : value->dump();
}

CsvValue set_csv(const CellResult& cell, const std::string& path) {
  const Json* value = value_at(cell, path);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (value->is_number()) return value->get<double>();
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string axis_label(const std::string& path) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto found = symbols.find(name);
  return found == symbols.end() ? name : found->second;
}

void add_interval(std::vector<CsvValue>& row, const Interval* interval) {
  const auto field = [](double value) {
    return std::isfinite(value) ? CsvValue(value) : CsvValue(std::string());
  };
  row.push_back(interval != nullptr ? field(interval->estimate) : CsvValue(std::string()));
  row.push_back(interval != nullptr ? field(interval->low) : CsvValue(std::string()));
  row.push_back(interval != nullptr ? field(interval->high) : CsvValue(std::string()));
}

}  // namespace speclab
