// Lists every schedule, one line each.
#include "experiments/catalog/schedules/schedule_kind.hpp"

// clang-format off
#define SPECLAB_SCHEDULES(ENTRY) \
  ENTRY(plain) \
  ENTRY(speculative) \
  ENTRY(upper_bound) \
  ENTRY(heads) \
  ENTRY(hierarchical) \
  ENTRY(dsi) \
  ENTRY(pearl) \
  ENTRY(asynchronous) \
  ENTRY(speculative_function_execution) \
  ENTRY(batched)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_SCHEDULE(name) ScheduleKind name##_schedule();
SPECLAB_SCHEDULES(SPECLAB_DECLARE_SCHEDULE)

Family<ScheduleKind>& schedule_family() {
#define SPECLAB_LIST_SCHEDULE(name) name##_schedule(),
  static Family<ScheduleKind> family(
      "schedule", "Schedules",
      object<ScheduleKind::Common>("schedule", "Keys of every schedule.",
                                   {field("label", &ScheduleKind::Common::label, text(), "Name of the row.")})
          .type,
      [] { return std::vector<ScheduleKind>{SPECLAB_SCHEDULES(SPECLAB_LIST_SCHEDULE)}; });
  return family;
}

}  // namespace speclab
