// The experiment "schedules": its section of a config and its results; presented by schedules_report.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/page/figure.hpp"
#include "experiments/page/table.hpp"
#include "experiments/run/experiment.hpp"
#include "sim/schedules/events.hpp"

namespace speclab {

/// What is compared when a config does not say.
std::vector<ScheduleConfig> usual_schedules();

struct SchedulesSection {
  std::vector<ScheduleConfig> compare = usual_schedules();
  std::uint64_t trace_tokens = 0;  ///< length of the drawn timeline, in tokens of plain decoding; 0: none
};

/// The commonly printed formula of a schedule, where that stands for another program.
struct PrintedValue {
  std::string meaning;
  std::optional<double> value;
};

/// One schedule. Speedups are over plain decoding.
struct ScheduleRow {
  std::string name;
  std::string kind;
  std::optional<double> formula;  ///< at the cell's acceptance rate; none where it has no value
  std::optional<PrintedValue> commonly_printed;
  Interval speedup{};
  std::optional<bool> formula_within_interval;  ///< where acceptances are independent
  std::optional<double> error_percent;          ///< of the formula, where they are not
  std::optional<Interval> difference;           ///< to the reference, paired trial by trial
  std::uint64_t tokens = 0;                     ///< emitted, in all trials
};

/// One run on the virtual clock, in target runs.
struct TracedRun {
  double start = 0;
  double end = 0;
  std::string track;  ///< "draft", "target 2"
  EventKind kind{};
  std::string label;  ///< "3 of 4 accepted"
};

/// The first sequence of one schedule.
struct ScheduleTrace {
  std::string schedule;
  double end = 0;
  std::vector<TracedRun> runs;  ///< by track, in the order of their starts
};

struct SchedulesResult {
  std::optional<Interval> measured_alpha;  ///< the share of accepted positions, where alpha is not exact
  std::optional<std::string> reference;    ///< name of the first speculative schedule
  std::vector<ScheduleRow> rows;
  std::optional<std::vector<ScheduleTrace>> traces;
};

template <>
const Typed<SchedulesResult>& described();

/// One table per cell, one row per schedule.
std::vector<Table> schedules_tables(const Result& result, const Timings&, const std::string& id);
/// Speedup over the swept number, when a config sweeps one, and the timelines of each cell with traces.
std::vector<Figure> schedules_figures(const Result& result, const Timings&);
/// The fastest schedule, and whether the formulas hold.
std::string schedules_headline(const Result& result, const Timings&);
/// One row per schedule of each cell, every number in full.
std::string schedules_csv(const Result& result, const Timings&);
/// trace.json: the traces in Chrome's trace event format, which chrome://tracing and Perfetto open. A
/// process for each schedule of each cell, a thread for each of its tracks; a target run is a millisecond.
std::vector<std::pair<std::string, std::string>> schedules_files(const Result& result);

}  // namespace speclab
