#include "experiments/cli/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"

using namespace speclab;

namespace {

template <class Visit>
void walk(const Json& value, const Visit& visit) {
  visit(value);
  if (!value.is_structured()) return;
  for (const Json& entry : value) walk(entry, visit);
}

std::set<std::string> kinds(const Json& definition) {
  std::set<std::string> all;
  for (const Json& kind : definition.at("oneOf")) {
    all.insert(kind.at("properties").at("kind").at("const").get<std::string>());
  }
  return all;
}

/// Returns true if the value fits the schema. Supports only the keywords that `json_schema` uses.
bool fits(const Json& value, const Json& schema, const Json& root);

bool fits_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  // JSON Schema counts a number without a fraction as an integer, however it is written.
  return type == "integer" && value.is_number() && std::floor(value.get<double>()) == value.get<double>();
}

bool fits_object(const Json& value, const Json& schema, const Json& root) {
  if (schema.contains("required")) {
    for (const Json& key : schema.at("required")) {
      if (!value.contains(key.get<std::string>())) return false;
    }
  }
  const Json properties = schema.value("properties", Json::object());
  const Json additional = schema.value("additionalProperties", Json(true));
  for (const auto& [key, entry] : value.items()) {
    if (properties.contains(key)) {
      if (!fits(entry, properties.at(key), root)) return false;
    } else if (additional.is_object() ? !fits(entry, additional, root) : !additional.get<bool>()) {
      return false;
    }
  }
  return true;
}

bool fits(const Json& value, const Json& schema, const Json& root) {
  if (schema.contains("$ref")) {
    const auto pointer = schema.at("$ref").get<std::string>().substr(1);
    if (!fits(value, root.at(Json::json_pointer(pointer)), root)) return false;
  }
  if (schema.contains("type") && !fits_type(value, schema.at("type").get<std::string>())) return false;
  if (schema.contains("const") && value != schema.at("const")) return false;
  if (schema.contains("enum")) {
    const Json& choices = schema.at("enum");
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) return false;
  }
  if (schema.contains("oneOf")) {
    int matches = 0;
    for (const Json& one : schema.at("oneOf")) matches += fits(value, one, root) ? 1 : 0;
    if (matches != 1) return false;
  }
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (schema.contains("minimum") && number < schema.at("minimum")) return false;
    if (schema.contains("exclusiveMinimum") && number <= schema.at("exclusiveMinimum")) return false;
    if (schema.contains("maximum") && number > schema.at("maximum")) return false;
  }
  if (value.is_array()) {
    const auto size = static_cast<double>(value.size());
    if (schema.contains("minItems") && size < schema.at("minItems")) return false;
    if (schema.contains("maxItems") && size > schema.at("maxItems")) return false;
    if (schema.contains("items")) {
      for (const Json& entry : value) {
        if (!fits(entry, schema.at("items"), root)) return false;
      }
    }
  }
  return !value.is_object() || fits_object(value, schema, root);
}

bool fits(const Json& config) {
  static const Json schema = json_schema(families());
  return fits(config, schema, schema);
}

}  // namespace

TEST_CASE("every reference in the schema leads somewhere") {
  const Json schema = json_schema(families());
  int references = 0;
  walk(schema, [&](const Json& value) {
    if (!value.is_object() || !value.contains("$ref")) return;
    const auto target = value.at("$ref").get<std::string>();
    CAPTURE(target);
    REQUIRE(target.starts_with("#/"));
    CHECK(schema.contains(Json::json_pointer(target.substr(1))));
    ++references;
  });
  CHECK(references >= 4);
}

TEST_CASE("every kind of every family of configs appears, once") {
  const Json schema = json_schema(families());
  for (const FamilyBase* family : families()) {
    CAPTURE(family->noun());
    const Json& definition = schema.at("$defs").at(family->schema_name());
    const auto names = family->names();
    CHECK(kinds(definition) == std::set<std::string>(names.begin(), names.end()));
    CHECK(definition.at("oneOf").size() == names.size());
  }
  std::vector<std::string> names;
  for (const Experiment* experiment : experiments()) names.push_back(experiment->name);
  CHECK(schema.at("properties").at("experiment").at("enum") == Json(names));
}

TEST_CASE("required keys are properties, defaults fit, and every property says what it is") {
  const Json root = json_schema(families());
  walk(root, [&](const Json& schema) {
    if (!schema.is_object() || !schema.contains("properties")) return;
    if (schema.contains("required")) {
      for (const Json& key : schema.at("required")) {
        CHECK(schema.at("properties").contains(key.get<std::string>()));
      }
    }
    for (const auto& [key, property] : schema.at("properties").items()) {
      CAPTURE(key);
      if (key != "kind") CHECK_FALSE(property.value("description", "").empty());
      if (property.contains("default")) CHECK(fits(property.at("default"), property, root));
    }
  });
}

TEST_CASE("the defaults of the schema are those of the structs") {
  const Config config = read_config(Json{{"title", "t"}});
  const Json written = config_json(config);
  const Json properties = json_schema(families()).at("properties");
  int compared = 0;
  for (const auto& [key, value] : written.items()) {
    CAPTURE(key);
    REQUIRE(properties.contains(key));
    if (!properties.at(key).contains("default")) continue;
    CHECK(properties.at(key).at("default") == value);
    ++compared;
  }
  CHECK(compared >= 8);
  // Configs that do not ask for a section leave it out.
  for (const SectionKind& section : section_kinds()) {
    CAPTURE(section.key);
    Json defaults;
    section.type->write(section.type->object()->make().address().get(), defaults);
    const Json schema = properties.at(section.key).at("properties");
    for (const auto& [key, value] : defaults.items()) {
      CAPTURE(key);
      if (schema.at(key).contains("default")) CHECK(schema.at(key).at("default") == value);
    }
  }
}

TEST_CASE("the configs that come with the program fit the schema") {
  int configs = 0;
  for (const char* folder : {"/configs", "/configs/paper", "/configs/smollm2"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SPECLAB_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".json") continue;
      CAPTURE(entry.path().string());
      CHECK(fits(parse_json(read_text(entry.path()))));
      ++configs;
    }
  }
  CHECK(configs >= 15);
}

TEST_CASE("malformed configs do not fit it") {
  for (const char* name : {"missing_title",        "unknown_key",
                           "unknown_key_in_cost",  "unknown_key_of_other_kind",
                           "unknown_model_kind",   "gamma_negative",
                           "gamma_fraction",       "gamma_text",
                           "alpha_above_one",      "top_p_zero",
                           "missing_target",       "missing_kind",
                           "lenience_zero",        "table_probability_text",
                           "table_no_rows",        "prompt_of_words",
                           "cases_empty",          "case_printed_number",
                           "figure_unknown_style", "simultaneous_text",
                           "not_an_object"}) {
    CAPTURE(name);
    const std::filesystem::path file = std::string(SPECLAB_SOURCE_DIR) + "/tests/malformed/" + name + ".json";
    REQUIRE(std::filesystem::exists(file));
    CHECK_FALSE(fits(parse_json(read_text(file))));
  }
}
