// Tables, figures and files of the experiment "schedules", from result.json alone.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// One table a cell, one row a schedule.
std::vector<Table> schedule_tables(const Json& result, const std::string& id);

/// Speed over the swept number, when a config sweeps one, and the timeline of each cell that has a trace. Ids
/// and commands are the caller's to set.
std::vector<Figure> schedule_figures(const Json& result);

/// One row a schedule of each cell, every number in full.
std::string schedules_csv(const Json& result);

/// The traces in Chrome's trace event format, which chrome://tracing and Perfetto open: a process for each
/// schedule of each cell, a thread for each of its lanes. A target run is a millisecond. Null when nothing
/// was traced.
Json chrome_trace(const Json& result);

}  // namespace speclab
