#include <fmt/format.h>

#include "experiments/cli/verb.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

namespace {

int version_main(const std::vector<std::string>& arguments) {
  Usage usage{.line = "speclab version",
              .about = "Prints the version, the compiler, CUDA and the dependencies of this build.\n",
              .examples = "  speclab version\n"};
  if (!parse(usage, arguments)) return exit_ok;
  fmt::print("{}", build_description());
  return exit_ok;
}

}  // namespace

Verb version_verb() { return {"version", "what this program was built from", version_main}; }

}  // namespace speclab
