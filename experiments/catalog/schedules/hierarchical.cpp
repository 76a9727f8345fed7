#include <fmt/format.h>

#include "analysis/theory/schedule_theory.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/hierarchical.hpp"

namespace speclab {

ScheduleKind hierarchical_schedule() {
  struct Level {
    std::int32_t gamma = 1;
    double c = 0;
    std::optional<double> alpha;
  };
  struct P {
    std::vector<Level> levels;
  };
  const auto level = object<Level>(
      "level", "One draft model of a hierarchy.",
      {required(integer_field("gamma", &Level::gamma, 1, 64,
                              "Fewest tokens that it drafts before the model above verifies them.")),
       required(field("c", &Level::c, number(0, 1000), "Time of one run of it, in target runs.")),
       field("alpha", &Level::alpha, number(0, 1),
             "Acceptance rate by the model above, independently for each token; the first level's is the "
             "experiment's own.")});
  return kind_entry<ScheduleKind, P>(
      "hierarchical", "A draft that is itself decoded speculatively, to any depth.",
      {required(field("levels", &P::levels, list(level, 1, 4),
                      "The models from the one that drafts for the target down."))},
      [](const P& own, const std::string& path, const ScheduleRequest&) {
        Hierarchical schedule;
        std::vector<LevelInputs> inputs;
        for (std::size_t i = 0; i < own.levels.size(); ++i) {
          const auto& [gamma, c, given] = own.levels[i];
          if (given.has_value() != (i > 0)) {
            throw ConfigError(fmt::format("{}/levels/{}/alpha", path, i),
                              i > 0 ? "missing; how often the level above accepts this one's tokens"
                                    : "the first level drafts for the target, at the experiment's own "
                                      "acceptance rate");
          }
          const double alpha = given.value_or(0);
          inputs.push_back({alpha, gamma, c});
          schedule.levels.push_back({static_cast<std::uint64_t>(gamma), c, alpha});
        }
        const auto at = [inputs](double alpha) {
          std::vector<LevelInputs> all = inputs;
          all.front().alpha = alpha;
          return all;
        };
        return MadeSchedule{
            .name = fmt::format("hierarchical, {} levels", own.levels.size()),
            .schedule = std::move(schedule),
            .formula = [at](double alpha) { return hierarchical_speedup(at(alpha)); },
            .printed = PrintedFormula{[at](double alpha) { return hierarchical_speedup_usual(at(alpha)); },
                                      "Theorem 3.8 at the effective c"}};
      });
}

}  // namespace speclab
