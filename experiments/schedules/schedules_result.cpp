#include "experiments/schedules/schedules_result.hpp"

#include <utility>

#include "experiments/config/result_fields.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

const std::vector<std::pair<std::string, EventKind>>& event_kinds() {
  static const std::vector<std::pair<std::string, EventKind>> kinds{
      {"draft run", EventKind::draft_run},     {"target run", EventKind::target_run},
      {"dropped run", EventKind::dropped_run}, {"function f", EventKind::function_f},
      {"function g", EventKind::function_g},   {"stand-in for f", EventKind::draft_of_f}};
  return kinds;
}

}  // namespace

const char* words(EventKind kind) {
  for (const auto& [name, each] : event_kinds()) {
    if (each == kind) return name.c_str();
  }
  return "";
}

template <>
const Typed<EventKind>& described() {
  static const auto type = choice(event_kinds());
  return type;
}

SPECLAB_RESULT(PrintedValue, "commonly_printed", meaning, value);
SPECLAB_RESULT(ScheduleRow, "schedule", name, kind, formula, commonly_printed, speedup,
               formula_within_interval, error_percent, difference, tokens);
SPECLAB_RESULT(TracedRun, "run", start, end, track, kind, label);
SPECLAB_RESULT(ScheduleTrace, "trace", schedule, end, runs);
SPECLAB_RESULT(SchedulesResult, "schedules", measured_alpha, reference, rows, traces);

}  // namespace speclab
