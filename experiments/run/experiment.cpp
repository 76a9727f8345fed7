#include "experiments/run/experiment.hpp"

#include <algorithm>

namespace speclab {

const Experiment* find_experiment(const std::string& name) {
  for (const Experiment* experiment : experiments()) {
    const auto& aliases = experiment->aliases;
    if (experiment->name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end())
      return experiment;
  }
  return nullptr;
}

}  // namespace speclab
