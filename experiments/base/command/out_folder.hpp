// Writes figures and reports into the folder that --out names.
#pragma once

#include <filesystem>

#include "experiments/base/page/page.hpp"

namespace speclab {

/// Throws UsageError if `folder` cannot be created or written to, so that the error comes before the work.
void refuse_unwritable(const std::filesystem::path& folder);

/// Writes each figure of a section to its own file, named after its id.
void write_figures(const std::filesystem::path& folder, const Section& section);

/// Returns the path of the explorer's page (docs/explorer.md), installed with this program or built in its
/// source tree; empty if there is none.
std::filesystem::path built_explorer();

/// Writes report.html. With an explorer it also copies that page to explorer.html in the same folder and
/// links to it, so that the folder is self-contained.
void write_report(const std::filesystem::path& folder, const Page& page,
                  const std::filesystem::path& explorer = built_explorer());

}  // namespace speclab
