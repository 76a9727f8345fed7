#include <fmt/format.h>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/version.hpp"

namespace speclab {

Verb version_verb() {
  return {.name = "version",
          .sentence = "print what this program was built from",
          .line = "speclab version",
          .about = "Prints the version, the compiler, CUDA and the dependencies of this build.\n",
          .examples = "  speclab version\n",
          .run = [](const Values&) {
            fmt::print("{}", build_description());
            return exit_ok;
          }};
}

}  // namespace speclab
