// Lists every experiment, one line each.
#include <algorithm>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"

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

bool reads_key(const Experiment& experiment, const std::string& key, bool models) {
  static const std::vector<std::string> always{"title",      "about",        "source", "experiment", "seed",
                                               "confidence", "simultaneous", "cases",  "sweep"};
  const auto holds = [&](const std::vector<std::string>& keys) {
    return std::ranges::any_of(keys, [&](const std::string& one) {
      return key == one || key.starts_with(one + "/") || one.starts_with(key + "/");
    });
  };
  if (holds(always) || holds(experiment.sections) || holds(experiment.reads)) return true;
  if (!models || std::ranges::find(experiment.reads, "models") == experiment.reads.end()) return false;
  return holds(experiment.reads_with_models) ||
         std::ranges::any_of(section_kinds(), [&](const SectionKind& section) {
           return section.of_verb && holds({section.key});
         });
}

const Experiment* find_experiment(const std::string& name) { return find_named(experiments(), name); }

}  // namespace speclab
