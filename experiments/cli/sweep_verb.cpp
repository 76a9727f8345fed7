#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/cli/run_and_write.hpp"
#include "experiments/config/shown_config.hpp"

namespace speclab {

Verb sweep_verb() {
  Verb verb{
      .name = "sweep",
      .sentence = "run a config over a grid of values",
      .line = "speclab sweep CONFIG.json [options]",
      .about =
          R"(Runs every cell of the grid that the config's "sweep" describes, in parallel. The sweep gives a list or
range of values for each path; the grid is their Cartesian product. results.csv has one row per cell; report.html
has curves or a heat map. Cells share random numbers, so that they can be compared in pairs. --backend cuda
simulates on a GPU, as in run.
)",
      .examples = R"(  speclab sweep configs/sweep_alpha_gamma.json
  speclab sweep configs/sweep_formula.json --set cost.c_hat=0.1 --out out/chat
  speclab sweep configs/iid_grid.json --backend cuda
)",
      .positional = "config",
      .run = [](const Values& values) {
        return run_and_write(values, "sweep", [](const Config& config) {
          if (shown_part(config).sweep) return;
          throw ConfigError("/sweep",
                            "missing; it lists values by path, for example {\"/gamma\": [1, 3, 5]}");
        });
      }};
  add_run_options(verb);
  add_backend_option(verb);
  return verb;
}

}  // namespace speclab
