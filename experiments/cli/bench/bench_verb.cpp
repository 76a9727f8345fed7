#include "experiments/cli/verb.hpp"

namespace speclab {

Verb bench_sim_verb();
Verb bench_kernels_verb();
Verb bench_recordings_verb();
Verb bench_rows_verb();
Verb bench_rules_verb();

Verb bench_verb() {
  return {.name = "bench",
          .sentence =
              "measure the speed of the simulator, GPU kernels, reading recordings, work on rows, or rules",
          .line = "speclab bench SUITE [options]",
          .about = "Measures speed on this machine. speclab bench SUITE --help explains one.\n",
          .examples = R"(  speclab bench sim --quick
  speclab bench kernels --dry-run
  speclab bench recordings
  speclab bench rows
  speclab bench rules
)",
          .verbs = {bench_sim_verb(), bench_kernels_verb(), bench_recordings_verb(), bench_rows_verb(),
                    bench_rules_verb()}};
}

}  // namespace speclab
