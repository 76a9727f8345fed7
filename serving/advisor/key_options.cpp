#include "serving/advisor/key_options.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "experiments/base/support/csv_reader.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

std::string form_of(const Type& type) {
  Json schema = Json::object();
  type.schema(schema);
  return schema.contains("type") ? schema["type"].get<std::string>() : "";
}

Json number_of(const std::string& text) {
  // Integers stay integers, so that errors show them as such.
  if (const auto whole = integer_in(text)) return *whole;
  const auto number = number_in(text);
  return number ? Json(*number) : Json(text);
}

/// Returns the word that help shows for the value of a key, such as "NUMBER" or "NUMBER,...".
const char* value_word(const Type& type, const std::string& words) {
  const std::string form = form_of(type);
  if (form == "array") return "NUMBER,...";
  if (form == "number") return "NUMBER";
  if (form == "integer") return "INTEGER";
  return words.starts_with("file") || words.find("CSV") != std::string::npos ? "FILE" : "NAME";
}

/// Descriptions of options begin with a small letter, unless with a name, and end without a full stop.
std::string words_of(std::string sentence) {
  const auto letter = [](char c, auto is) { return is(static_cast<unsigned char>(c)) != 0; };
  if (sentence.size() > 1 && letter(sentence[0], [](int c) { return std::isupper(c); }) &&
      !letter(sentence[1], [](int c) { return std::isupper(c); }))
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

}  // namespace

std::string option_of_key(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

void add_key_option(po::options_description& options, const std::string& option, const Field& field,
                    const Json& usual) {
  const std::string words = words_of(field.sentence);
  if (form_of(*field.type) == "boolean") {
    options.add_options()(option.c_str(), words.c_str());
    return;
  }
  auto* const value = po::value<std::string>();
  value->value_name(value_word(*field.type, words));
  const std::string text = usual.is_string()         ? usual.get<std::string>()
                           : usual.is_number_float() ? fmt::format("{:g}", usual.get<double>())
                           : usual.is_number()       ? usual.dump()
                                                     : "";
  if (!text.empty()) value->default_value(text);
  options.add_options()(option.c_str(), value, words.c_str());
}

Json json_of_option(const Type& type, const std::string& text) {
  const std::string form = form_of(type);
  if (form == "boolean") return true;
  if (form == "number" || form == "integer") return number_of(text);
  if (form != "array") return text;
  Json list = Json::array();
  for (const std::string& word : split(text, ',')) list.push_back(number_of(word));
  return list;
}

Json given_keys(const po::variables_map& values, const ObjectType& object) {
  Json given = Json::object();
  for (const Field& field : object.fields()) {
    const std::string option = option_of_key(field.name);
    if (values.count(option) == 0 || values[option].defaulted()) continue;
    const auto* const text = boost::any_cast<std::string>(&values[option].value());
    given[field.name] = json_of_option(*field.type, text == nullptr ? "" : *text);
  }
  return given;
}

}  // namespace speclab
