// What `speclab bench kernels` prints and writes.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Verification by size, what the device allows, what was left out. At most `max_rows` rows a table, the
/// rest counted in its note; 0: all.
Page kernel_text(const KernelReport& report, std::size_t max_rows = 0);
/// Launches and bytes, sizes that do not fit, the emulator's runs.
Page kernel_text(const DryRunReport& report, std::size_t max_rows = 0);

/// A row for each of "verification".
std::string kernel_csv(const KernelReport& report);

/// Medians along the sweep's axis of requests, for a document: Markdown, a table for each cache mode in the
/// format and at the alpha of the first row. Empty without such rows.
std::string kernel_markdown(const KernelReport& report);

}  // namespace speclab
