#include "experiments/base/support/child_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/stop.hpp"

namespace speclab {

namespace {

[[noreturn]] void fail(std::string_view step, int error) {
  throw std::runtime_error(fmt::format("{}: {}", step, std::generic_category().message(error)));
}

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Unnamed temporary files cannot deadlock as pipes can, and need not be removed.
File temporary_file() {
  File file(std::tmpfile());
  if (!file) fail("temporary file", errno);
  return file;
}

std::string whole_text(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 1 << 14> buffer = {};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file))
    text.append(buffer.data(), count);
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  return all;
}

}  // namespace

std::optional<Finished> run_child_process(std::vector<std::string> command, const std::string& input,
                                          std::vector<std::string> environment, ChildProcess ends) {
  const File in = temporary_file();
  const File out = temporary_file();
  const File err = temporary_file();
  if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() || std::fflush(in.get()) != 0)
    fail("temporary file", errno);
  std::rewind(in.get());

  std::vector<char*> arguments = pointers(command);
  arguments.push_back(nullptr);
  // If a name is set twice, the first setting counts.
  std::vector<char*> settings = pointers(environment);
  for (char** own = environ; *own != nullptr; ++own) settings.push_back(*own);
  settings.push_back(nullptr);

  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(err.get()), STDERR_FILENO);
  // The child has its own process group, because Ctrl-C is for this process, which waits for the child or
  // ends it.
  ::posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), settings.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) fail("start " + command[0], error);

  int status = 0;
  const bool asks = ends == ChildProcess::ends_with_us;
  for (bool asked = false;;) {
    const ::pid_t ended = ::waitpid(child, &status, asks ? WNOHANG : 0);
    if (ended == child) {
      if (asked) throw Stopped{};
      break;
    }
    if (ended < 0 && errno != EINTR) fail("wait for " + command[0], errno);
    if (!asks) continue;
    if (!asked && stop_asked()) {
      asked = true;
      ::kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  constexpr int signalled = 128;  // added to the signal's number, as shells do
  return Finished{WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status),
                  whole_text(out.get()), whole_text(err.get())};
}

}  // namespace speclab
