#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/cli/run_and_write.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/folder_lock.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/shards/scheduler.hpp"
#include "experiments/shards/shard_run.hpp"

namespace speclab {

namespace {

void print_estimate(const ShardEstimate& estimate, int shards) {
  const double seconds = estimate.prepare_seconds + estimate.work_seconds.value_or(0);
  const std::string time = estimate.work_seconds
                               ? fmt::format("about {:.3g} s with {} {}", seconds, thread_count(),
                                             thread_count() == 1 ? "thread" : "threads")
                               : fmt::format("more than {:.3g} s", seconds);
  fmt::print(stderr, "{} shards, each {} and {:.0f} MB of memory\n", shards, time, estimate.bytes / 1e6);
}

int submit_main(const Values& values) {
  if (!values.has("shards")) throw UsageError("missing --shards N: how many parts the run is cut into");
  const auto file = values.text("config");
  const std::filesystem::path folder = run_folder(values, file);
  const SchedulerEntry& scheduler = scheduler_named(values.text("scheduler"));
  Submission submission{
      .command = {std::filesystem::read_symlink("/proc/self/exe").string(), "run", file_argument(file)},
      .folder = folder,
      .shards = ranged_option(values, "shards", 1, max_shards),
      .threads = thread_option(values),
      .at_once = ranged_option(values, "at-once", 0, max_shards),
      .partition = values.text("partition"),
      .time = values.text("time"),
      .memory = values.text("mem")};
  const auto add = [&](const char* option, const std::string& value) {
    const std::vector<std::string> words = option_words(option, value);
    submission.command.insert(submission.command.end(), words.begin(), words.end());
  };
  for (const std::string& assignment : values.texts("set")) add("--set", assignment);
  if (const auto seed = values.given<std::int64_t>("seed")) add("--seed", std::to_string(*seed));
  add("--out", folder.string());
  const auto config = with_sections(*load_config(file, values));
  if (values.has("print")) {
    fmt::print("{}", scheduler.print(submission));
    return exit_ok;
  }
  refuse_unwritable(folder);
  refuse_foreign_result(folder, *config);
  const bool quiet = values.has("quiet");
  const int pilot = ranged_option(values, "pilot", 0, 3600);
  const int retries = ranged_option(values, "retries", 0, 1000);
  if (pilot > 0 && !quiet) {
    const ThreadLimit limit(std::max(submission.threads, 1));  // as many threads as a shard gets
    in_file(file,
            [&] { print_estimate(estimate_shard(*config, submission.shards, pilot), submission.shards); });
  }
  if (interrupted()) return exit_interrupted;
  if (!submit_shards(submission, scheduler, retries))
    return interrupted() ? exit_interrupted : exit_bad_input;
  const FolderLock lock(folder);
  TerminalWatch watch("merge", quiet);
  RunResult merged = merge_shards(folder, [&](std::uint64_t total) { return watch.control(total); });
  if (merged.result.partial) return exit_interrupted;
  merged.timings.command = shell_line(submission.command);
  write_and_print(merged, values, folder);
  return exit_ok;
}

}  // namespace

Verb submit_verb() {
  Verb verb{
      .name = "submit",
      .sentence = "run a config in shards, by Slurm or on this machine",
      .line = "speclab submit CONFIG.json --shards N [options]",
      .about = R"(Runs a config in N shards, each in its own process, and merges them into the same bytes of
result.json as `speclab run` writes. --scheduler slurm submits an array job and watches it; local runs the
shards as processes on this machine. Failed shards are submitted again. All machines must see the folder of
the results and find the program, the config and its input files under the same paths. It first runs shard 1
for a few seconds and prints an estimate. After Ctrl-C or a failure the same command continues from the
complete shards. --print runs nothing and prints one command for each shard (local) or a script (slurm).
docs/shards.md has the lines for Kubernetes and GNU parallel.
)",
      .examples = R"(  speclab submit configs/first.json --shards 4
  speclab submit configs/first.json --shards 100 --scheduler slurm --partition long --time 2:00:00
  speclab submit configs/first.json --shards 100 --scheduler slurm --print
)",
      .positional = "config",
      .run = submit_main};
  verb.section("Shards");
  verb.add<int>("shards", "number of shards, of equal cost");
  verb.add<std::string>("scheduler local|slurm", "local", "what runs the shards");
  verb.add("print", "print what the scheduler needs, and run nothing");
  verb.add<int>("retries", 2, "how often failed shards are submitted again");
  verb.add<int>("at-once", 0, "shards that run at the same time; 0: the scheduler decides");
  verb.add<int>("pilot SECONDS", 3, "how long shard 1 runs for the estimate; 0: no estimate");
  verb.section("Slurm");
  verb.add<std::string>("partition NAME", "", "partition to use");
  verb.add<std::string>("time TIME", "", "time limit of a shard, in Slurm's format");
  verb.add<std::string>("mem MEMORY", "", "memory of a shard, in Slurm's format");
  verb.section("Simulation");
  add_config_options(verb);
  verb.section("Output");
  verb.add<std::string>(
      "out FOLDER",
      "folder for the results (default: out/<config's name>, followed by what --set and --seed change)");
  verb.add("quiet,q", "print neither table nor progress");
  verb.add("json", "print result.json instead of a table");
  add_csv_option(verb);
  return verb;
}

}  // namespace speclab
