#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/catalog/families.hpp"
#include "experiments/cli/reference.hpp"
#include "experiments/cli/verb.hpp"

namespace speclab {

namespace {

int schema_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab schema",
      .about = "Prints the config format as JSON Schema (draft 2020-12), for editors and other tools.\n",
      .examples = "  speclab schema > speclab.schema.json\n"};
  if (!parse(usage, arguments)) return exit_ok;
  fmt::print("{}\n", json_schema(families()).dump(2));
  return exit_ok;
}

}  // namespace

Verb schema_verb() { return {"schema", "the config format as JSON Schema", schema_main}; }

}  // namespace speclab
