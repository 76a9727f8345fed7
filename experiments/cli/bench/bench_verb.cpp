#include "experiments/base/command/verb.hpp"

namespace speclab {

Verb bench_sim_verb();
Verb bench_kernels_verb();

Verb bench_verb() {
  return {.name = "bench",
          .sentence = "measure the speed of the simulator or of GPU kernels",
          .line = "speclab bench SUITE [options]",
          .about = "Measures speed on this machine. speclab bench SUITE --help explains one.\n",
          .examples = R"(  speclab bench sim --quick
  speclab bench kernels --dry-run
)",
          .verbs = {bench_sim_verb(), bench_kernels_verb()}};
}

}  // namespace speclab
