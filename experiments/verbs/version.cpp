#include "experiments/version.hpp"

#include <fmt/format.h>

#include "experiments/verbs/verb.hpp"

namespace speclab {

int version_verb(const std::vector<std::string>& arguments) {
  Usage usage{.line = "speclab version",
              .about = "Prints the version, the compiler, CUDA and the dependencies of this build.",
              .examples = "  speclab version\n",
              .positional = ""};
  if (!parse(usage, arguments)) return exit_ok;
  fmt::print("{}", build_description());
  return exit_ok;
}

}  // namespace speclab
