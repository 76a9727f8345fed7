#include "serving/advisor/model_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

extern const std::string_view harmless_keys_json;

namespace {

/// Returns true for a key that changes neither parameters nor attention nor cache (harmless_keys.json).
bool harmless(const std::string& key) {
  static const Json known = Json::parse(harmless_keys_json);
  const auto contained = [&](const Json& part) {
    return key.find(part.get<std::string>()) != std::string::npos;
  };
  const Json& names = known["names"];
  return std::ranges::find(names, Json(key)) != names.end() || std::ranges::any_of(known["parts"], contained);
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || (value.is_number() && value == 0) || value == "" ||
         (value.is_structured() && value.empty());
}

/// Returns the entries of a list of numbers or texts, which `fits` checks one by one.
template <class T>
std::vector<T> entries_of(const ModelKeys& keys, const char* key, int layers, const char* expected,
                          bool (*fits)(const Json&)) {
  if (!keys.has(key)) return {};
  const Json& list = keys.object[key];
  if (!list.is_array() || !std::ranges::all_of(list, fits))
    keys.refuse(key, fmt::format("{}; expected a list of {}", list.dump().substr(0, 60), expected));
  if (layers > 0 && !list.empty() && static_cast<int>(list.size()) != layers)
    keys.refuse(key, fmt::format("{} entries for {} layers", list.size(), layers));
  return list.get<std::vector<T>>();
}

}  // namespace

bool ModelKeys::has(const char* key) const {
  asked->insert(key);
  return object.contains(key) && !object[key].is_null();
}

std::optional<int> ModelKeys::dimension(std::initializer_list<const char*> keys) const {
  constexpr double most = 1e8;
  std::optional<int> found;
  const char* first = nullptr;
  for (const char* key : keys) {
    if (!has(key)) continue;
    // Some configs repeat a number for each layer.
    const Json& given = object[key];
    const bool repeated = given.is_array() && !given.empty() && given.front().is_number() &&
                          std::ranges::all_of(given, [&](const Json& one) { return one == given.front(); });
    const Json& value = repeated ? given.front() : given;
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most) || number != static_cast<int>(number))
      refuse(key, value.dump().substr(0, 60) + "; expected an integer of 0 or more");
    if (found && *found != static_cast<int>(number))
      refuse(key, fmt::format("{}, but /{} is {}: two names of one number", number, first, *found));
    if (!found) first = key;
    found = static_cast<int>(number);
  }
  return found;
}

int ModelKeys::required(std::initializer_list<const char*> keys) const {
  const auto value = dimension(keys);
  if (value && *value > 0) return *value;
  refuse(*keys.begin(), "missing; expected the config.json of a language model");
}

bool ModelKeys::flag(const char* key, bool otherwise) const {
  return has(key) && object[key].is_boolean() ? object[key].get<bool>() : otherwise;
}

std::vector<int> ModelKeys::numbers(const char* key, int layers) const {
  return entries_of<int>(*this, key, layers, "integers",
                         [](const Json& one) { return one.is_number_integer(); });
}

std::vector<std::string> ModelKeys::texts(const char* key, int layers) const {
  return entries_of<std::string>(*this, key, layers, "texts",
                                 [](const Json& one) { return one.is_string(); });
}

std::string ModelKeys::text(const char* key) const {
  return has(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string ModelKeys::architecture() const {
  if (!has("architectures") || !object["architectures"].is_array()) return "";
  const Json& names = object["architectures"];
  return names.size() == 1 && names[0].is_string() ? names[0].get<std::string>() : "";
}

std::optional<ModelKeys> ModelKeys::within_object(const char* key) const {
  if (!has(key)) return std::nullopt;
  if (!object[key].is_object()) refuse(key, object[key].dump().substr(0, 60) + "; expected an object");
  return ModelKeys{object[key], file, within + "/" + key};
}

void ModelKeys::refuse_unknown() const {
  for (const auto& [key, value] : object.items()) {
    if (asked->contains(key) || says_nothing(value) || harmless(key)) continue;
    refuse(
        key,
        fmt::format(
            "{}; this key is not known, and may change parameters, attention or cache: {}; or, if it changes none of these, remove it from a copy of the file",
            value.dump().substr(0, 60), way_out));
  }
}

void ModelKeys::refuse(const std::string& key, const std::string& what) const {
  throw UsageError("{}: {}/{}: {}", file, within, key, what);
}

}  // namespace speclab
