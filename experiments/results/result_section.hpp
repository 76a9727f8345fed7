// Builds the section of a report page that shows one result. Of a result with more cells than a page can
// show, an overview chooses some.
#pragma once

#include <string>

#include "experiments/base/page/page.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Most cells that a page shows; a browser draws so many within a second.
inline constexpr std::size_t max_cells_on_page = 20'000;

struct Overview {
  Result sample;     ///< a part of the result: only some values of each axis
  std::string note;  ///< says which part is shown
};

/// Returns the overview; reads the cells once.
Overview overview_of(const Result& result, const CellSource& cells);

/// Returns introduction, tables, figures and passages, as the result's experiment presents them, and the
/// command that redraws them (Timings::command). If the result has more cells than a page can show, the
/// section summarises all cells and shows a part of them (overview_of).
Section result_section(const RunResult& run, const std::string& id);

/// Returns the page of one result, with this section.
Page result_page(const RunResult& run, const Section& section);

}  // namespace speclab
