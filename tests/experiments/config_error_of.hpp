// Returns the sentences of errors, for tests of messages.
#pragma once

#include <string>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// Returns "path: problem" of the ConfigError that `work` throws, or "" if it throws none.
template <class Work>
std::string config_error_of(const Work& work) {
  try {
    work();
  } catch (const ConfigError& error) {
    return error.sentence();
  }
  return "";
}

/// Returns the message of the UsageError that `work` throws, or "" if it throws none.
template <class Work>
std::string usage_error_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace speclab
