#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/finding_page.hpp"
#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

namespace {

int exact_main(const Values& values) {
  const auto file = values.text("config");
  const ThreadLimit limit(thread_option(values));
  const auto lock = page_lock(values);
  const auto config = load_config(file, values);
  const bool simulates = !values.has("no-simulation");
  const ExactResult result = in_file(file, [&] { return analyse_exactly(*config, simulates); });
  show_finding(values, finding_of(result.title, result, exact_text, exact_headline, exact_figures, config));
  return exit_ok;
}

}  // namespace

Verb exact_verb() {
  Verb verb{
      .name = "exact",
      .sentence = "exact values for models with memory, compared with the i.i.d. formulas and a simulation",
      .line = "speclab exact CONFIG.json [options]",
      .about =
          R"(Analyses speculative decoding of the config's models exactly, as a Markov chain over contexts. If
models have memory, acceptances depend on one another, which the closed forms ignore. It prints the i.i.d.
formulas at the exact alpha, the exact values, a simulation of the config's size with intervals, and the error
of the formulas. Models must read a bounded number of tokens; at order 3 and above, sampling top_k keeps the
number of transitions small. "search": {"max_gamma": G} bounds the search for the best gamma. Exit code: 0, or 2
for a config that cannot be analysed.
)",
      .examples = R"(  speclab exact configs/exact_markov.json
  speclab exact configs/exact_austen_bigram.json --set gamma=3 --no-simulation
)",
      .positional = "config",
      .run = exact_main};
  add_config_options(verb);
  verb.add("json", "print JSON instead of tables");
  verb.add("no-simulation", "print formulas and exact values only");
  add_page_option(verb);
  return verb;
}

}  // namespace speclab
