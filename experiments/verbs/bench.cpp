#include <fmt/format.h>

#include <filesystem>

#include "experiments/bench/sim_report.hpp"
#include "experiments/bench/sim_suite.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

Usage usage() {
  Usage usage{
      .line = "speclab bench SUITE [options]",
      .about =
          "Measures speed on this machine. SUITE is sim: decoding by the simulator, in tokens/s, rounds/s "
          "and\n"
          "ns a token, with the random numbers, table reads and cache misses that a token takes, beside the\n"
          "bound that follows from this machine's own limits, measured in the same run: Philox blocks a\n"
          "second, and random reads from memory of the size of the tables. Further rows: plain programs, "
          "one\n"
          "lane against 32, several threads against one, runs of 10^6 to 10^8 tokens with their peak "
          "memory,\n"
          "training, and a plain NumPy program (scripts/numpy_reference.py) on the same tables.\n"
          "All rows are repeated in random order within one run, so that their ratios hold on a machine "
          "that\n"
          "drifts. The whole suite takes some minutes and 9 GiB of memory; --only and --quick take less.\n"
          "Times differ from run to run. Exit code: 0, 2 for bad input, 130 interrupted.\n"
          "The other suite, kernels, has options of its own: speclab bench kernels --help.",
      .examples =
          "  speclab bench sim\n"
          "  speclab bench sim --only \"V = 256\" --repetitions 15\n"
          "  speclab bench sim --only numpy --json\n"
          "  speclab bench sim --quick --out out/bench\n"
          "  speclab bench kernels --dry-run\n",
      .positional = "suite"};
  usage.options.add_options()("out", po::value<std::string>(),
                              "folder for result.json and report.html (default: none are written)")(
      "json", "print result.json instead of tables")("quick",
                                                     "small sizes, some seconds: a try, not a measurement")(
      "long", "runs of 10^9 and 10^10 tokens, too: minutes more")(
      "repetitions", po::value<int>()->default_value(7), "times each row is measured")(
      "only", po::value<std::string>()->default_value(""),
      "rows with this in their names, without regard to case, spaces and commas")(
      "threads", po::value<int>()->default_value(2),
      "threads of the row that is held against one thread; 1: no such row");
  return usage;
}

SimSuiteOptions suite_options(const po::variables_map& values) {
  constexpr int most_repetitions = 1000;
  constexpr int most_threads = 64;  // the plan's sequences
  SimSuiteOptions options;
  options.quick = values.count("quick") > 0;
  if (options.quick) options.size = SuiteSize::quick();
  options.longer = values.count("long") > 0;
  options.repetitions = values["repetitions"].as<int>();
  if (options.repetitions < 1 || options.repetitions > most_repetitions) {
    throw UsageError(
        fmt::format("--repetitions {}: expected 1 to {}", options.repetitions, most_repetitions));
  }
  options.threads = values["threads"].as<int>();
  if (options.threads < 1 || options.threads > most_threads) {
    throw UsageError(fmt::format("--threads {}: expected 1 to {}", options.threads, most_threads));
  }
  options.only = values["only"].as<std::string>();
  options.command =
      fmt::format("speclab bench sim{}{} --repetitions {} --threads {}", options.quick ? " --quick" : "",
                  options.longer ? " --long" : "", options.repetitions, options.threads);
  if (!options.only.empty()) options.command += fmt::format(" --only \"{}\"", options.only);
  return options;
}

void print(const Json& result) {
  fmt::print("speclab {}\n{}\n{}\n", result.at("version").get<std::string>(),
             result.at("machine").get<std::string>(), result.at("command").get<std::string>());
  for (const Table& table : sim_tables(result)) fmt::print("\n{}", terminal(table));
  fmt::print("\n");
  for (const std::string& note : sim_notes(result)) fmt::print("- {}\n", note);
}

}  // namespace

int bench_verb(const std::vector<std::string>& arguments) {
  if (about_kernels(arguments)) return bench_kernels_verb({arguments.begin() + 1, arguments.end()});
  Usage how = usage();
  const auto values = parse(how, arguments);
  if (!values) return exit_ok;
  const auto suite = (*values)["suite"].as<std::string>();
  if (suite != "sim") {
    throw UsageError(fmt::format("unknown suite \"{}\"{}", suite, suggestion(suite, {"sim", "kernels"})));
  }
  const SimSuiteOptions options = suite_options(*values);
  const bool writes = values->count("out") > 0;
  const std::filesystem::path out = writes ? (*values)["out"].as<std::string>() : "";
  if (writes) refuse_unwritable(out);

  const InterruptGuard guard;
  const auto result = run_sim_suite(options);
  if (!result) {
    fmt::print(stderr, "interrupted: nothing was measured to its end\n");
    return exit_interrupted;
  }
  if (writes) {
    write_file_atomically(out / "result.json", result->dump(1) + "\n");
    write_file_atomically(out / "report.html", html(sim_page(*result)));
  }
  if (values->count("json") > 0) {
    fmt::print("{}\n", result->dump(1));
  } else {
    print(*result);
    if (writes) fmt::print("report: {}\n", (out / "report.html").string());
  }
  return exit_ok;
}

}  // namespace speclab
