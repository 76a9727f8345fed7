#include "experiments/format/schema.hpp"

#include <fmt/format.h>

#include "experiments/verbs/verb.hpp"

namespace speclab {

int schema_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab schema",
      .about = "Prints the config format as JSON Schema (draft 2020-12), for editors and other tools.",
      .examples = "  speclab schema > speclab.schema.json\n",
      .positional = ""};
  if (!parse(usage, arguments)) return exit_ok;
  fmt::print("{}\n", json_schema().dump(2));
  return exit_ok;
}

}  // namespace speclab
