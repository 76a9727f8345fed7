#include "experiments/base/command/verb.hpp"

#include <fmt/format.h>

namespace speclab {

int interrupted_exit(const char* what) {
  fmt::print(stderr, "interrupted: {}\n", what);
  return exit_interrupted;
}

}  // namespace speclab
