#include "experiments/csv_values.hpp"

#include <algorithm>

namespace speclab {

std::vector<std::string> set_paths(const Json& cells) {
  std::vector<std::string> paths;
  for (const Json& cell : cells) {
    for (const auto& [path, value] : cell.at("set").items()) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

void add_set_values(std::vector<CsvValue>& row, const Json& cell, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) row.push_back(csv_value(cell.at("set").value(path, Json())));
}

CsvValue csv_value(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::string();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add_interval(std::vector<CsvValue>& row, const Json& from, const char* name) {
  const Json interval = from.value(name, Json());
  for (std::size_t part = 0; part < 3; ++part) {
    row.push_back(interval.is_array() ? csv_value(interval[part]) : CsvValue(std::string()));
  }
}

}  // namespace speclab
