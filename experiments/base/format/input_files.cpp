#include "experiments/base/format/type.hpp"

#include <nlohmann/json.hpp>

#include "experiments/base/format/family.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

void place_input_files(const Type& type, Json& json,
                       const std::function<std::string(const std::string& path)>& place) {
  if (&type == input_file().type.get()) {
    if (json.is_string()) json = place(json.get<std::string>());
  } else if (const Type* const element = type.element()) {
    if (!json.is_structured()) return;
    for (Json& one : json) place_input_files(*element, one, place);
  } else if (const FamilyBase* const family = type.family()) {
    if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string()) return;
    place_input_files(family->common(), json, place);
    const KindInfo* const kind = family->find(json["kind"].get<std::string>());
    if (kind != nullptr) place_input_files(*kind->parameters, json, place);
  } else if (const ObjectType* const object = type.object()) {
    if (!json.is_object()) return;
    for (const Field& field : object->fields()) {
      const auto value = json.find(field.name);
      if (value != json.end()) place_input_files(*field.type, *value, place);
    }
  }
}

}  // namespace speclab
