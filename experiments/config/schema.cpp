#include "experiments/config/schema.hpp"

#include <nlohmann/json.hpp>

#include "experiments/config/config.hpp"

namespace speclab {

Json json_schema(const std::vector<const FamilyBase*>& families) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "speclab experiment"}};
  config_type().type->schema(schema);
  Json& definitions = schema["$defs"] = Json::object();
  for (const FamilyBase* family : families) definitions[family->schema_name()] = family->schema();
  return schema;
}

}  // namespace speclab
