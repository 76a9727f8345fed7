#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "sim/schedules/rounds.hpp"

namespace speclab {

namespace {

struct PlainParameters {};

MadeSchedule make_plain(const PlainParameters&, const std::string&, const ScheduleRequest&) {
  return {.name = "plain", .schedule = Plain{}, .formula = [](double) { return 1.0; }};
}

}  // namespace

ScheduleKind plain_schedule() {
  return kind_entry<ScheduleKind, PlainParameters>("plain", "One token per target run.", {}, make_plain);
}

}  // namespace speclab
