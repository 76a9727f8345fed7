// A config from Python: the text of a dict, or a file.
#pragma once

#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"

namespace speclab::python {

struct ConfigText {
  std::string text;
  std::string file;  ///< file it was read from, for errors; empty for a dict
};

/// Reads and checks the config, as the program does. Throws ConfigError.
Config read_config(const ConfigText& text);

/// Runs `work`; a ConfigError that leaves it names the config's file, if there is one.
template <class Work>
auto about(const ConfigText& text, const Work& work) {
  return text.file.empty() ? work() : in_file(text.file, work);
}

}  // namespace speclab::python
