// Shards as an array job of Slurm. Only sbatch, squeue and scancel are used; whether a shard is complete is
// read from its journal, so that the accounting of the cluster does not matter.
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "experiments/config/config_error.hpp"
#include "experiments/shards/scheduler.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/child_process.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

constexpr std::chrono::seconds between_looks{2};

std::string script(const Submission& submission) {
  Submission with_threads = submission;
  with_threads.threads = 0;
  std::string text = "#!/bin/sh\n";
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", name, value);
  };
  option("job-name", "speclab-" + submission.folder.filename().string());
  option("partition", submission.partition);
  option("time", submission.time);
  option("mem", submission.memory);
  option("cpus-per-task", submission.threads > 0 ? std::to_string(submission.threads) : "");
  option("output", shell_word((submission.folder / "shards" / "slurm-%A-%a.log").string()));
  text += fmt::format("exec {} --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
                      shell_line(shard_words(with_threads, "$SLURM_ARRAY_TASK_ID")));
  return text;
}

/// "1,2,5", with at most `at_once` at a time.
std::string array_of(const std::vector<int>& shards, int at_once) {
  std::string text;
  for (const int shard : shards) text += fmt::format("{}{}", text.empty() ? "" : ",", shard);
  return at_once > 0 ? fmt::format("{}%{}", text, at_once) : text;
}

/// What a command of Slurm prints. Throws UsageError when it is not installed, std::runtime_error when it
/// fails.
std::string asked(const std::vector<std::string>& command) {
  const auto finished = run_child_process(command);
  if (!finished) {
    throw UsageError(
        fmt::format("--scheduler slurm: there is no {} here; run it on a login node, or use "
                    "--scheduler local, or --print",
                    command[0]));
  }
  if (finished->status != 0)
    throw std::runtime_error(fmt::format("{} failed: {}", command[0], printable(finished->err)));
  return finished->out;
}

void run_slurm(const Submission& submission, const std::vector<int>& shards) {
  const std::filesystem::path file = submission.folder / "shards" / "slurm.sh";
  write_file_atomically(file, script(submission));
  const std::string answer =
      asked({"sbatch", "--parsable", "--array=" + array_of(shards, submission.at_once), file.string()});
  const std::string job = answer.substr(0, answer.find_first_of(";\n"));  // "JOB;CLUSTER"
  fmt::print(stderr, "submitted job {} with {} shards; Ctrl-C cancels it\n", printable(job), shards.size());
  while (true) {
    std::this_thread::sleep_for(between_looks);
    if (interrupted()) {
      asked({"scancel", job});
      return;
    }
    // A job that has left the queue is unknown to squeue, which then fails.
    const auto queue = run_child_process({"squeue", "--noheader", "--job", job});
    if (!queue || queue->status != 0 || queue->out.find_first_not_of(" \n") == std::string::npos) return;
  }
}

std::string print_slurm(const Submission& submission) {
  return fmt::format("# sbatch --array=1-{} FILE, where FILE is:\n{}", submission.shards, script(submission));
}

}  // namespace

SchedulerEntry slurm_scheduler() { return {"slurm", "an array job of Slurm", print_slurm, run_slurm}; }

}  // namespace speclab
