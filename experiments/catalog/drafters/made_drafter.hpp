// Makes drafters. Only code that drafts includes this, because it brings the models along.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "sim/drafters/any_drafter.hpp"

namespace speclab {

/// A drafter, or the reason why it cannot be made for the task.
struct MadeDrafter {
  std::optional<AnyDrafter> drafter;
  std::string unsupported_reason = {};  ///< end of a sentence: "needs ..."
  /// Times of one run, in target runs: of this drafter, of the one that drafts for it, and so on.
  std::vector<double> costs = {};
};

/// Makes a drafter. Throws ConfigError at or below drafter.path.
MadeDrafter make_drafter(const DrafterConfig& drafter, const DrafterRequest& request);

}  // namespace speclab
