// Errors in an input, with file, JSON path, value and remedy. Values are untrusted text, so both error types
// escape their message for terminals (experiments/base/support/printable.hpp), limit its lines to 1,000
// bytes, and store it completely, although std::exception::what() would end at a NUL.
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
  /// Formats the problem with fmt::format.
  template <class First, class... More>
  ConfigError(const std::string& json_path, fmt::format_string<First, More...> problem, First&& first,
              More&&... more)
      : ConfigError(json_path,
                    fmt::format(problem, std::forward<First>(first), std::forward<More>(more)...)) {}
  std::string path;
  std::string file;  ///< set by `in_file`

  /// Returns "file: path: problem", or "file: problem" if the error concerns the whole file.
  std::string sentence() const;
};

/// Runs `work`, and sets `file` in a ConfigError that it throws; a ModelError becomes a ConfigError about
/// `file`.
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

/// Runs `work`; a ModelError becomes a ConfigError at `path`.
template <class Work>
auto at_path(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
}

/// Wrong usage of the program itself; leads to exit code 2.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& problem);
  template <class First, class... More>
  explicit UsageError(fmt::format_string<First, More...> problem, First&& first, More&&... more)
      : UsageError(fmt::format(problem, std::forward<First>(first), std::forward<More>(more)...)) {}
};

/// Returns read(). Throws UsageError, which names the file, if there is not enough memory.
template <class Read>
auto read_in_memory(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw UsageError(file + ": what it holds, unpacked, needs more memory than there is; give a part of it");
  }
}

/// Throws ConfigError at `path` if `bytes` exceed the available memory; `what` names what needs them and
/// should be made smaller ("5e+07 samples of 64 tokens").
void require_memory(double bytes, const std::string& path, const std::string& what);

/// Returns "; did you mean "x" or "y"?" if known names resemble the word (longest common prefix first), else
/// an empty text.
std::string near_suggestion(const std::string& word, const std::vector<std::string>& known);

/// Returns near_suggestion or, if no name is near, "; known: a, b, c", with only the names of fewest edits if
/// there are very many.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace speclab
