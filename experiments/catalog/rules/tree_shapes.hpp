// Shapes of draft trees from parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/round/tree.hpp"

namespace speclab {

/// Every node at depth d - 1 has branching[d - 1] children. Throws ConfigError at `path` for more than 4096
/// nodes; trees grow as drafts^gamma.
DraftTree tree_of(const std::vector<std::int32_t>& branching, const std::string& path);

/// `branching` where it is given (ConfigError below `path` unless it has gamma depths), else `drafts` at
/// every depth.
std::vector<std::int32_t> branching_of(const std::optional<std::vector<std::int32_t>>& branching,
                                       std::int32_t drafts, std::int32_t gamma, const std::string& path);

}  // namespace speclab
