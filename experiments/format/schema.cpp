#include "experiments/format/schema.hpp"

#include <string>
#include <utility>

namespace speclab {

namespace {

Json schema_of(const Field& field);

Json schema_of(const Shape& shape, const char* kind = nullptr) {
  Json schema{{"type", "object"}, {"description", shape.doc}, {"additionalProperties", false}};
  Json properties = Json::object();
  Json required = Json::array();
  if (kind != nullptr) {
    properties["kind"] = Json{{"const", kind}};
    required.push_back("kind");
  }
  for (const Field& field : shape.fields) {
    properties[field.name] = schema_of(field);
    if (field.required) required.push_back(field.name);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json reference(const Family& family) {
  std::string name = family.noun;
  for (char& letter : name) letter = letter == ' ' ? '_' : letter;
  return {{"$ref", "#/$defs/" + name}};
}

Json schema_of(const Family& family) {
  Json kinds = Json::array();
  for (const Shape& shape : family.kinds) kinds.push_back(schema_of(shape, shape.name.c_str()));
  return {{"oneOf", std::move(kinds)}};
}

void add_range(Json& schema, const Field& field, const char* least, const char* most) {
  if (field.least) schema[least] = *field.least;
  if (field.most) schema[most] = *field.most;
}

Json schema_of(const Field& field) {
  Json schema = Json::object();
  switch (field.type) {
    case FieldType::number:
    case FieldType::integer:
      schema["type"] = field.type == FieldType::number ? "number" : "integer";
      add_range(schema, field, field.above_least ? "exclusiveMinimum" : "minimum", "maximum");
      break;
    case FieldType::boolean:
      schema["type"] = "boolean";
      break;
    case FieldType::text:
      schema["type"] = "string";
      break;
    case FieldType::choice:
      schema["enum"] = field.choices;
      break;
    case FieldType::object:
      schema = schema_of(*field.shape);
      break;
    case FieldType::family:
      schema = reference(*field.family);
      break;
    case FieldType::base:
      schema["oneOf"] = Json::array({Json{{"const", "target"}}, reference(*field.family)});
      break;
    case FieldType::list:
      schema["type"] = "array";
      schema["items"] = schema_of(*field.element);
      add_range(schema, field, "minItems", "maxItems");
      break;
    case FieldType::map:
      schema["type"] = "object";
      schema["additionalProperties"] = schema_of(*field.element);
      break;
    case FieldType::prompt:
      schema["oneOf"] =
          Json::array({Json{{"type", "string"}},
                       Json{{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}}});
      break;
    case FieldType::any:
      break;
  }
  schema["description"] = field.doc;
  if (!field.fallback.is_null()) schema["default"] = field.fallback;
  return schema;
}

}  // namespace

Json json_schema() {
  Json schema = schema_of(config_shape());
  Json head{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "speclab experiment"}};
  head.update(schema);
  head["$defs"] = Json{{"model", schema_of(model_family())},
                       {"verifier", schema_of(verifier_family())},
                       {"drafter", schema_of(drafter_family())},
                       {"gamma_policy", schema_of(policy_family())},
                       {"schedule", schema_of(schedule_family())}};
  return head;
}

}  // namespace speclab
