// The results of the experiment "schedules".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/config/experiment.hpp"
#include "sim/schedules/events.hpp"

namespace speclab {

/// The value of a formula that papers print for a schedule but that describes another program.
struct PrintedValue {
  std::string meaning;
  std::optional<double> value;
};

/// One schedule in a cell's result.
struct ScheduleRow {
  std::string name;
  std::string kind;
  std::optional<int> gamma;       ///< its own, instead of the config's
  std::optional<double> c;        ///< its own, instead of the config's
  std::optional<double> formula;  ///< at the cell's acceptance rate; empty if it has no value
  std::optional<PrintedValue> commonly_printed;
  Interval speedup{};
  std::optional<bool> formula_within_interval;  ///< known if acceptances are independent
  std::optional<double> error_percent;          ///< error of the formula, if they are not independent
  std::optional<Interval> difference;           ///< speedup minus the reference's, paired by trial
  std::uint64_t tokens = 0;                     ///< emitted tokens, in all trials
};

/// A run on the virtual clock, in target-run times.
struct TracedRun {
  double start = 0;
  double end = 0;
  std::string track;  ///< "draft", "target 2"
  EventKind kind{};
  std::string label;  ///< "3 of 4 accepted"
};

/// The runs of a schedule's first sequence.
struct ScheduleTrace {
  std::string schedule;
  double end = 0;
  std::vector<TracedRun> runs;  ///< by track, in order of start
};

struct SchedulesResult {
  std::optional<Interval> measured_alpha;  ///< share of accepted positions, if alpha is not exact
  std::optional<std::string> reference;    ///< name of the first speculative schedule
  std::vector<ScheduleRow> rows;
  std::optional<std::vector<ScheduleTrace>> traces;
};

SPECLAB_IS_DESCRIBED(SchedulesResult);

/// Returns the presentation, which reads results alone.
Presentation schedules_presentation();

}  // namespace speclab
