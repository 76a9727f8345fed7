// A description of the config format as data. Checking, defaults, `speclab schema` and `speclab list` all
// read the same description, so they cannot disagree.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace speclab {

using Json = nlohmann::ordered_json;

struct Shape;
struct Family;

enum class FieldType { number, integer, boolean, text, choice, object, family, list, map, prompt, base, any };

/// One key of an object.
struct Field {
  std::string name;
  FieldType type;
  std::string doc;
  Json fallback = nullptr;  ///< the value when absent; null means none
  bool required = false;
  std::optional<double> least = {};       ///< smallest allowed number, or fewest entries of a list
  std::optional<double> most = {};        ///< largest allowed number, or most entries
  bool above_least = false;               ///< the smallest is itself excluded
  std::vector<std::string> choices = {};  ///< for `choice`
  const Shape* shape = nullptr;           ///< for `object`
  const Family* family = nullptr;         ///< for `family` and `base`
  const Field* element = nullptr;         ///< for `list` and `map`
};

/// An object with a fixed set of keys; any other key is an error.
struct Shape {
  std::string name;
  std::string doc;
  std::vector<Field> fields;
};

/// Objects told apart by their "kind".
struct Family {
  std::string noun;
  std::vector<Shape> kinds;

  const Shape* find(const std::string& kind) const;
  std::vector<std::string> names() const;
};

/// The format itself.
const Shape& config_shape();
const Family& model_family();
const Family& verifier_family();
const Family& policy_family();
const Family& drafter_family();
/// The section "compare", whose tasks have a corpus each.
const Shape& compare_shape(const Shape& corpus);
const Family& schedule_family();
const Family& experiment_family();

}  // namespace speclab
