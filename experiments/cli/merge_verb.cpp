#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/cli/run_and_write.hpp"
#include "experiments/results/folder_lock.hpp"
#include "experiments/shards/shard_run.hpp"

namespace speclab {

namespace {

int merge_main(const Values& values) {
  const std::filesystem::path folder = values.text("folder");
  const ThreadLimit limit(thread_option(values));
  refuse_unwritable(folder);
  const FolderLock lock(folder);
  RunResult merged = merge_shards(folder);
  if (merged.result.partial) return exit_interrupted;
  merged.timings.command = fmt::format("speclab merge {}", shell_word(file_argument(folder.string())));
  write_and_print(merged, values, folder);
  return exit_ok;
}

}  // namespace

Verb merge_verb() {
  Verb verb{
      .name = "merge",
      .sentence = "join the shards of a run",
      .line = "speclab merge FOLDER [options]",
      .about =
          R"(Joins the shards that `speclab run CONFIG --shard I/N --out FOLDER` left in FOLDER/shards, and writes
what one process would have written there: the same bytes of result.json. It first checks that all shards ran
the same config with the same program on the same inputs, that no cell is missing, and that cells that were run
twice have equal results. If something is missing, it prints the commands that run it (exit code 2). The shards
are kept; remove FOLDER/shards when you no longer need them.
)",
      .examples = R"(  speclab merge out/first
  speclab merge out/first --json
)",
      .positional = "folder",
      .run = merge_main};
  verb.add("json", "print result.json to standard output instead of a table");
  verb.add("quiet,q", "do not print the table");
  add_thread_option(verb);
  add_csv_option(verb);
  return verb;
}

}  // namespace speclab
