// Does what was asked for fit into the memory of the device, and if not, what would?
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/speculation_cost.hpp"

namespace speclab {

struct MemoryFit {
  std::optional<bool> fits = {};                ///< none unless the target's cost is a roofline
  std::optional<std::string> fits_reason = {};  ///< why it does not, and what would: sentences
};

/// `share` of the memory may be used.
MemoryFit memory_fit(const CostPair& costs, const Operation& at, double share);

/// Batches to plan for: at most `max_batch`, and the one that was asked about, where they fit into the
/// memory. 0: none fits.
int max_planned_batch(const CostPair& costs, const Operation& at, double share, int max_batch);

/// What stands above numbers that suppose more memory than there is.
std::string hypothetical_text(const std::string& reason);

}  // namespace speclab
