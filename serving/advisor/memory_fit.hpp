// Determines whether models and caches fit into the device's memory, and if not, what would fit.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/speculation_cost.hpp"

namespace speclab {

struct MemoryFit {
  std::optional<bool> fits = {};                ///< empty unless costs come from the roofline
  std::optional<std::string> fits_reason = {};  ///< sentences: why it does not fit, and what would
};

/// Returns the fit if the fraction `share` of memory may be used.
MemoryFit memory_fit(const CostPair& costs, const Operation& at, double share);

/// Returns the largest batch to plan for: `max_batch` or the batch of `at`, whichever is larger, but no more
/// than fits into memory; 0 if none fits.
int max_planned_batch(const CostPair& costs, const Operation& at, double share, int max_batch);

/// Returns a warning to print above numbers that need more memory than there is.
std::string hypothetical_text(const std::string& reason);

}  // namespace speclab
