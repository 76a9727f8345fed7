// Makes shapes of draft trees from parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/round/tree.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

/// Children per node in rules that draft trees.
struct Branching {
  std::int32_t drafts = 2;                             ///< children at every depth
  std::optional<std::vector<std::int32_t>> branching;  ///< or children at each of gamma depths
};

/// Describes the keys "drafts" and "branching" of parameters P.
template <class P>
std::vector<Field> branching_fields(std::string_view drafts) {
  return {integer_field<P>("drafts", &P::drafts, 1, 64, drafts),
          field<P>("branching", &P::branching, list(integer<std::int32_t>(1, 1024), 1, 64),
                   "Children of a node at each depth, instead of \"drafts\" at every one.")};
}

/// Returns the tree whose nodes at depth d - 1 have branching[d - 1] children. Throws ConfigError at `path`
/// above 4096 nodes; a tree has about drafts^gamma.
DraftTree tree_of(const std::vector<std::int32_t>& branching, const std::string& path);
/// Returns the tree of a shape. Also throws ConfigError, below `path`, unless `branching` has gamma depths,
/// and for `drafts` other than its default beside it.
DraftTree tree_of(const Branching& shape, std::int32_t gamma, const std::string& path);

}  // namespace speclab
