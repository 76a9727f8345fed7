#include "experiments/cli/verb.hpp"

namespace speclab {

Verb bench_sim_verb();
Verb bench_kernels_verb();
Verb bench_recordings_verb();
Verb bench_rows_verb();

Verb bench_verb() {
  return {.name = "bench",
          .sentence =
              "measure the speed of the simulator, of GPU kernels, of reading recordings or of work on rows",
          .line = "speclab bench SUITE [options]",
          .about = "Measures speed on this machine. speclab bench SUITE --help explains one.\n",
          .examples = R"(  speclab bench sim --quick
  speclab bench kernels --dry-run
  speclab bench recordings
  speclab bench rows
)",
          .verbs = {bench_sim_verb(), bench_kernels_verb(), bench_recordings_verb(), bench_rows_verb()}};
}

}  // namespace speclab
