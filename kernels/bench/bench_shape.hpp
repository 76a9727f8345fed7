// The sizes of a measurement, and the batch that they make.
#pragma once

#include <cstdint>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/bench/kernel_workload.hpp"
#include "kernels/verify/tree_batch.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct BenchShape {
  std::int32_t requests = 1;
  /// Drafted tokens per request; for trees, nodes per request.
  std::int32_t gamma = 4;
  std::int32_t vocab = 32000;
  Dtype dtype = Dtype::bf16;  ///< of target and draft
  KernelWorkload workload = KernelWorkload::chains;

  bool operator==(const BenchShape&) const = default;
};

/// The shape of each request's draft (a chain or a tree), and the draft's rows for it.
struct DraftPlan {
  /// A tree without branches for chains. For trees, the likeliest nodes, where the i-th child (from 0) of a
  /// node has 0.6 * 0.4^i of the node's probability: the best tree of its size for such acceptance (Chen et
  /// al. 2024, "Sequoia", section 3.1). It is five to eight tokens deep, like EAGLE's trees.
  DraftTree tree;
  std::vector<std::int32_t> draft_row;  ///< [nodes] the draft's row of each position; 0 for leaves
  /// [draft rows] the position of each row; every inner node has a row.
  std::vector<std::int32_t> row_position;
  std::vector<std::int32_t> rank;  ///< [nodes] number of siblings before each node
};

DraftPlan draft_plan(const BenchShape& shape);

/// Returns a batch for `layout_of` and `traffic_of`. The same pointers are null as in the measured batch; the
/// others point to no data, so that the batch cannot be run. A batch of chains is its VerifyBatch alone.
TreeBatch shape_batch(const BenchShape& shape);

/// The outcome of a batch: means over the requests. A chain is a tree without branches.
struct BenchOutcome : TreeOutcome {
  double accepted = 0;  ///< drafted tokens accepted
};

/// Returns the expected outcome of a chain whose tokens are accepted with probability `acceptance`,
/// independently of the tokens before them.
BenchOutcome expected_outcome(std::int32_t gamma, double acceptance);

/// The results of verification, in host memory.
struct BenchResults {
  std::int32_t nodes = 0;              ///< nodes per request
  std::vector<std::int32_t> accepted;  ///< [requests]
  std::vector<Token> next;             ///< [requests]
  std::vector<std::int32_t> path;      ///< [requests, nodes] for trees; empty for chains

  /// Adds the result of one more request with a tree.
  void add(std::vector<std::int32_t> accepted_path, Token token);
  /// Returns the accepted nodes of a request; none if the accepted count is out of range.
  std::vector<std::int32_t> path_of(std::int32_t request) const;
};

/// Returns the mean outcome of the results. Follows a path only as far as its nodes are children in the tree.
BenchOutcome outcome_of(const DraftTree& tree, const BenchResults& results);

}  // namespace speclab
