#include "experiments/schedules/schedules_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace speclab {

std::vector<ScheduleConfig> usual_schedules() {
  std::vector<ScheduleConfig> all;
  for (const char* kind : {"plain", "speculative", "upper-bound", "heads", "dsi", "pearl",
                           "speculative_function_execution", "batched"}) {
    all.push_back(selected(*schedule_family().find_entry(kind)));
    all.back().path = fmt::format("/schedules/compare/{}", all.size() - 1);
  }
  return all;
}

const SectionKind& schedules_section() {
  using S = SchedulesSection;
  static const SectionKind kind{
      "schedules",
      object<S>("schedules",
                "What the experiment schedules compares: over independent acceptances of probability "
                "\"alpha\", or those of \"models\".",
                {field("compare", &S::compare, list(kind_of(schedule_family()), 1, 64),
                       "The schedules; each gets one row."),
                 integer_field(
                     "trace_tokens", &S::trace_tokens, 0, 1000,
                     "Draws a timeline as long as plain decoding takes for this many tokens; 0 draws none.")})
          .type};
  return kind;
}

std::vector<NamedSchedule> schedules_of(const Config& config) {
  const ScheduleRequest request{
      .gamma = config.gamma, .c = config.cost.c, .length = config.simulation.length};
  std::vector<NamedSchedule> all;
  for (const ScheduleConfig& chosen : config.section<SchedulesSection>("schedules").compare) {
    MadeSchedule made = chosen.entry().make(chosen, request);
    const std::string wanted = chosen.label.empty() ? made.name : chosen.label;
    std::string name = wanted;
    const auto taken = [&](const NamedSchedule& other) { return other.name == name; };
    for (int copy = 2; std::any_of(all.begin(), all.end(), taken); ++copy) {
      name = fmt::format("{} ({})", wanted, copy);
    }
    all.push_back({std::move(name), chosen.name(), std::move(made)});
  }
  return all;
}

}  // namespace speclab
