// Builds the section of a report page that shows one result.
#pragma once

#include <string>

#include "experiments/base/page/page.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Returns introduction, tables, figures and passages, as the result's experiment presents them, and the
/// command that redraws them (Timings::command). If the result has more cells than a page can show, the
/// section summarises all cells and shows a part of them (overview_of).
Section result_section(const RunResult& run, const std::string& id);

/// Returns the page of one result, with this section.
Page result_page(const RunResult& run, const Section& section);

}  // namespace speclab
