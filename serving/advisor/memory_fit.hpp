// Tells whether a question's models and caches fit into the device's memory, and if not, what would.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

struct MemoryFit {
  std::optional<bool> fits = {};                ///< empty unless the target's cost is a roofline
  std::optional<std::string> fits_reason = {};  ///< why it does not fit, and what would: sentences
  std::optional<double> max_batch = {};         ///< the largest that fits, 0 for none; empty: any, or unknown
};

/// Returns the fit if a fraction `share` of the memory may be used.
MemoryFit memory_fit(const CostPair& costs, const Operation& at, double share);

/// Returns the largest batch to plan for: at most `max_batch` or the batch `asked` about, whichever is
/// larger, and no more than fits into memory. 0: none fits.
int max_planned_batch(const MemoryFit& fit, double asked, int max_batch);

/// Returns the warning to print above numbers that need more memory than there is.
std::string hypothetical_text(const std::string& reason);

}  // namespace speclab
