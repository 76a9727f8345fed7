#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/command/verb.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/cli/reference.hpp"

namespace speclab {

Verb schema_verb() {
  return {.name = "schema",
          .sentence = "print the config format as JSON Schema",
          .line = "speclab schema",
          .about = "Prints the config format as JSON Schema (draft 2020-12), for editors and other tools.\n",
          .examples = "  speclab schema > speclab.schema.json\n",
          .run = [](const Values&) {
            fmt::print("{}\n", json_schema(families()).dump(2));
            return exit_ok;
          }};
}

}  // namespace speclab
