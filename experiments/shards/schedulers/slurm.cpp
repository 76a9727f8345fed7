// Runs shards as a Slurm array job, with sbatch, squeue and scancel alone. A shard's journal shows whether it
// is complete, so the cluster's accounting does not matter.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/child_process.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/shards/scheduler.hpp"

namespace speclab {

namespace {

constexpr std::chrono::seconds between_looks{2};

/// Returns `tasks` for sbatch --array: "1-8%2" lets at most `at_once` = 2 run at a time.
std::string limited(const std::string& tasks, int at_once) {
  return at_once > 0 ? fmt::format("{}%{}", tasks, at_once) : tasks;
}

/// Characters that every version of sbatch reads unchanged in a #SBATCH line. Its rules for quotes,
/// backslashes, # and % differ from shells' and between versions.
constexpr std::string_view bare_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@";

bool is_bare(std::string_view text) { return text.find_first_not_of(bare_letters) == std::string_view::npos; }

/// Returns an option's value for a #SBATCH line. Throws UsageError if it contains other characters.
std::string stated(const char* option, const std::string& value) {
  if (is_bare(value)) return value;
  throw UsageError("--{} {}: expected letters, digits and _-+=./:,@, as Slurm writes it", option,
                   printable_line(value));
}

/// `array` names the tasks in a #SBATCH line; empty if sbatch's command line names them.
std::string script(const Submission& submission, const std::string& array = "") {
  Submission with_threads = submission;
  with_threads.threads = 0;
  std::string text = "#!/bin/sh\n";
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", name, value);
  };
  std::string name = submission.folder.filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char letter) {
        return !is_bare({&letter, 1});
      },
      '-');
  option("job-name", "speclab-" + name);
  option("array", array);
  option("partition", stated("partition", submission.partition));
  option("time", stated("time", submission.time));
  option("mem", stated("mem", submission.memory));
  option("cpus-per-task", submission.threads > 0 ? std::to_string(submission.threads) : "");
  const std::filesystem::path logs = submission.folder / "shards";
  const std::string log = (logs / "slurm-").string();
  // sbatch creates no folders. If it cannot be given the log's path, the shell redirects the output; the log
  // then lacks Slurm's own messages about a task.
  const bool told = is_bare(log) && std::filesystem::is_directory(logs);
  option("output", told ? log + "%A-%a.log" : "/dev/null");
  if (!told) {
    text += fmt::format("mkdir -p -- {} && exec >{}\"$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID.log\" 2>&1\n",
                        shell_word(logs.string()), shell_word(log));
  }
  text += fmt::format("exec {} --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
                      shard_line(with_threads, "\"$SLURM_ARRAY_TASK_ID\""));
  return text;
}

/// Returns the output of a Slurm command. Throws UsageError if it is not installed, std::runtime_error if it
/// fails.
std::string asked(const std::vector<std::string>& command) {
  const auto finished = run_child_process(command);
  if (!finished) {
    throw UsageError(
        "--scheduler slurm: there is no {} here; run it on a login node, or use --scheduler "
        "local, or --print",
        command[0]);
  }
  if (finished->status != 0)
    throw std::runtime_error(fmt::format("{} failed: {}", command[0], printable(finished->err)));
  return finished->out;
}

void run_slurm(const Submission& submission, const std::vector<int>& shards) {
  const std::filesystem::path file = submission.folder / "shards" / "slurm.sh";
  write_file_atomically(file, script(submission));
  const std::string answer = asked(
      {"sbatch", "--parsable",
       fmt::format("--array={}", limited(fmt::format("{}", fmt::join(shards, ",")), submission.at_once)),
       file_argument(file.string())});
  const std::string job = answer.substr(0, answer.find_first_of(";\n"));  // "JOB;CLUSTER"
  fmt::print(stderr, "submitted job {} with {} shards; Ctrl-C cancels it\n", printable(job), shards.size());
  while (true) {
    std::this_thread::sleep_for(between_looks);
    if (interrupted()) {
      asked({"scancel", job});
      return;
    }
    // squeue fails for a job that has left the queue.
    const auto queue = run_child_process({"squeue", "--noheader", "--job", job});
    if (!queue || queue->status != 0 || queue->out.find_first_not_of(" \n") == std::string::npos) return;
  }
}

std::string print_slurm(const Submission& submission) {
  return script(submission, limited(fmt::format("1-{}", submission.shards), submission.at_once));
}

}  // namespace

SchedulerEntry slurm_scheduler() { return {"slurm", "an array job of Slurm", print_slurm, run_slurm}; }

}  // namespace speclab
