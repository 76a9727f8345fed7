// Runs shards as processes of this machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/shards/scheduler.hpp"

namespace speclab {

namespace {

/// Starts a shard, with output to FOLDER/shards/3-of-8.log.
::pid_t start(const Submission& submission, int shard) {
  std::vector<std::string> words = submission.command;
  words.insert(words.end(), {"--quiet", "--shard", fmt::format("{}/{}", shard, submission.shards)});
  if (submission.threads > 0) words.insert(words.end(), {"--threads", std::to_string(submission.threads)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log =
      (submission.folder / "shards" / fmt::format("{}-of-{}.log", shard, submission.shards)).string();
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0666);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  ::pid_t process = 0;
  const int error = ::posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot start shard {} ({}): {}", shard, words[0],
                                         std::generic_category().message(error)));
  }
  return process;
}

void run_local(const Submission& submission, const std::vector<int>& shards) {
  // By default each shard has one thread, so that shards fill the cores.
  Submission mine = submission;
  if (mine.threads == 0) mine.threads = 1;
  const int cores = thread_count();
  const auto at_once =
      static_cast<std::size_t>(mine.at_once > 0 ? mine.at_once : std::max(cores / mine.threads, 1));
  std::map<::pid_t, int> running;
  std::size_t next = 0;
  bool told = false;
  while (!running.empty() || (next < shards.size() && !told)) {
    while (!told && running.size() < at_once && next < shards.size()) {
      const int shard = shards[next++];
      running.emplace(start(mine, shard), shard);
    }
    if (interrupted() && !told) {
      for (const auto& [process, shard] : running) ::kill(process, SIGTERM);
      told = true;
    }
    int status = 0;
    const ::pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended > 0) {
      running.erase(ended);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

std::string print_local(const Submission& submission) {
  std::string text;
  for (int shard = 1; shard <= submission.shards; ++shard)
    text += shard_line(submission, std::to_string(shard)) + "\n";
  return text;
}

}  // namespace

SchedulerEntry local_scheduler() {
  return {"local", "processes of this machine, as many at a time as there are cores", print_local, run_local};
}

}  // namespace speclab
