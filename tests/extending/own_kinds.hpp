// One kind of each family, written outside the program: a file each, as docs/extending.md shows.
#pragma once

#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

const RuleKind& timid_rule();
const RuleKind& resampling_rule();
const ModelKind& two_peaks_model();
const DrafterKind& repeat_drafter();
const PolicyKind& alternating_policy();
const ScheduleKind& overlapped_schedule();
const Experiment& whole_rounds_experiment();
Verb guarantee_verb();

}  // namespace speclab
