#include "experiments/cli/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <nlohmann/json.hpp>

#include "experiments/format/config_error.hpp"
#include "experiments/run/config.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

std::string default_text(const ObjectType& object, const Field& field) {
  if (field.required) return "required";
  const Json value = object.fallback(field);
  return value.is_null() ? "" : value.dump();
}

void list_fields(std::string& out, const ObjectType& object) {
  for (const Field& field : object.fields()) {
    const std::string value = default_text(object, field);
    out += fmt::format("    {:<21} {}{}\n", field.name, field.sentence,
                       value.empty()    ? ""
                       : field.required ? " (required)"
                                        : fmt::format(" (default {})", value));
  }
}

/// A cell of a Markdown table.
std::string escaped(const std::string& text) { return boost::algorithm::replace_all_copy(text, "|", "\\|"); }

void former_names(std::string& out, const std::vector<std::string>& aliases) {
  if (!aliases.empty()) out += fmt::format(" Formerly `{}`.", fmt::join(aliases, "`, `"));
}

void table_of(std::string& out, const ObjectType& object) {
  if (object.fields().empty()) return;
  out += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Field& field : object.fields()) {
    std::string sentence = field.sentence;
    if (!field.unit.empty()) sentence += fmt::format(" Unit: {}.", field.unit);
    former_names(sentence, field.aliases);
    std::string value = default_text(object, field);
    if (!value.empty() && !field.required) value = "`" + value + "`";
    out += fmt::format("| `{}` | {} | {} | {} |\n", field.name, escaped(field.type->words()), escaped(value),
                       escaped(sentence));
  }
}

/// The objects below an object that have keys of their own, once each.
void sections_of(std::string& out, const ObjectType& object, std::vector<const ObjectType*>& seen) {
  for (const Field& field : object.fields()) {
    const Type* type = field.type.get();
    while (type->element() != nullptr) type = type->element();
    const ObjectType* inner = type->object();
    if (inner == nullptr || std::find(seen.begin(), seen.end(), inner) != seen.end()) continue;
    seen.push_back(inner);
    out += fmt::format("\n### `{}`\n\n{}\n", inner->name(), inner->sentence());
    table_of(out, *inner);
    sections_of(out, *inner, seen);
  }
}

}  // namespace

std::string list_text(const std::vector<const FamilyBase*>& families, const std::string& word) {
  std::string out;
  std::vector<std::string> known{"experiments"};
  const auto wanted = [&](const std::string& name) {
    known.push_back(name);
    return word.empty() || name == word;
  };
  for (const FamilyBase* family : families) {
    const std::string plural = boost::algorithm::to_lower_copy(family->plural());
    const bool all = wanted(plural) || word == family->noun();
    std::string part;
    if (all && family->common() != nullptr && !family->common()->fields().empty()) {
      part += "  all of them:\n";
      list_fields(part, *family->common());
    }
    for (const KindInfo* kind : family->kinds()) {
      if (!wanted(kind->name) && !all) continue;
      part += fmt::format("  {:<23} {}\n", kind->name, kind->sentence);
      list_fields(part, *kind->parameters->object());
    }
    if (!part.empty()) out += family->plural() + ":\n" + part + (word.empty() ? "\n" : "");
  }
  std::string part;
  const bool all = word.empty() || word == "experiments" || word == "experiment";
  for (const Experiment* experiment : experiments()) {
    if (!wanted(experiment->name) && !all) continue;
    part += fmt::format("  {:<23} {}\n", experiment->name, experiment->sentence);
  }
  if (!part.empty()) out += "Experiments:\n" + part;
  if (out.empty()) {
    throw UsageError(fmt::format("nothing is called \"{}\"{}", word, suggestion(word, known)));
  }
  return out;
}

std::string reference_markdown(const std::vector<const FamilyBase*>& families) {
  std::string out = R"(# Reference of the config format

Made by `speclab list --markdown`; a test compares this page with the program. A config is one JSON object.
Former names of keys and kinds keep working; `speclab validate` lists those that a config uses.

## The config
)";
  const ObjectType& config = *config_type().type->object();
  table_of(out, config);
  std::vector<const ObjectType*> seen;
  sections_of(out, config, seen);
  out += "\n## Experiments\n\nValues of `experiment`.\n\n| name | what it does | sections |\n|---|---|---|\n";
  for (const Experiment* experiment : experiments()) {
    std::string sentence = experiment->sentence;
    former_names(sentence, experiment->aliases);
    const std::vector<std::string> keys = experiment->sections;
    const std::string sections = keys.empty() ? "" : fmt::format("`{}`", fmt::join(keys, "`, `"));
    out += fmt::format("| `{}` | {} | {} |\n", experiment->name, escaped(sentence), sections);
  }
  for (const FamilyBase* family : families) {
    out += fmt::format("\n## {}\n\nA {} is an object with a `kind`.\n", family->plural(), family->noun());
    if (family->common() != nullptr && !family->common()->fields().empty()) {
      out += "\nKeys of every kind:\n";
      table_of(out, *family->common());
      sections_of(out, *family->common(), seen);
    }
    for (const KindInfo* kind : family->kinds()) {
      out += fmt::format("\n### {} `{}`\n\n{}", family->noun(), kind->name, kind->sentence);
      former_names(out, kind->aliases);
      out += "\n";
      table_of(out, *kind->parameters->object());
      sections_of(out, *kind->parameters->object(), seen);
    }
  }
  out +=
      "\n## Metrics\n\nNumbers of a cell: values of `metrics` and of `y` in figures.\n\n| name | label | "
      "formerly "
      "|\n|---|---|---|\n";
  for (const MetricInfo& info : metric_infos()) {
    out += fmt::format("| `{}` | {} | {} |\n", info.name, info.label,
                       info.old_name != nullptr ? fmt::format("`{}`", info.old_name) : "");
  }
  return out;
}

Json json_schema(const std::vector<const FamilyBase*>& families) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "speclab experiment"}};
  config_type().type->schema(schema);
  schema["properties"]["$schema"] = {{"type", "string"}, {"description", "This schema, for editors."}};
  Json& definitions = schema["$defs"] = Json::object();
  for (const FamilyBase* family : families) definitions[family->schema_name()] = family->schema();
  return schema;
}

}  // namespace speclab
