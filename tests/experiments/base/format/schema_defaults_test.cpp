// Tests that the defaults in the JSON schema are valid values in a config.
#include "experiments/cli/reference.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/catalog/families.hpp"

using namespace speclab;

namespace {

/// Checks every numeric default in `schema` against the range stated with it, and returns their number.
std::size_t check_defaults(const Json& schema, const std::string& path) {
  std::size_t checked = 0;
  if (schema.is_object() && schema.contains("default") && schema["default"].is_number()) {
    INFO(path);
    const double value = schema["default"].get<double>();
    if (schema.contains("minimum")) CHECK(value >= schema["minimum"].get<double>());
    if (schema.contains("maximum")) CHECK(value <= schema["maximum"].get<double>());
    ++checked;
  }
  if (schema.is_structured()) {
    for (const auto& [key, entry] : schema.items()) checked += check_defaults(entry, path + "/" + key);
  }
  return checked;
}

}  // namespace

TEST_CASE("every numeric default in the schema lies in its range") {
  CHECK(check_defaults(json_schema(families()), "") > 50);
}
