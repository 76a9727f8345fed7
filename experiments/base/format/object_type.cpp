#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/format/result_fields.hpp"

template class std::vector<speclab::Field>;

namespace speclab {

Field::Field() = default;
Field::Field(const Field&) = default;
Field::Field(Field&&) noexcept = default;
Field& Field::operator=(const Field&) = default;
Field& Field::operator=(Field&&) noexcept = default;
Field::~Field() = default;

Field detail::member_field(std::string_view name, TypePtr type, std::string_view sentence, MemberAccess at,
                           MemberAccess create) {
  Field made;
  made.name = name;
  made.type = std::move(type);
  made.sentence = sentence;
  made.at = at;
  if (create) made.create = create;
  return made;
}

Field detail::ResultKey::field() const {
  if (whole != nullptr) return std::move(*whole);
  Field made = member_field(name, type(given), "", at, create);
  made.required = !made.optional();
  return made;
}

Field required(Field field) {
  field.required = true;
  return field;
}

Field with_unit(Field field, std::string_view unit) {
  field.unit = unit;
  return field;
}

std::vector<Field> joined(std::vector<Field> first, std::vector<Field> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
  return first;
}

TypePtr detail::object_type(std::string_view name, std::string_view sentence, std::vector<Field> fields,
                            AnyStruct (*make)()) {
  return std::make_shared<const ObjectType>(name, sentence, std::move(fields), make);
}

ObjectType::ObjectType(std::string_view name, std::string_view sentence, std::vector<Field> fields,
                       AnyStruct (*made)())
    : name_(name), sentence_(sentence), fields_(std::move(fields)), make_(made) {}

void ObjectType::refuse_unknown(const Json& json, const std::string& path,
                                const std::vector<std::string>& others) const {
  std::vector<std::string> names = others;
  for (const Field& field : fields_) names.push_back(field.name);
  for (const auto& [key, entry] : json.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    throw ConfigError(fmt::format("{}/{}", path, key), "unknown key \"{}\" in {}{}", key, name_,
                      suggestion(key, names));
  }
}

void ObjectType::read_fields(const Json& json, const std::string& path, void* value) const {
  for (const Field& field : fields_) {
    const std::string here = path + "/" + field.name;
    const auto found = json.find(field.name);
    if (found != json.end()) {
      field.type->read(*found, here, field.optional() ? field.create(value) : field.at(value));
    } else if (field.required) {
      throw ConfigError(here, "missing; {} needs it{}{}", name_, field.sentence.empty() ? "" : ": ",
                        field.sentence);
    }
  }
}

void ObjectType::read(const Json& json, const std::string& path, void* value) const {
  if (!json.is_object()) reject(path, json, words());
  refuse_unknown(json, path, {});
  read_fields(json, path, value);
}

void ObjectType::write(const void* value, Json& json) const {
  if (!json.is_object()) json = Json::object();
  for (const Field& field : fields_) {
    // `at` takes a non-const object, but does not change it; only `create` does.
    const void* held = field.at(const_cast<void*>(value));
    if (held != nullptr) field.type->write(held, json[field.name]);
  }
}

std::string ObjectType::words() const { return fmt::format("an object ({})", name_); }

Json ObjectType::fallback(const Field& field) const {
  Json json;
  if (field.required) return json;
  const AnyStruct made = make();
  if (const void* held = field.at(made.address().get())) field.type->write(held, json);
  return json;
}

void ObjectType::add_to_schema(Json& properties, Json& required) const {
  for (const Field& field : fields_) {
    Json& property = properties[field.name] = Json::object();
    field.type->schema(property);
    property["description"] =
        field.unit.empty() ? field.sentence : fmt::format("{} Unit: {}.", field.sentence, field.unit);
    const Json value = fallback(field);
    if (!value.is_null()) property["default"] = value;
    if (field.required) required.push_back(field.name);
  }
}

void ObjectType::schema(Json& out) const {
  out["type"] = "object";
  out["description"] = sentence_;
  out["additionalProperties"] = false;
  Json required = Json::array();
  add_to_schema(out["properties"] = Json::object(), required);
  if (!required.empty()) out["required"] = std::move(required);
}

const Type* ObjectType::below(const std::string& step) const {
  const Field* const field = find_named(fields_, step);
  return field != nullptr ? field->type.get() : nullptr;
}

void ObjectType::add_input_files(const void* value, std::vector<std::string>& files) const {
  for (const Field& field : fields_) {
    const void* held = field.at(const_cast<void*>(value));
    if (held != nullptr) field.type->add_input_files(held, files);
  }
}

SPECLAB_OBJECT(Interval, "interval", {"value", &Interval::estimate}, {"low", &Interval::low},
               {"high", &Interval::high});

}  // namespace speclab
