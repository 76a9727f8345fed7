// What `speclab bench kernels` prints and writes.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// Tables of a measurement: verification by size, what the device allows, what was left out. Of a dry run:
/// launches and bytes, sizes that do not fit, the emulator's runs. At most `most_rows` rows a table, the rest
/// counted in its note; 0: all.
std::vector<Table> kernel_tables(const Json& result, std::size_t most_rows = 0);

std::vector<std::string> kernel_notes(const Json& result);

/// "Version", "Device", "Command", ...
std::vector<std::pair<std::string, std::string>> kernel_facts(const Json& result);

/// A row for each of "verification".
std::string kernel_csv(const Json& result);

/// Medians along the sweep's axis of requests, for a document: Markdown, a table for each cache mode in the
/// format and at the alpha of the first row. Empty without such rows.
std::string kernel_markdown(const Json& result);

/// With a roofline, and times over the number of requests; needs gnuplot when there are rows.
Page kernel_page(const Json& result);

/// The result in a file. UsageError, naming the file, when it is not one of `speclab bench kernels` with
/// measured rows.
Json read_kernel_result(const std::string& file);

}  // namespace speclab
