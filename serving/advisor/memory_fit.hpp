// Determines whether models and caches fit into the device's memory, and if not, what would fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

struct MemoryFit {
  std::optional<bool> fits = {};                ///< empty unless costs come from the roofline
  std::optional<std::string> fits_reason = {};  ///< sentences: why it does not fit, and what would
  std::optional<double> max_batch = {};         ///< the largest that fits, 0 for none; empty: any, or unknown
};

/// Returns the fit if the fraction `share` of memory may be used and rounds draft `gamma` tokens.
MemoryFit memory_fit(const CostPair& costs, const Operation& at, double share, double gamma);

/// The batches to plan for.
struct PlannedBatches {
  int first = 1;
  int last = 0;           ///< below `first`: none
  bool measured = false;  ///< times are measured up to `last` and no further
};
/// Returns the batches up to `max_batch` or the batch `asked` about, whichever is larger, that fit into
/// memory and at which times are known. Returns none if costs do not depend on the batch, or are known at one
/// batch only.
PlannedBatches planned_batches(const MemoryFit& fit, const CostPair& costs, double asked, int max_batch);

/// Adds sentences about what was assumed of the models, or left out, and about weights whose bytes by the
/// checkpoint's index are not those that their shapes give.
void append_notes(const CostPair& costs, std::vector<std::string>& sentences);

/// Returns a warning to print above numbers that need more memory than there is.
std::string hypothetical_text(const std::string& reason);

}  // namespace speclab
