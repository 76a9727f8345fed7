// A page that links to the explorer.
#pragma once

#include <string>

#include "experiments/page/page.hpp"

namespace speclab {

/// As `html` of page.hpp; below the page stands a link to `explorer`, a file beside it. Empty for none.
std::string html(const Page& page, const std::string& explorer);

}  // namespace speclab
