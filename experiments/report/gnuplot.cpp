#include "speclab/experiments/report/gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace speclab {
namespace {

[[noreturn]] void fail(std::string_view step, int error) {
  throw std::runtime_error(fmt::format("cannot draw: {}: {}", step, std::generic_category().message(error)));
}

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Unnamed temporary files rather than pipes: nothing to deadlock on, nothing to remove.
File temporary_file() {
  File file(std::tmpfile());
  if (!file) fail("temporary file", errno);
  return file;
}

std::string whole_text(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 1 << 14> buffer = {};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), count);
  }
  return text;
}

// gnuplot reads its standard input a byte at a time, and a script that it is given by name through a buffer:
// a heat map of 10,000 cells draws three times as fast under the name /dev/stdin.
::pid_t start(std::FILE* in, std::FILE* out, std::FILE* err) {
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(err), STDERR_FILENO);
  std::string program = "gnuplot";
  std::string settings = "--default-settings";
  std::string script = "/dev/stdin";
  std::array<char*, 4> arguments = {program.data(), settings.data(), script.data(), nullptr};
  ::pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    throw std::runtime_error("cannot draw: gnuplot is not installed (on Debian: apt install gnuplot-nox)");
  }
  if (error != 0) fail("start gnuplot", error);
  return child;
}

}  // namespace

std::string run_gnuplot(const std::string& script) {
  const File in = temporary_file();
  const File out = temporary_file();
  const File err = temporary_file();
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() || std::fflush(in.get()) != 0) {
    fail("temporary file", errno);
  }
  std::rewind(in.get());
  const ::pid_t child = start(in.get(), out.get(), err.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail("wait for gnuplot", errno);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("cannot draw: gnuplot failed:\n{}", whole_text(err.get())));
  }
  return whole_text(out.get());
}

}  // namespace speclab
