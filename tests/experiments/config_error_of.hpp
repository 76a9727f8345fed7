// The sentences of errors, for tests of messages.
#pragma once

#include <string>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// "path: problem" of the ConfigError that `work` throws, or "" without one.
template <class Work>
std::string config_error_of(const Work& work) {
  try {
    work();
  } catch (const ConfigError& error) {
    return error.sentence();
  }
  return "";
}

/// What the UsageError says that `work` throws, or "" without one.
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
