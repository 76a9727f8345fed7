// Turns errors of models into errors of a config.
#pragma once

#include <string>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// Runs `work`; a ModelError becomes a ConfigError at `path`.
template <class Work>
auto at_path(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
}

}  // namespace speclab
