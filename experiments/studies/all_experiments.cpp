// Lists every experiment, one line each.
#include <algorithm>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/experiment.hpp"

// clang-format off
#define SPECLAB_EXPERIMENTS(ENTRY) \
  ENTRY(decode)                    \
  ENTRY(iid)                       \
  ENTRY(acceptance)                \
  ENTRY(predict)                   \
  ENTRY(optimal_gamma)             \
  ENTRY(trace)                     \
  ENTRY(walltime)                  \
  ENTRY(rules)                     \
  ENTRY(beam)                      \
  ENTRY(schedules)                 \
  ENTRY(serving)                   \
  ENTRY(compare)                   \
  ENTRY(printed)                   \
  ENTRY(scaling)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_EXPERIMENT(name) const Experiment& name##_experiment();
SPECLAB_EXPERIMENTS(SPECLAB_DECLARE_EXPERIMENT)

std::vector<const Experiment*>& experiments() {
#define SPECLAB_LIST_EXPERIMENT(name) &name##_experiment(),
  static std::vector<const Experiment*> all{SPECLAB_EXPERIMENTS(SPECLAB_LIST_EXPERIMENT)};
  return all;
}

const Experiment* find_experiment(const std::string& name) { return find_named(experiments(), name); }

}  // namespace speclab
