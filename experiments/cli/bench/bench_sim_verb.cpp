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
      .sentence = "decoding by the simulator",
      .line = "speclab bench sim [options]",
      .about =
          R"(Measures decoding by the simulator on this machine, in tokens/s, rounds/s and ns a token: the fast engine on
pairs of several sizes and under several rules, beside plain programs, one sequence at a time against 32
interleaved ones, and several threads against one. All rows are repeated in random order within one run, so
that their ratios hold on a machine that drifts. The whole suite takes some minutes and 9 GiB of memory;
--only and --quick take less. Times differ from run to run. Exit code: 0, 2 for bad input, 130 interrupted.)",
      .examples = R"(  speclab bench sim
  speclab bench sim --only "V = 256" --repetitions 15
  speclab bench sim --quick --json
)",
      .run = bench_sim_main};
  verb.add("json", "print JSON instead of tables");
  verb.add("quick", "small sizes, some seconds: a try, not a measurement");
  verb.add<int>("repetitions", 7, "times each row is measured");
  verb.add<std::string>("only", "",
                        "rows with this in their names, without regard to case, spaces and commas");
  verb.add<int>("threads", 2, "threads of the row that is compared with one thread; 1: no such row");
  return verb;
}

}  // namespace speclab
