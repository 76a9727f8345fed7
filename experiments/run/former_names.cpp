// Former names of keys, kinds and metrics, which keep working.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/run/config_types.hpp"
#include "experiments/run/metric.hpp"

namespace speclab {

namespace {

/// Present names in an object whose keys are JSON pointers and whose values go there.
void rename_paths(Json& values, const std::string& path, bool lists, std::vector<RenamedUse>& uses) {
  if (!values.is_object()) return;
  Json renamed = Json::object();
  for (auto& [key, value] : values.items()) {
    std::string pointer = key;
    const Type* type = type_at(pointer);
    if (pointer != key) uses.push_back({path, key, pointer});
    const std::string here = path + "/" + pointer;
    if (type != nullptr && lists && value.is_array()) {
      for (Json& one : value) type->rename(one, here, uses);
    } else if (type != nullptr && !lists) {
      type->rename(value, here, uses);
    }
    renamed[pointer] = std::move(value);
  }
  values = std::move(renamed);
}

void rename_metric_keys(Json& values, const std::string& path, std::vector<RenamedUse>& uses) {
  if (!values.is_object()) return;
  Json renamed = Json::object();
  for (auto& [key, value] : values.items()) {
    Json name = key;
    metric_type().type->rename(name, path + "/" + key, uses);
    renamed[name.get<std::string>()] = std::move(value);
  }
  values = std::move(renamed);
}

}  // namespace

const Type* type_at(std::string& pointer) {
  const Type* type = config_type().type.get();
  std::string present;
  std::size_t at = 1;
  while (at <= pointer.size() && !pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    std::string step = pointer.substr(at, end - at);
    type = type != nullptr ? type->below(step) : nullptr;
    present += "/" + step;
    at = end + 1;
  }
  if (!pointer.empty() && pointer.front() == '/') pointer = present;
  return type;
}

Json with_present_names(const Json& input, std::vector<RenamedUse>& uses) {
  Json json = input;
  config_type().type->rename(json, "", uses);
  if (!json.is_object()) return json;
  if (const auto sweep = json.find("sweep"); sweep != json.end()) rename_paths(*sweep, "/sweep", true, uses);
  if (const auto cases = json.find("cases"); cases != json.end() && cases->is_array()) {
    for (std::size_t i = 0; i < cases->size(); ++i) {
      Json& one = (*cases)[i];
      if (!one.is_object()) continue;
      const std::string path = fmt::format("/cases/{}", i);
      if (one.contains("set")) rename_paths(one["set"], path + "/set", false, uses);
      if (one.contains("printed")) rename_metric_keys(one["printed"], path + "/printed", uses);
    }
  }
  if (const auto figures = json.find("figures"); figures != json.end() && figures->is_array()) {
    for (Json& figure : *figures) {
      if (!figure.is_object()) continue;
      for (const char* key : {"x", "series"}) {
        if (figure.contains(key) && figure[key].is_string())
          figure[key] = with_present_names(figure[key].get<std::string>());
      }
    }
  }
  return json;
}

std::string with_present_names(const std::string& pointer) {
  std::string present = pointer;
  type_at(present);
  return present;
}

}  // namespace speclab
