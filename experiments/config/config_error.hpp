// What is wrong with an input, said once: file, JSON path, value, remedy.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace speclab {

struct ConfigError : std::runtime_error {
  /// `path` is a JSON pointer ("/models/target/kind"; "/" for the whole document).
  ConfigError(const std::string& json_path, const std::string& problem)
      : std::runtime_error(problem), path(json_path.empty() ? "/" : json_path) {}
  std::string path;
  std::string file;  ///< set by `in_file`

  /// "file: path: problem".
  std::string sentence() const;
};

/// Runs `work`; a ConfigError that leaves it is about `file`.
template <class Work>
auto in_file(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (ConfigError& error) {
    if (error.file.empty()) error.file = file;
    throw;
  }
}

/// Bad usage of the program itself: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "; did you mean "x"?" when a known name is near, else "; known: a, b, c".
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace speclab
