// What is wrong with an input, said once: file, JSON path, value, remedy. Values are other people's text:
// both errors hold their message as a terminal may show it (experiments/base/support/printable.hpp), in lines
// of 1,000 bytes at most, and whole, where std::exception::what() would end at a NUL.
#pragma once

#include <fmt/core.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/error.hpp"

namespace speclab {

struct ConfigError : std::runtime_error {
  /// `path` is a JSON pointer ("/models/target/kind"; "/" for the whole document).
  ConfigError(const std::string& json_path, const std::string& problem);
  /// With the problem that fmt::format makes of these.
  template <class First, class... More>
  ConfigError(const std::string& json_path, fmt::format_string<First, More...> problem, First&& first,
              More&&... more)
      : ConfigError(json_path,
                    fmt::format(problem, std::forward<First>(first), std::forward<More>(more)...)) {}
  std::string path;
  std::string file;  ///< set by `in_file`

  /// "file: path: problem"; "file: problem" of a whole file.
  std::string sentence() const;
};

/// Runs `work`; a ConfigError or a ModelError that leaves it is about `file`, and a ConfigError.
template <class Work>
auto in_file(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (ConfigError& error) {
    if (error.file.empty()) error.file = file;
    throw;
  } catch (const ModelError& error) {
    ConfigError of_file("/", error.what());
    of_file.file = file;
    throw of_file;
  }
}

/// Bad usage of the program itself: exit code 2.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& problem);
  template <class First, class... More>
  explicit UsageError(fmt::format_string<First, More...> problem, First&& first, More&&... more)
      : UsageError(fmt::format(problem, std::forward<First>(first), std::forward<More>(more)...)) {}
};

/// read(), or UsageError that names the file when memory does not suffice for it.
template <class Read>
auto read_in_memory(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw UsageError(file + ": what it holds, unpacked, needs more memory than there is; give a part of it");
  }
}

/// Throws ConfigError at `path` when so many bytes are more than can be taken; `what` says for what, and what
/// to make smaller ("5e+07 samples of 64 tokens").
void require_memory(double bytes, const std::string& path, const std::string& what);

/// "; did you mean "x" or "y"?" where known names are near (the longest common beginning first), else empty.
std::string near_suggestion(const std::string& word, const std::vector<std::string>& known);

/// The same; where no name is near "; known: a, b, c", of very many names those of the fewest edits.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace speclab
