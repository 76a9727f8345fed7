// One kind of each family, written outside the program: a file each, as docs/extending.md shows.
#pragma once

#include "experiments/base/command/verb.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/config/experiment.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

RuleKind timid_rule();
RuleKind resampling_rule();
ModelKind two_peaks_model();
DrafterKind repeat_drafter();
PolicyKind alternating_policy();
ScheduleKind overlapped_schedule();
const Experiment& whole_rounds_experiment();
Verb guarantee_verb();
LogFormat request_lines_log_format();

}  // namespace speclab
