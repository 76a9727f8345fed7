#include "experiments/catalog/rules/tree_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

DraftTree tree_of(const std::vector<std::int32_t>& branching, const std::string& path) {
  constexpr std::int64_t max_nodes = 4096;
  std::int64_t layer = 1;
  std::int64_t nodes = 0;
  for (const std::int32_t children : branching) {
    layer *= children;
    nodes += layer;
    if (nodes > max_nodes) {
      throw ConfigError(path,
                        "a tree with branching [{}] has more than {} nodes; lower "
                        "\"drafts\" or gamma, or give \"branching\" for each depth",
                        fmt::join(branching, ","), max_nodes);
    }
  }
  return branching_tree(branching);
}

DraftTree tree_of(const Branching& shape, std::int32_t gamma, const std::string& path) {
  const auto depths = static_cast<std::size_t>(gamma);
  if (shape.branching && shape.drafts != Branching().drafts)
    throw ConfigError(path + "/drafts",
                      "\"branching\" gives the children of each depth; leave one of them out");
  if (shape.branching && shape.branching->size() != depths) {
    throw ConfigError(path + "/branching",
                      "has {} depths, and gamma is {}; give one number for each drafted position",
                      shape.branching->size(), gamma);
  }
  return tree_of(shape.branching.value_or(std::vector<std::int32_t>(depths, shape.drafts)), path);
}

}  // namespace speclab
