#include "experiments/base/command/verb.hpp"

namespace speclab {

Verb bench_kernels_verb();

Verb bench_verb() {
  return {.name = "bench",
          .sentence = "measure the speed of GPU kernels",
          .line = "speclab bench kernels [options]",
          .about = "Measures speed on this machine. speclab bench kernels --help explains how.\n",
          .examples = "  speclab bench kernels --dry-run\n",
          .verbs = {bench_kernels_verb()}};
}

}  // namespace speclab
