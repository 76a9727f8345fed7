#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

namespace {

struct PlainParameters {};

MadeSchedule make(const PlainParameters&, const std::string&, const ScheduleRequest&) {
  return {.name = "plain", .schedule = Plain{}, .formula = [](double) { return 1.0; }};
}

}  // namespace

const ScheduleKind& plain_schedule() {
  static const ScheduleKind kind =
      kind_entry<ScheduleKind, PlainParameters>("plain", "One token per target run.", {}, make);
  return kind;
}

}  // namespace speclab
