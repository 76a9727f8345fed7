// Reads JSON values of a recording; errors name the place.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

struct JsonDocument {
  std::string where;  ///< "file", "file[3]" of a list, "file:4" of JSON lines
  Json value;
};

/// A value within a document, and its path.
struct JsonPlace {
  const Json* value;
  std::string where;  ///< "file" of a whole document, "file: /choices/0/logprobs" within it
  bool whole = false;

  bool has(const char* key) const {
    return value->is_object() && value->contains(key) && !(*value)[key].is_null();
  }
  /// Returns the value of a key or an element. Throws UsageError if the key is missing.
  JsonPlace at(const char* key) const {
    if (!has(key))
      throw UsageError("{}: {}", below(key), value->is_object() && value->contains(key) ? "null" : "missing");
    return {&(*value)[key], below(key)};
  }
  JsonPlace at(std::size_t index) const { return {&(*value)[index], below(std::to_string(index))}; }
  /// Returns the path of a key or an element.
  std::string below(const std::string& key) const { return where + (whole ? ": /" : "/") + key; }
  /// Returns the number of elements. Throws UsageError if it is not a list.
  std::size_t size() const {
    if (!value->is_array()) refuse("a list");
    return value->size();
  }
  double number() const {
    if (!value->is_number()) refuse("a number");
    return value->get<double>();
  }
  /// Returns a number. JSON has no infinities; they are usually written as text.
  double logarithm() const {
    if (*value == "-inf" || *value == "-Infinity") return -std::numeric_limits<double>::infinity();
    return number();
  }
  std::int64_t integer(const char* expected) const {
    if (!value->is_number_integer()) refuse(expected);
    return value->get<std::int64_t>();
  }
  std::string text() const {
    if (!value->is_string()) refuse("a text");
    return value->get<std::string>();
  }
  [[noreturn]] void refuse(const std::string& expected) const {
    constexpr std::size_t shown = 60;
    throw UsageError("{}: {}; expected {}", where, value->dump().substr(0, shown), expected);
  }
};

/// Returns true if a choice of an OpenAI response has this key under "logprobs".
inline bool has_logprobs(const Json& response, const char* key) {
  if (!response.is_object() || !response.contains("choices") || !response["choices"].is_array()) return false;
  const Json& choices = response["choices"];
  return std::any_of(choices.begin(), choices.end(), [key](const Json& choice) {
    return choice.is_object() && choice.contains("logprobs") && choice["logprobs"].is_object() &&
           choice["logprobs"].contains(key);
  });
}

/// Returns the documents of a JSON text: the whole text, the elements of its list, or one per line if the
/// first line is a complete value and others follow; lines of a stream may begin with "data:". Returns
/// nothing if the text is not JSON; `problem` then says why.
std::vector<JsonDocument> json_documents(std::string_view text, const std::string& name,
                                         std::string& problem);
/// Returns the documents. Throws UsageError, naming the file, if the text is not JSON.
std::vector<JsonDocument> json_documents(std::string_view text, const std::string& name);

inline JsonPlace place(const JsonDocument& document) { return {&document.value, document.where, true}; }

}  // namespace speclab
