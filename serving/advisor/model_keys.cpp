#include "serving/advisor/model_keys.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

bool ModelKeys::has(const char* key) const { return object.contains(key) && !object[key].is_null(); }

std::optional<int> ModelKeys::dimension(std::initializer_list<const char*> keys) const {
  constexpr double most = 1e8;
  for (const char* key : keys) {
    if (!has(key)) continue;
    const Json& value = object[key];
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most) || number != static_cast<int>(number))
      refuse(key, value.dump().substr(0, 60) + "; expected an integer of 0 or more");
    return static_cast<int>(number);
  }
  return std::nullopt;
}

int ModelKeys::required(std::initializer_list<const char*> keys) const {
  const auto value = dimension(keys);
  if (value && *value > 0) return *value;
  refuse(*keys.begin(), "missing; expected the config.json of a language model");
}

bool ModelKeys::flag(const char* key, bool otherwise) const {
  return object.contains(key) && object[key].is_boolean() ? object[key].get<bool>() : otherwise;
}

std::string ModelKeys::text(const char* key) const {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string ModelKeys::architecture() const {
  if (!object.contains("architectures") || !object["architectures"].is_array()) return "";
  const Json& names = object["architectures"];
  return names.size() == 1 && names[0].is_string() ? names[0].get<std::string>() : "";
}

void ModelKeys::refuse(const char* key, const std::string& what) const {
  throw UsageError("{}: {}/{}: {}", file, within, key, what);
}

}  // namespace speclab
