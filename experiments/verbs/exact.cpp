#include <fmt/format.h>

#include "experiments/exact_analysis.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

double total(const Json& seconds) {
  double sum = 0;
  for (const Json& value : seconds) sum += value.get<double>();
  return sum;
}

}  // namespace

int exact_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab exact CONFIG.json [options]",
      .about =
          "Analyses speculative decoding of the config's models exactly, as a Markov chain over contexts:\n"
          "acceptances of models with memory depend on one another, which the closed forms leave out. "
          "Prints\n"
          "the i.i.d. formulas at the exact alpha, the exact values, a simulation by the config's plan with\n"
          "intervals, and the error of the formulas. Models must read a bounded number of tokens; with "
          "order\n"
          "3 and more, sampling top_k keeps the number of transitions finite. \"search\": {\"max_gamma\": "
          "G}\n"
          "bounds the search for the best gamma. Exit code: 0, or 2 for a config that cannot be analysed.",
      .examples =
          "  speclab exact configs/exact_markov.json\n"
          "  speclab exact configs/exact_austen_bigram.json --set gamma=3 --no-simulation\n",
      .positional = "config"};
  add_config_options(usage.options);
  usage.options.add_options()("json", "print JSON instead of tables")("no-simulation",
                                                                      "formulas and exact values alone");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const ThreadLimit limit(thread_option(*values));
  const Json config = load_config(file, *values);
  const Findings findings =
      in_file(file, [&] { return analyse_exactly(config, values->count("no-simulation") == 0); });
  if (values->count("json") > 0) {
    fmt::print("{}\n", findings.result.dump(1));
    return exit_ok;
  }
  const Json& seconds = findings.timings;
  fmt::print("{}", exact_text(findings.result));
  fmt::print(
      "{:.2f} s for the chain, {:.2f} s for γ = {}, {:.2f} s for the other γ, {:.2f} s for the plan's "
      "rounds\n",
      seconds.at("chain_seconds").get<double>(), total(seconds.at("rounds_seconds")),
      findings.result.at("config").at("gamma").get<int>(), total(seconds.at("search_seconds")),
      total(seconds.at("simulation_seconds")));
  return exit_ok;
}

}  // namespace speclab
