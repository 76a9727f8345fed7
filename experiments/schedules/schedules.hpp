// The experiment "schedules"; its presentation is in schedules_report.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"

namespace speclab {

class SchedulesExperiment final : public Experiment {
 public:
  SchedulesExperiment();

  std::vector<std::string> sections() const override { return {"schedules"}; }
  std::unique_ptr<PreparedCell> prepare(const CellSpec& cell, JobList& jobs) const override;
  int intervals(const Config& cell) const override;
  std::string printed_unsupported_reason() const override {
    return "schedules has no formula to judge printed values by; leave them out";
  }
  std::string own_key() const override { return "schedules"; }
  TypePtr own_result() const override;

  /// One table a cell, one row a schedule.
  std::vector<Table> tables(const Result& result, const Timings& timings,
                            const std::string& id) const override;
  /// Speedup over the swept number, when a config sweeps one, and the timelines of each cell with traces.
  std::vector<Figure> figures(const Result& result) const override;
  /// One row a schedule of each cell, every number in full.
  std::string csv(const Result& result) const override;
  /// trace.json: the traces in Chrome's trace event format, which chrome://tracing and Perfetto open. A
  /// process for each schedule of each cell, a thread for each of its tracks; a target run is a millisecond.
  std::vector<std::pair<std::string, std::string>> files(const Result& result) const override;
};

const Experiment& schedules_experiment();

}  // namespace speclab
