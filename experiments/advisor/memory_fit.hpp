// Does what was asked for fit into the memory of the device, and if not, what would?
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/speculation_cost.hpp"

namespace speclab {

struct MemoryFit {
  bool fits = true;
  std::string reason = {};  ///< why not, and what would fit: sentences
};

/// None unless the target's cost is a roofline: then memory is not known. `share` of it may be used.
std::optional<MemoryFit> memory_fit(const CostPair& costs, const Operation& at, double share);

/// What stands above numbers that suppose more memory than there is.
std::string hypothetical_text(const std::string& reason);

}  // namespace speclab
