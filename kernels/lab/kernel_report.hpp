// The output of `speclab bench kernels`: text, pages, figures and files.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Returns the page without figures: verification by size, ceilings of the device, and what was left out.
/// Tables have at most `max_rows` rows, and their notes count the rest; 0: all.
Page kernel_text(const KernelReport& report, std::size_t max_rows = 0);
/// Returns the page of a dry run: launches and bytes, sizes that do not fit, and the emulator's runs.
Page kernel_text(const DryRunReport& report, std::size_t max_rows = 0);

/// Returns one CSV row for each row of "verification".
std::string kernel_csv(const KernelReport& report);

/// Returns medians along the sweep's axis of requests for a document: Markdown with a table for each cache
/// mode, in the format and at the alpha of the first row. Empty without such rows.
std::string kernel_markdown(const KernelReport& report);

}  // namespace speclab
