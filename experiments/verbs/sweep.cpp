#include "experiments/format/config_error.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

int sweep_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab sweep CONFIG.json [options]",
      .about =
          "Runs every cell of the grid that the config's \"sweep\" describes: lists or ranges of values by\n"
          "path, as a Cartesian product, in parallel. One row of results.csv a cell; curves or a heat map\n"
          "in report.html. Cells share random numbers, so that they compare pair by pair. --backend cuda\n"
          "simulates them on a GPU, as run does.",
      .examples =
          "  speclab sweep configs/sweep_alpha_gamma.json\n"
          "  speclab sweep configs/sweep_formula.json --set cost.c_hat=0.1 --out out/chat\n"
          "  speclab sweep configs/iid_grid.json --backend cuda\n",
      .positional = "config"};
  add_run_options(usage.options);
  add_backend_option(usage.options);
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  return run_and_write(*values, "sweep", [](const Json& resolved) {
    if (resolved.contains("sweep")) return;
    throw ConfigError("/sweep", "missing; it lists values by path, for example {\"/gamma\": [1, 3, 5]}");
  });
}

}  // namespace speclab
