// The folder that --out names.
#pragma once

#include <filesystem>

#include "experiments/base/page/page.hpp"

namespace speclab {

/// Throws UsageError when nothing can be written into `folder`, or where it would be made: better said before
/// the work than after it.
void refuse_unwritable(const std::filesystem::path& folder);

/// Each figure of a section as a file of its own, named after its id.
void write_figures(const std::filesystem::path& folder, const Section& section);

/// The explorer's page (docs/explorer.md): installed with this program, or built in the source tree that it
/// was built from. Empty where there is none.
std::filesystem::path built_explorer();

/// report.html. With an explorer, a copy of that page lies beside it as explorer.html, which it links to, so
/// that the folder can be given away.
void write_report(const std::filesystem::path& folder, const Page& page,
                  const std::filesystem::path& explorer = built_explorer());

}  // namespace speclab
