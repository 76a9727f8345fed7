// The option --python of verbs whose work a Python program does.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// Adds the option; `help` says what that Python does and needs. The Python package's command names its own
/// interpreter (python/speclab_program).
inline void add_python_option(Verb& verb, const char* help) {
  const char* const own = std::getenv("SPECLAB_PYTHON");
  verb.add<std::string>("python PATH", own != nullptr ? own : "/usr/bin/python3", help);
}

/// Returns the option's value. Throws UsageError for a bare name.
inline std::filesystem::path python_option(const Values& values) {
  std::filesystem::path python = values.text("python");
  if (python.string().find('/') == std::string::npos)
    throw UsageError("--python {}: expected a path with a /; nothing is looked for on the PATH",
                     python.string());
  return python;
}

}  // namespace speclab
