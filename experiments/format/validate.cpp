#include "experiments/format/validate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/format/config_error.hpp"

namespace speclab {

namespace {

Json checked(const Json& value, const Field& field, const std::string& path);

[[noreturn]] void reject(const std::string& path, const Json& value, const std::string& wanted) {
  throw ConfigError(path, fmt::format("{} is not {}", shown(value), wanted));
}

std::string range_of(const Field& field, const char* noun) {
  return fmt::format("{} {} {} and <= {}", noun, field.above_least ? ">" : ">=", field.least.value_or(0),
                     field.most.value_or(0));
}

void check_range(const Json& value, const Field& field, const std::string& path, const char* noun) {
  const double number = value.get<double>();
  const bool low = field.above_least ? number > *field.least : number >= *field.least;
  if (!low || !(number <= *field.most)) reject(path, value, range_of(field, noun));
}

/// `skip` is the key that chose the shape.
Json checked_object(const Json& value, const Shape& shape, const std::string& path,
                    const char* skip = nullptr) {
  if (!value.is_object()) reject(path, value, fmt::format("an object ({})", shape.name));
  std::vector<std::string> names;
  for (const Field& field : shape.fields) names.push_back(field.name);
  for (const auto& [key, entry] : value.items()) {
    if (skip != nullptr && key == skip) continue;
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      throw ConfigError(fmt::format("{}/{}", path, key),
                        fmt::format("unknown key \"{}\" in {}{}", key, shape.name, suggestion(key, names)));
    }
  }
  Json result = Json::object();
  if (skip != nullptr) result[skip] = value.at(skip);
  for (const Field& field : shape.fields) {
    const std::string here = path + "/" + field.name;
    if (value.contains(field.name)) {
      result[field.name] = checked(value.at(field.name), field, here);
    } else if (field.required) {
      throw ConfigError(here, fmt::format("missing; {} needs it: {}", shape.name, field.doc));
    } else if (!field.fallback.is_null()) {
      result[field.name] = checked(field.fallback, field, here);
    }
  }
  return result;
}

Json checked_kind(const Json& value, const Family& family, const std::string& path) {
  if (!value.is_object()) reject(path, value, fmt::format("an object with a \"kind\" ({})", family.noun));
  const std::string here = path + "/kind";
  if (!value.contains("kind")) {
    throw ConfigError(
        here, fmt::format("missing; a {} is one of: {}", family.noun, fmt::join(family.names(), ", ")));
  }
  const Json& kind = value.at("kind");
  if (!kind.is_string()) reject(here, kind, fmt::format("the name of a {}", family.noun));
  const Shape* shape = family.find(kind.get<std::string>());
  if (shape == nullptr) {
    throw ConfigError(here, fmt::format("unknown {} {}{}", family.noun, shown(kind),
                                        suggestion(kind.get<std::string>(), family.names())));
  }
  return checked_object(value, *shape, path, "kind");
}

Json checked_list(const Json& value, const Field& field, const std::string& path) {
  if (!value.is_array()) reject(path, value, "a list");
  const auto size = static_cast<double>(value.size());
  if (size < *field.least || size > *field.most) {
    throw ConfigError(
        path, fmt::format("{} entries; allowed are {} to {}", value.size(), *field.least, *field.most));
  }
  Json result = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    result.push_back(checked(value[i], *field.element, fmt::format("{}/{}", path, i)));
  }
  return result;
}

Json checked_prompt(const Json& value, const std::string& path) {
  if (value.is_string()) return value;
  if (!value.is_array()) reject(path, value, "text or a list of token ids");
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_number_integer() || value[i].get<double>() < 0 ||
        value[i].get<double>() > 2147483647.0) {
      reject(fmt::format("{}/{}", path, i), value[i], "a token id");
    }
  }
  return value;
}

Json checked(const Json& value, const Field& field, const std::string& path) {
  switch (field.type) {
    case FieldType::number:
      if (!value.is_number()) reject(path, value, range_of(field, "a number"));
      check_range(value, field, path, "a number");
      return value;
    case FieldType::integer:
      // 1e5 and 5.0 are integers to a person; fractions are not.
      if (!value.is_number() || std::floor(value.get<double>()) != value.get<double>()) {
        reject(path, value, range_of(field, "an integer"));
      }
      check_range(value, field, path, "an integer");
      return static_cast<std::int64_t>(value.get<double>());
    case FieldType::boolean:
      if (!value.is_boolean()) reject(path, value, "true or false");
      return value;
    case FieldType::text:
      if (!value.is_string()) reject(path, value, "text");
      return value;
    case FieldType::choice:
      if (!value.is_string()) reject(path, value, fmt::format("one of: {}", fmt::join(field.choices, ", ")));
      if (std::find(field.choices.begin(), field.choices.end(), value.get<std::string>()) ==
          field.choices.end()) {
        throw ConfigError(path, fmt::format("unknown {} {}{}", field.name, shown(value),
                                            suggestion(value.get<std::string>(), field.choices)));
      }
      return value;
    case FieldType::object:
      return checked_object(value, *field.shape, path);
    case FieldType::family:
      return checked_kind(value, *field.family, path);
    case FieldType::base:
      if (value == "target") return value;
      return checked_kind(value, *field.family, path);
    case FieldType::list:
      return checked_list(value, field, path);
    case FieldType::map: {
      if (!value.is_object()) reject(path, value, "an object");
      Json result = Json::object();
      for (const auto& [key, entry] : value.items())
        result[key] = checked(entry, *field.element, fmt::format("{}/{}", path, key));
      return result;
    }
    case FieldType::prompt:
      return checked_prompt(value, path);
    case FieldType::any:
      return value;
  }
  return value;
}

}  // namespace

Json resolve(const Json& input) { return checked_object(input, config_shape(), ""); }

Json resolve_kind(const Json& value, const Family& family, const std::string& path) {
  return checked_kind(value, family, path);
}

Json section(const Json& config, const std::string& name) {
  if (config.contains(name)) return config.at(name);
  for (const Field& field : config_shape().fields) {
    if (field.name == name) return checked_object(Json::object(), *field.shape, "/" + name);
  }
  throw std::logic_error("no section " + name);
}

void refuse_many_cells(const Json& config, const std::string& what) {
  for (const char* many : {"sweep", "cases"}) {
    if (!config.contains(many)) continue;
    throw ConfigError(
        std::string("/") + many,
        fmt::format("{} one configuration: leave this out with --set {}=null, and choose values "
                    "with --set",
                    what, many));
  }
}

std::string shown(const Json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace speclab
