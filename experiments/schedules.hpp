// The experiment "schedules": many schedules of drafting and verification over the same acceptances,
// simulated on a virtual clock beside their closed forms.
#pragma once

#include <cstdint>

#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "sim/control.hpp"

namespace speclab {

/// Throws ConfigError where the config does not suit the experiment.
void check_schedules(const Json& config);

/// Whether the acceptances come from models; else they are acceptance draws of the config's alpha.
bool schedules_have_models(const Json& config);

/// Tokens of all trials and schedules of a cell, for progress.
std::uint64_t schedule_workload(const Json& config);

/// Intervals that the result of a cell states.
int schedule_intervals(const Json& config);

/// Runs the schedules and adds to `out`:
///
///     alpha          of the acceptance draws, or the share of accepted positions with its interval;
///     "formula_alpha" says schedules      one a row: "formula" at that alpha (null where there is none),
///     "usual" (a form that is
///                    commonly given, where it is another), "simulated": speed-up over plain decoding,
///                    "difference": to the first speculative schedule, paired trial by trial, "tokens"
///     agreement      where acceptances are independent: is the formula inside the simulated interval?
///     trace          the runs of the first trial, where the config asks for them
///
/// A batch is some whole trials. `setup` is null without models. When stopped, marks `out` partial and adds
/// nothing else.
void describe_schedules(Json& out, const Setup* setup, const Json& config, double confidence,
                        const Control& control);

}  // namespace speclab
