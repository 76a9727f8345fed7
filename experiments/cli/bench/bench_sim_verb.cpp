#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/bench/sim_report.hpp"
#include "experiments/bench/sim_suite.hpp"
#include "experiments/results/finding_page.hpp"

namespace speclab {

namespace {

SimSuiteOptions suite_options(const Values& values) {
  constexpr int max_repetitions = 1000;
  constexpr int max_threads = 64;  // the number of sequences in the simulation
  SimSuiteOptions options;
  options.brief = values.has("quick");
  if (options.brief) options.size = SuiteSize::brief();
  options.longer = values.has("long");
  options.repetitions = ranged_option(values, "repetitions", 1, max_repetitions);
  options.threads = ranged_option(values, "threads", 1, max_threads);
  options.only = values.text("only");
  options.python = python_option(values);
  options.command =
      fmt::format("speclab bench sim{}{} --repetitions {} --threads {}", options.brief ? " --quick" : "",
                  options.longer ? " --long" : "", options.repetitions, options.threads);
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
  const SimSuiteOptions options = suite_options(values);
  const std::filesystem::path out = page_folder(values);
  const SimReport report = run_sim_suite(options);
  const std::string json = json_text_of(report);
  if (!out.empty()) {
    write_file_atomically(out / "result.json", json + "\n");
    write_report(out, sim_page(report));
  }
  if (values.has("json")) {
    fmt::print("{}\n", json);
  } else {
    print(sim_text(report));
    if (!out.empty()) fmt::print("report: {}\n", printable_line((out / "report.html").string()));
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
          R"(Measures decoding by the simulator on this machine, in tokens/s, rounds/s and ns a token, with the random numbers, table reads and cache misses that a token takes,
beside the bound that follows from this machine's own limits, measured in the same run: Philox
blocks a second, and random reads from memory of the size of the tables. Further rows: plain
programs, one sequence at a time against 32 interleaved ones, several threads against one, runs of
10^6 to 10^8 tokens with their peak memory, training, drafting without a model, and a
plain NumPy program (scripts/numpy_reference.py, run by --python) on the same tables.
All rows are repeated in random order within one run, so that their ratios hold on a machine that
drifts. The whole suite takes some minutes and 9 GiB of memory; --only and --quick take less.
Times differ from run to run. Exit code: 0, 2 for bad input, 130 interrupted.)",
      .examples = R"(  speclab bench sim
  speclab bench sim --only "V = 256" --repetitions 15
  speclab bench sim --only numpy --json
  speclab bench sim --quick --out out/bench
)",
      .run = bench_sim_main};
  verb.add<std::string>("out", "folder for result.json and report.html (default: none are written)");
  verb.add("json", "print result.json instead of tables");
  verb.add("quick", "small sizes, some seconds: a try, not a measurement");
  verb.add("long", "runs of 10^9 and 10^10 tokens, too: minutes more");
  verb.add<int>("repetitions", 7, "times each row is measured");
  verb.add<std::string>("only", "",
                        "rows with this in their names, without regard to case, spaces and commas");
  add_python_option(verb, "the Python that runs the row of NumPy: a path, which is run as it is");
  verb.add<int>("threads", 2, "threads of the row that is compared with one thread; 1: no such row");
  return verb;
}

}  // namespace speclab
