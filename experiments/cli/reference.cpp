#include "experiments/cli/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/metric.hpp"

namespace speclab {

namespace {

std::string default_text(const ObjectType& object, const Field& field) {
  if (field.required) return "required";
  const Json value = object.fallback(field);
  return value.is_null() ? "" : value.dump();
}

std::string listed_field(const std::string& name, const ObjectType& object, const Field& field) {
  const std::string value = default_text(object, field);
  return fmt::format("    {:<21} {}{}\n", name, field.sentence,
                     value.empty()    ? ""
                     : field.required ? " (required)"
                                      : fmt::format(" (default {})", value));
}

void list_fields(std::string& out, const ObjectType& object) {
  for (const Field& field : object.fields()) out += listed_field(field.name, object, field);
}

struct KeyPlace {
  std::string path;  ///< a JSON pointer
  const ObjectType* object;
  const Field* field;
};

/// Returns the keys that an experiment reads besides its sections and those of every experiment.
std::string read_keys(const Experiment& experiment) {
  const auto& beside = experiment.reads_with_models;
  return fmt::format("{}{}{}{}", fmt::join(experiment.reads, ", "),
                     beside.empty() ? "" : "; beside models: ", fmt::join(beside, ", "),
                     experiment.recordings == Recordings::none ? "" : "; models may be recorded");
}

/// Returns a config's keys, those with the shortest paths first. An object that occurs in several places,
/// such as a model's, is listed once.
std::vector<KeyPlace> places_of_keys() {
  std::vector<KeyPlace> found;
  std::vector<std::pair<std::string, const Type*>> open{{"", config_type().type.get()}};
  std::set<const ObjectType*> seen;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [path, type] = open[i];
    const std::string before = path + "/";
    const auto enter = [&](const ObjectType& object) {
      if (!seen.insert(&object).second) return;
      for (const Field& field : object.fields()) {
        found.push_back({before + field.name, &object, &field});
        open.emplace_back(before + field.name, field.type.get());
      }
    };
    if (type->object() != nullptr) enter(*type->object());
    if (type->element() != nullptr) open.emplace_back(before + "0", type->element());
    if (const FamilyBase* const family = type->family()) {
      enter(family->common());
      for (const KindInfo* kind : family->kinds()) enter(*kind->parameters->object());
    }
  }
  return found;
}

/// A JSON pointer as --set takes it in examples: "sampling.temperature".
std::string dotted(const std::string& path) {
  return boost::algorithm::replace_all_copy(path.substr(1), "/", ".");
}

/// Text in Markdown: "<unk>" is no HTML.
std::string escaped(const std::string& text) { return boost::algorithm::replace_all_copy(text, "<", "&lt;"); }

std::string link_to(const std::string& text, const std::string& heading) {
  std::string anchor = boost::algorithm::to_lower_copy(heading);
  std::replace(anchor.begin(), anchor.end(), ' ', '-');
  return fmt::format("[{}](#{})", text, anchor);
}

/// Returns a value's form and range for a list: "integer, 0 to 64". Objects and kinds link to their sections.
std::string value_words(const Type& type) {
  if (type.object() != nullptr) return link_to(type.object()->name(), "object " + type.object()->name());
  if (const FamilyBase* family = type.family()) return link_to(family->noun(), family->plural());
  Json schema = Json::object();
  type.schema(schema);
  if (type.element() != nullptr)
    return (schema["type"] == "array" ? "list of: " : "object of: ") + value_words(*type.element());
  if (schema.contains("enum")) {
    if (schema["enum"].size() == metric_infos().size()) return "[metric](#metrics)";
    return fmt::format("`{}`", fmt::join(schema["enum"].get<std::vector<std::string>>(), "`, `"));
  }
  if (schema.contains("maximum")) {
    const bool above = schema.contains("exclusiveMinimum");
    return fmt::format("{}, {}{} to {}", schema["type"].get<std::string>(), above ? "above " : "",
                       schema[above ? "exclusiveMinimum" : "minimum"].get<double>(),
                       schema["maximum"].get<double>());
  }
  return type.words();
}

/// Adds a line for each key: its value and default, then its meaning.
void keys_of(std::string& out, const ObjectType& object) {
  if (!object.fields().empty()) out += "\n";
  for (const Field& field : object.fields()) {
    std::string value = value_words(*field.type);
    if (!field.unit.empty()) value += ", in " + field.unit;
    const std::string fallback = default_text(object, field);
    if (field.required) {
      value += "; required";
    } else if (!fallback.empty() && fallback != R"("")" && field.type->object() == nullptr) {
      value += fmt::format("; default `{}`", fallback);
    }
    out += fmt::format("- `{}` ({}): {}\n", field.name, value, escaped(field.sentence));
  }
}

/// Adds a section for each object within an object that has keys, each once.
void sections_of(std::string& out, const ObjectType& object, std::vector<const ObjectType*>& seen) {
  for (const Field& field : object.fields()) {
    const Type* type = field.type.get();
    while (type->element() != nullptr) type = type->element();
    const ObjectType* inner = type->object();
    if (inner == nullptr || std::find(seen.begin(), seen.end(), inner) != seen.end()) continue;
    seen.push_back(inner);
    out += fmt::format("\n### Object `{}`\n", inner->name());
    if (inner->sentence() != field.sentence) out += "\n" + escaped(inner->sentence()) + "\n";
    keys_of(out, *inner);
    sections_of(out, *inner, seen);
  }
}

}  // namespace

std::string path_of_key(const std::string& key) {
  for (const KeyPlace& place : places_of_keys()) {
    if (place.field->name == key) return dotted(place.path);
  }
  return "";
}

std::string list_text(const std::vector<const FamilyBase*>& families, const std::string& word,
                      std::vector<std::string> known) {
  std::string out;
  known.emplace_back("experiments");
  const auto wanted = [&](const std::string& name) {
    known.push_back(name);
    return word.empty() || name == word;
  };
  for (const FamilyBase* family : families) {
    const std::string plural = boost::algorithm::to_lower_copy(family->plural());
    const bool all = wanted(plural) || word == family->noun();
    std::string part;
    if (all && !family->common().fields().empty()) {
      part += "  all of them:\n";
      list_fields(part, family->common());
    }
    for (const KindInfo* kind : family->kinds()) {
      if (!wanted(kind->name) && !all) continue;
      part += fmt::format("  {:<23} {}\n", kind->name, kind->sentence);
      if (kind->example && kind->name == word)
        part += fmt::format("    {:<21} {}: {}\n", "example", family->example_input(), kind->example());
      list_fields(part, *kind->parameters->object());
    }
    if (!part.empty()) out += family->plural() + ":\n" + part + (word.empty() ? "\n" : "");
  }
  std::string part;
  const bool all = word.empty() || word == "experiments" || word == "experiment";
  for (const Experiment* experiment : experiments()) {
    if (!wanted(experiment->name) && !all) continue;
    part += fmt::format("  {:<23} {}\n", experiment->name, experiment->sentence);
    if (experiment->name == word) part += fmt::format("    {:<21} {}\n", "reads", read_keys(*experiment));
  }
  if (!part.empty()) out += "Experiments:\n" + part;
  if (!out.empty()) return out;
  for (const KeyPlace& place : places_of_keys()) {
    const std::string& name = place.field->name;
    if (name == word || place.path == word || dotted(place.path) == word) {
      out += fmt::format("{}  {} of {}:\n{}", out.empty() ? "Keys of configs:\n" : "", name,
                         place.object->name(), listed_field(place.path, *place.object, *place.field));
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  }
  if (out.empty())
    throw UsageError("nothing is called \"{}\"{} (speclab list has all)", word, suggestion(word, known));
  return out;
}

std::string reference_markdown(const std::vector<const FamilyBase*>& families) {
  std::string out = R"(# Reference of the config format

Made by `speclab list --markdown`. A config is one JSON object; each key is followed by its value and, where it may be left out, its default.

## The config
)";
  const ObjectType& config = *config_type().type->object();
  keys_of(out, config);
  std::vector<const ObjectType*> seen;
  sections_of(out, config, seen);
  out += "\n## Experiments\n\nValues of `experiment`, with the keys and objects that each reads.\n\n";
  for (const Experiment* experiment : experiments()) {
    std::string objects;
    for (const std::string& section : experiment->sections)
      objects += " " + link_to(section, "object " + section);
    out += fmt::format("- `{}`: {} Reads {}{}\n", experiment->name, escaped(experiment->sentence),
                       read_keys(*experiment), objects);
  }
  for (const FamilyBase* family : families) {
    out += fmt::format("\n## {}\n\nA {} is an object with a `kind`", family->plural(), family->noun());
    const bool common = !family->common().fields().empty();
    out += common ? ", and of every kind:\n" : ".\n";
    if (!family->example_input().empty())
      out += fmt::format("\nExamples are of {}.\n", escaped(family->example_input()));
    if (common) {
      keys_of(out, family->common());
      sections_of(out, family->common(), seen);
    }
    for (const KindInfo* kind : family->kinds()) {
      out += fmt::format("\n### {} `{}`\n\n{}\n", family->noun(), kind->name, escaped(kind->sentence));
      if (kind->example) out += fmt::format("\nExample: {}.\n", escaped(kind->example()));
      keys_of(out, *kind->parameters->object());
      sections_of(out, *kind->parameters->object(), seen);
    }
  }
  out += "\n## Metrics\n\nNumbers of a cell: values of `metrics` and of `y` in figures.\n\n";
  for (const MetricInfo& info : metric_infos()) out += fmt::format("- `{}`: {}.\n", info.name, info.label);
  return out;
}

Json json_schema(const std::vector<const FamilyBase*>& families) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "speclab experiment"}};
  config_type().type->schema(schema);
  schema["properties"]["$schema"] = {{"type", "string"}, {"description", "This schema, for editors."}};
  schema["properties"]["format"] = {{"const", config_format},
                                    {"description", "Version of the config format."}};
  Json& definitions = schema["$defs"] = Json::object();
  for (const FamilyBase* family : families) definitions[family->schema_name()] = family->schema();
  return schema;
}

}  // namespace speclab
