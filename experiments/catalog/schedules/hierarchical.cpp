#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/schedules/hierarchical.hpp"

namespace speclab {

namespace {

struct LevelParameters {
  std::int32_t gamma = 1;
  double c = 0;
  std::optional<double> alpha;
};

struct HierarchicalParameters {
  std::vector<LevelParameters> levels;
};

MadeSchedule make_hierarchical(const HierarchicalParameters& own, const std::string& path,
                               const ScheduleRequest&) {
  Hierarchical schedule;
  std::vector<LevelInputs> inputs;
  for (std::size_t i = 0; i < own.levels.size(); ++i) {
    const LevelParameters& level = own.levels[i];
    const std::string alpha_path = fmt::format("{}/levels/{}/alpha", path, i);
    if (i == 0 && level.alpha) {
      throw ConfigError(alpha_path,
                        "the first level drafts for the target, at the experiment's own acceptance rate");
    }
    if (i > 0 && !level.alpha) {
      throw ConfigError(alpha_path, "missing; how often the level above accepts this one's tokens");
    }
    const double alpha = level.alpha.value_or(0);
    inputs.push_back({alpha, level.gamma, level.c});
    schedule.levels.push_back({static_cast<std::uint64_t>(level.gamma), level.c, alpha});
  }
  const auto at = [inputs](double alpha) {
    std::vector<LevelInputs> all = inputs;
    all.front().alpha = alpha;
    return all;
  };
  return {.name = fmt::format("hierarchical, {} levels", own.levels.size()),
          .schedule = std::move(schedule),
          .formula = [at](double alpha) { return hierarchical_speedup(at(alpha)); },
          .printed = PrintedFormula{[at](double alpha) { return hierarchical_speedup_usual(at(alpha)); },
                                    "Theorem 3.8 at the effective c"}};
}

const Typed<LevelParameters>& level_type() {
  using P = LevelParameters;
  static const auto type = object<P>(
      "level", "One draft model of a hierarchy.",
      {required(integer_field("gamma", &P::gamma, 1, 64,
                              "Fewest tokens that it drafts before the model above verifies them.")),
       required(field("c", &P::c, number(0, 1000), "Time of one run of it, in target runs.")),
       field("alpha", &P::alpha, number(0, 1),
             "Acceptance rate by the model above, independently for each token; the first level's is the "
             "experiment's own.")});
  return type;
}

}  // namespace

ScheduleKind hierarchical_schedule() {
  using P = HierarchicalParameters;
  return kind_entry<ScheduleKind, P>(
      "hierarchical", "A draft that is itself decoded speculatively, to any depth.",
      {required(field("levels", &P::levels, list(level_type(), 1, 4),
                      "The models from the one that drafts for the target down."))},
      make_hierarchical);
}

}  // namespace speclab
