#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

ScheduleKind plain_schedule() {
  struct P {};
  return kind_entry<ScheduleKind, P>("plain", "One token per target run.", {}, [](const auto&...) {
    return MadeSchedule{.name = "plain", .schedule = Plain{}, .formula = [](double) { return 1.0; }};
  });
}

}  // namespace speclab
