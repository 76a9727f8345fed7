#include "experiments/catalog/rules/tree_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/format/config_error.hpp"

namespace speclab {

DraftTree tree_of(const std::vector<std::int32_t>& branching, const std::string& path) {
  constexpr std::int64_t max_nodes = 4096;
  std::int64_t layer = 1;
  std::int64_t nodes = 0;
  for (const std::int32_t children : branching) {
    layer *= children;
    nodes += layer;
    if (nodes > max_nodes) {
      throw ConfigError(path, fmt::format("a tree with branching [{}] has more than {} nodes; lower "
                                          "\"drafts\" or gamma, or give \"branching\" for each depth",
                                          fmt::join(branching, ","), max_nodes));
    }
  }
  return branching_tree(branching);
}

std::vector<std::int32_t> branching_of(const std::optional<std::vector<std::int32_t>>& branching,
                                       std::int32_t drafts, std::int32_t gamma, const std::string& path) {
  if (!branching) return std::vector<std::int32_t>(static_cast<std::size_t>(gamma), drafts);
  if (branching->size() != static_cast<std::size_t>(gamma)) {
    throw ConfigError(path + "/branching",
                      fmt::format("has {} depths, and gamma is {}; give one number for each drafted position",
                                  branching->size(), gamma));
  }
  return *branching;
}

}  // namespace speclab
