// What `speclab bench kernels` prints and writes.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Verification by size, what the device allows, what was left out. At most `max_rows` rows a table, the
/// rest counted in its note; 0: all. Without figures.
Page kernel_text(const KernelReport& report, std::size_t max_rows = 0);
/// Launches and bytes, sizes that do not fit, the emulator's runs.
Page kernel_text(const DryRunReport& report, std::size_t max_rows = 0);

/// A row for each of "verification".
std::string kernel_csv(const KernelReport& report);

/// Medians along the sweep's axis of requests, for a document: Markdown, a table for each cache mode in the
/// format and at the alpha of the first row. Empty without such rows.
std::string kernel_markdown(const KernelReport& report);

/// For each cache mode a roofline (GB/s over bytes moved, one series a method) and times over the number of
/// requests along the sweep's axis; those that would be empty are left out.
std::vector<Figure> kernel_figures(const KernelReport& report);

/// With a headline and `kernel_figures`.
Page kernel_page(const KernelReport& report);
/// With a headline.
Page kernel_page(const DryRunReport& report);

/// The result in a file. UsageError, naming the file, when it is not one of `speclab bench kernels` with
/// measured rows.
KernelReport read_kernel_report(const std::string& file);

}  // namespace speclab
