#include "experiments/config/experiment.hpp"

#include "experiments/base/format/named_entry.hpp"

namespace speclab {

const Experiment* find_experiment(const std::string& name) { return find_named(experiments(), name); }

}  // namespace speclab
