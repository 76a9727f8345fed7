// The folder that --out names.
#pragma once

#include <filesystem>

#include "experiments/report/page.hpp"

namespace speclab {

/// Throws UsageError when nothing can be written into `folder`, or where it would be made: better said before
/// the work than after it.
void refuse_unwritable(const std::filesystem::path& folder);

/// Each figure of a section as a file of its own, named after its id.
void write_figures(const std::filesystem::path& folder, const Section& section);

}  // namespace speclab
