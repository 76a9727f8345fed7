// The section of a report about one result.
#pragma once

#include <string>

#include "experiments/base/page/page.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Introduction, tables, figures and passages, as the result's experiment presents them. `command` redraws
/// it. Of a result of more cells than a page can show, summaries of all and a part of the cells
/// (overview_of).
Section result_section(const RunResult& run, const std::string& id, const std::string& command);

/// The page of one result, whose section it is given.
Page result_page(const RunResult& run, const Section& section, const std::string& command, Backend backend);

}  // namespace speclab
