// Lists every experiment, and every section of a config, one line each.

#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"

// clang-format off
// Experiments with a section of the same name.
#define SPECLAB_STUDIES(ENTRY) \
  ENTRY(trace)                 \
  ENTRY(walltime)              \
  ENTRY(rules)                 \
  ENTRY(beam)                  \
  ENTRY(schedules)             \
  ENTRY(serving)               \
  ENTRY(compare)               \
  ENTRY(printed)               \
  ENTRY(scaling)
#define SPECLAB_EXPERIMENTS(ENTRY) \
  ENTRY(decode)                    \
  ENTRY(iid)                       \
  ENTRY(acceptance)                \
  ENTRY(predict)                   \
  ENTRY(optimal_gamma)             \
  SPECLAB_STUDIES(ENTRY)
#define SPECLAB_SECTIONS(ENTRY) \
  ENTRY(search)                 \
  ENTRY(check)                  \
  ENTRY(prove)                  \
  SPECLAB_STUDIES(ENTRY)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_EXPERIMENT(name) const Experiment& name##_experiment();
SPECLAB_EXPERIMENTS(SPECLAB_DECLARE_EXPERIMENT)

std::vector<const Experiment*>& experiments() {
#define SPECLAB_LIST_EXPERIMENT(name) &name##_experiment(),
  static std::vector<const Experiment*> all{SPECLAB_EXPERIMENTS(SPECLAB_LIST_EXPERIMENT)};
  return all;
}

#define SPECLAB_DECLARE_SECTION(name) SectionKind name##_section();
SPECLAB_SECTIONS(SPECLAB_DECLARE_SECTION)

std::vector<SectionKind>& section_kinds() {
#define SPECLAB_LIST_SECTION(name) name##_section(),
  static std::vector<SectionKind> kinds{SPECLAB_SECTIONS(SPECLAB_LIST_SECTION)};
  return kinds;
}

const Experiment* find_experiment(const std::string& name) { return find_named(experiments(), name); }

}  // namespace speclab
