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
  std::int32_t gamma = 4;  ///< drafted tokens of a request; of trees, nodes
  std::int32_t vocab = 32000;
  Dtype dtype = Dtype::bf16;  ///< of target and draft
  KernelWorkload workload = KernelWorkload::chains;

  bool operator==(const BenchShape&) const = default;
};

/// How the drafted tokens of each request hang together, and where the draft's rows of them are.
struct DraftPlan {
  /// Of chains without a branch. Otherwise the likeliest nodes, where the i-th child of every node has
  /// 0.4^i 0.6 of the node's probability: the best tree of its size for such acceptance (Chen et al. 2024,
  /// "Sequoia", section 3.1), five to eight tokens deep as those of EAGLE are.
  DraftTree tree;
  std::vector<std::int32_t> draft_row;     ///< [nodes] the draft's row of each position; 0 of leaves
  std::vector<std::int32_t> row_position;  ///< [draft rows] the position of each row: every inner node's
  std::vector<std::int32_t> rank;          ///< [nodes] siblings before each node
};

DraftPlan draft_plan(const BenchShape& shape);

/// The batch of a measurement, with pointers that are null or not as they will be, for `layout_of` and
/// `traffic_of`; not to be run. Of chains the VerifyBatch is all.
TreeBatch shape_batch(const BenchShape& shape);

/// What came of a batch: means over the requests. A chain is a tree without branches.
struct BenchOutcome : TreeOutcome {
  double accepted = 0;  ///< drafted tokens accepted
};

/// Where each drafted token that comes to its turn is accepted with probability `acceptance`, whatever became
/// of those before it.
BenchOutcome expected_outcome(const DraftTree& tree, double acceptance);

/// What verification left, in the host's memory.
struct BenchResults {
  std::int32_t nodes = 0;              ///< of a request
  std::vector<std::int32_t> accepted;  ///< [requests]
  std::vector<Token> next;             ///< [requests]
  std::vector<std::int32_t> path;      ///< [requests, nodes] of trees; empty of chains

  /// Those of one more request of trees.
  void add(std::vector<std::int32_t> accepted_path, Token token);
  /// The accepted nodes of a request; none where their number cannot be.
  std::vector<std::int32_t> path_of(std::int32_t request) const;
};

/// Paths are followed as far as the tree has them.
BenchOutcome outcome_of(const DraftTree& tree, const BenchResults& results);

}  // namespace speclab
