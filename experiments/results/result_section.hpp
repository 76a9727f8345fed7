// Builds the section of a report page that shows one result.
#pragma once

#include <string>

#include "experiments/base/page/page.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Returns introduction, tables, figures and passages, as the experiment presents them. `command` redraws the
/// section. If there are more cells than a page can show, summarises all and shows a part (overview_of).
Section result_section(const RunResult& run, const std::string& id, const std::string& command);

/// Returns the page of one result, with this section.
Page result_page(const RunResult& run, const Section& section, const std::string& command, Backend backend);

}  // namespace speclab
