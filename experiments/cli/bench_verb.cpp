#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/bench/sim_report.hpp"
#include "experiments/bench/sim_suite.hpp"
#include "experiments/cli/out_folder.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/printable.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

Usage bench_usage() {
  Usage usage{
      .line = "speclab bench SUITE [options]",
      .about = R"(Measures speed on this machine. SUITE is sim: decoding by the simulator, in tokens/s,
rounds/s and ns a token, with the random numbers, table reads and cache misses that a token takes,
beside the bound that follows from this machine's own limits, measured in the same run: Philox
blocks a second, and random reads from memory of the size of the tables. Further rows: plain
programs, one sequence at a time against 32 interleaved ones, several threads against one, runs of
10^6 to 10^8 tokens with their peak memory, training, drafting without a model, and a
plain NumPy program (scripts/numpy_reference.py, run by --python) on the same tables.
All rows are repeated in random order within one run, so that their ratios hold on a machine that
drifts. The whole suite takes some minutes and 9 GiB of memory; --only and --quick take less.
Times differ from run to run. Exit code: 0, 2 for bad input, 130 interrupted.
The other suites, kernels, recordings and rows, have options of their own: speclab bench rows --help.)",
      .examples = R"(  speclab bench sim
  speclab bench sim --only "V = 256" --repetitions 15
  speclab bench sim --only numpy --json
  speclab bench sim --quick --out out/bench
  speclab bench kernels --dry-run
  speclab bench recordings
  speclab bench rows
)",
      .positional = "suite"};
  usage.options.add_options()("out", po::value<std::string>(),
                              "folder for result.json and report.html (default: none are written)")(
      "json", "print result.json instead of tables")("quick",
                                                     "small sizes, some seconds: a try, not a measurement")(
      "long", "runs of 10^9 and 10^10 tokens, too: minutes more")(
      "repetitions", po::value<int>()->default_value(7), "times each row is measured")(
      "only", po::value<std::string>()->default_value(""),
      "rows with this in their names, without regard to case, spaces and commas")(
      "python", po::value<std::string>()->default_value(SimSuiteOptions().python.string()),
      "the Python that runs the row of NumPy: a path, which is run as it is")(
      "threads", po::value<int>()->default_value(2),
      "threads of the row that is compared with one thread; 1: no such row");
  return usage;
}

SimSuiteOptions suite_options(const po::variables_map& values) {
  constexpr int most_repetitions = 1000;
  constexpr int most_threads = 64;  // the simulation's sequences
  SimSuiteOptions options;
  options.brief = values.count("quick") > 0;
  if (options.brief) options.size = SuiteSize::brief();
  options.longer = values.count("long") > 0;
  options.repetitions = ranged_option(values, "repetitions", 1, most_repetitions);
  options.threads = ranged_option(values, "threads", 1, most_threads);
  options.only = values["only"].as<std::string>();
  options.python = values["python"].as<std::string>();
  if (options.python.string().find('/') == std::string::npos) {
    throw UsageError(fmt::format("--python {}: expected a path with a /; nothing is looked for on the PATH",
                                 options.python.string()));
  }
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

int bench_main(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "kernels")
    return bench_kernels_verb({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && arguments.front() == "recordings")
    return bench_recordings_verb({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && arguments.front() == "rows")
    return bench_rows_verb({arguments.begin() + 1, arguments.end()});
  Usage how = bench_usage();
  const auto values = parse(how, arguments);
  if (!values) return exit_ok;
  const auto suite = (*values)["suite"].as<std::string>();
  if (suite != "sim") {
    throw UsageError(fmt::format("unknown suite \"{}\"{}", suite,
                                 suggestion(suite, {"sim", "kernels", "recordings", "rows"})));
  }
  const SimSuiteOptions options = suite_options(*values);
  const bool writes = values->count("out") > 0;
  const std::filesystem::path out = writes ? (*values)["out"].as<std::string>() : "";
  if (writes) refuse_unwritable(out);

  const auto report = run_sim_suite(options);
  if (!report) {
    fmt::print(stderr, "interrupted: nothing was measured to its end\n");
    return exit_interrupted;
  }
  Json json;
  write(sim_report_type(), *report, json);
  if (writes) {
    write_file_atomically(out / "result.json", json.dump(1) + "\n");
    write_report(out, sim_page(*report));
  }
  if (values->count("json") > 0) {
    fmt::print("{}\n", json.dump(1));
  } else {
    print(sim_text(*report));
    if (writes) fmt::print("report: {}\n", printable_line((out / "report.html").string()));
  }
  return exit_ok;
}

}  // namespace

Verb bench_verb() {
  return {"bench",
          "measure the speed of the simulator, of GPU kernels, of reading recordings or of work on rows",
          bench_main};
}

}  // namespace speclab
