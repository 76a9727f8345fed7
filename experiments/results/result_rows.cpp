#include "experiments/results/result_rows.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/config/config_types.hpp"

namespace speclab {

std::vector<std::string> set_paths(const std::vector<CellResult>& cells) {
  std::vector<std::string> paths;
  for (const CellResult& cell : cells) {
    for (const auto& [path, value] : cell.set) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

const Json* set_value(const CellResult& cell, const std::string& path) {
  const auto* const value = find(cell.set, path);
  return value != nullptr ? value->get() : nullptr;
}

std::optional<double> set_number(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::string column_name(const std::string& path) {
  std::string name = path.substr(path.starts_with('/') ? 1 : 0);
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return letter == '/' || letter == '.' || letter == ' '; },
      '_');
  return name;
}

ResultRows::ResultRows(const Result& result, std::vector<std::string> sets,
                       const std::vector<std::string>& columns)
    : sets_(std::move(sets)), header_{"cell", "label"} {
  for (const std::string& path : sets_) {
    // A column name that is already taken gets a prefix.
    std::string name = column_name(path);
    while (std::find(header_.begin(), header_.end(), name) != header_.end() ||
           std::find(columns.begin(), columns.end(), name) != columns.end()) {
      name = "set_" + name;
    }
    header_.push_back(std::move(name));
  }
  header_.insert(header_.end(), columns.begin(), columns.end());
  const Json config = config_json(*result.config);
  for (const char* path : {"/cost/c", "/cost/c_hat", "/gamma", "/seed"}) {
    const Json::json_pointer pointer(path);
    const bool set = std::find(sets_.begin(), sets_.end(), path) != sets_.end();
    if (set || !config.contains(pointer) || !config[pointer].is_number()) continue;
    const std::string name = column_name(path);
    if (std::find(header_.begin(), header_.end(), name) != header_.end()) continue;
    header_.push_back(name);
    constants_.push_back(csv_value(config[pointer]));
  }
  std::string files;
  std::string hashes;
  for (const InputFile& input : result.inputs) {
    files += (files.empty() ? "" : ";") + input.file;
    hashes += (hashes.empty() ? "" : ";") + input.sha256;
  }
  header_.insert(header_.end(), {"inputs", "inputs_sha256", "version"});
  constants_.insert(constants_.end(), {files, hashes, result.version});
}

std::string ResultRows::header() const { return csv(header_, {}); }

std::string ResultRows::line(std::size_t index, const CellResult& cell, std::vector<CsvValue> values) const {
  std::vector<CsvValue> row{std::uint64_t{index}, cell.label};
  for (const std::string& path : sets_) {
    const Json* value = set_value(cell, path);
    row.push_back(value != nullptr ? csv_value(*value) : CsvValue(std::string()));
  }
  std::move(values.begin(), values.end(), std::back_inserter(row));
  row.insert(row.end(), constants_.begin(), constants_.end());
  return csv_line(row);
}

}  // namespace speclab
