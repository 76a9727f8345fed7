#include <fmt/format.h>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/bench/sim_suite.hpp"

namespace speclab {

namespace {

SimSuiteOptions suite_options(const Values& values) {
  constexpr int max_repetitions = 1000;
  constexpr int max_threads = 64;  // the number of sequences in the simulation
  SimSuiteOptions options;
  options.brief = values.has("quick");
  if (options.brief) options.size = SuiteSize::brief();
  options.repetitions = ranged_option(values, "repetitions", 1, max_repetitions);
  options.threads = ranged_option(values, "threads", 1, max_threads);
  options.only = values.text("only");
  options.command = fmt::format("speclab bench sim{} --repetitions {} --threads {}",
                                options.brief ? " --quick" : "", options.repetitions, options.threads);
  if (!options.only.empty()) options.command += " --only " + shell_word(options.only);
  return options;
}

void print(const Page& page) {
  for (const auto& [name, fact] : page.facts) fmt::print("{}\n", fact);
  for (const Table& table : page.sections.front().tables) fmt::print("\n{}", terminal(table));
  fmt::print("\n");
  for (const std::string& note : page.sections.front().notes) fmt::print("- {}\n", note);
}

int bench_sim_main(const Values& values) {
  const SimReport report = run_sim_suite(suite_options(values));
  if (values.has("json")) {
    fmt::print("{}\n", json_text_of(report));
  } else {
    print(sim_text(report));
  }
  return exit_ok;
}

}  // namespace

Verb bench_sim_verb() {
  Verb verb{
      .name = "sim",
      .sentence = "measure decoding by the simulator",
      .line = "speclab bench sim [options]",
      .about =
          R"(Measures decoding by the simulator on this machine, in tokens/s, rounds/s and ns per token. It runs the fast
engine on pairs of several sizes and under several rules, compares it with plain programs, one sequence with 32
interleaved ones, and several threads with one. All rows are repeated in random order within one run, so that
their ratios hold even if the machine's speed drifts. The whole suite takes a few minutes and 9 GiB of memory;
--only and --quick take less. Times vary between runs. Exit code: 0, 2 for bad input, 130 interrupted.)",
      .examples = R"(  speclab bench sim
  speclab bench sim --only "V = 256" --repetitions 15
  speclab bench sim --quick --json
)",
      .run = bench_sim_main};
  verb.add("json", "print JSON instead of tables");
  verb.add("quick", "use small sizes and a few seconds: a trial run, not a measurement");
  verb.add<int>("repetitions", 7, "how often each row is measured");
  verb.add<std::string>("only", "",
                        "measure only rows whose names contain this; case, spaces and commas do not matter");
  verb.add<int>("threads", 2, "threads to compare with one thread; 1: no comparison");
  return verb;
}

}  // namespace speclab
