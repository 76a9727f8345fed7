// The output of `speclab bench kernels`: text and files.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Returns the page: verification by size, ceilings of the device, and what was left out.
/// Tables have at most `max_rows` rows, and their notes count the rest; 0: all.
Page kernel_text(const KernelReport& report, std::size_t max_rows = 0);
/// Returns the page of a dry run: launches and bytes.
Page kernel_text(const DryRunReport& report, std::size_t max_rows = 0);

/// Returns one CSV row for each row of "verification".
std::string kernel_csv(const KernelReport& report);

}  // namespace speclab
