#include "experiments/base/command/print_result.hpp"

#include <nlohmann/json.hpp>

namespace speclab {

std::string json_text_of(const void* value, const Type& type) {
  Json json;
  type.write(value, json);
  return json.dump(1);
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(1)); }

}  // namespace speclab
