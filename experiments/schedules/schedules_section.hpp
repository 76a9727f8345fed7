// The section "schedules": which schedules the experiment "schedules" compares.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

/// What is compared when a config does not say.
std::vector<ScheduleConfig> usual_schedules();

struct SchedulesSection {
  std::vector<ScheduleConfig> compare = usual_schedules();
  std::uint64_t trace_tokens = 0;  ///< length of the drawn timeline, in tokens of plain decoding; 0: none
};

const SectionKind& schedules_section();

/// A schedule of a config with the name of its row, which is unlike all others.
struct NamedSchedule {
  std::string name;
  std::string kind;
  MadeSchedule made;
};

/// The schedules of a config, in its order. Throws ConfigError for parameters that do not fit.
std::vector<NamedSchedule> schedules_of(const Config& config);

}  // namespace speclab
