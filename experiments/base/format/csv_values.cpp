#include "experiments/base/format/csv_values.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace speclab {

CsvValue csv_value(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::string();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

CsvValue csv_value(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? CsvValue(*value) : CsvValue(std::string());
}

CsvValue csv_value(const std::optional<bool>& value) {
  return std::string(!value ? "" : *value ? "yes" : "no");
}

void add_interval_columns(std::vector<std::string>& columns, const std::string& name) {
  for (const char* part : {"", "_low", "_high"}) columns.push_back(name + part);
}

void add_interval(std::vector<CsvValue>& row, const std::optional<Interval>& interval) {
  if (!interval) {
    row.insert(row.end(), 3, std::string());
    return;
  }
  for (const double value : {interval->estimate, interval->low, interval->high})
    row.push_back(csv_value(std::optional<double>(value)));
}

std::vector<CsvValue> detail::csv_fields(const Type& type, const void* row,
                                         const std::vector<std::string>& columns) {
  Json json;
  type.write(row, json);
  std::vector<CsvValue> fields;
  for (const std::string& column : columns) fields.push_back(csv_value(json.value(column, Json())));
  return fields;
}

}  // namespace speclab
