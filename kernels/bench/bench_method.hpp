// Puts all measured methods, for chains and for trees, behind one interface.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bench/bench_shape.hpp"
#include "kernels/verify/agreement.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// The reference's decision on a request.
struct BenchVerdict {
  /// The accepted nodes; for a chain 0, 1, ..., accepted - 1.
  std::vector<std::int32_t> path;
  Token next = invalid_token;
  /// See ReferenceDecision::margin and TreeReferenceDecision::margin.
  double margin = 1;
  TreeOutcome met;  ///< for trees only
};

struct BenchMethod {
  const char* name;  ///< name on the command line; unique
  int capability;    ///< lowest compute capability of a device that runs it
  /// Computes the verdicts of a batch in host memory. Methods with the same function have the same verdicts.
  std::vector<BenchVerdict> (*reference)(const TreeBatch&);
  std::optional<Implementation> of_chains;  ///< empty if the method verifies trees
  TreeMethod of_trees = TreeMethod::recursive_rejection;
  /// Whether rows of trees are summed before the walk, also where TreeKernels::sums_first does not want it.
  bool sums_first = false;

  bool branches() const { return !of_chains; }
  /// Returns whether the accepted path tells which nodes were tried and refused. With traversal it does not:
  /// traversal tries other nodes before the accepted ones.
  bool path_tells() const { return of_chains || of_trees == TreeMethod::recursive_rejection; }
  /// `workspace` has the bytes that layout_of says.
  TreeBatch asked_of(TreeBatch tree, void* workspace = nullptr) const {
    tree.method = of_trees;
    if (sums_first) tree.workspace = workspace;
    return tree;
  }
};

/// Returns the methods for chains in the order of `implementations()`, then those for trees.
std::span<const BenchMethod> bench_methods();

/// Returns those of `methods` that can verify a workload's drafts. Traversal cannot verify chosen drafts.
std::vector<BenchMethod> methods_for(KernelWorkload workload, std::span<const BenchMethod> methods);

/// These do what the functions of the same names in implementation.hpp and verify_tree.hpp do. The batch
/// comes from `shape_batch`, for a shape with the kind of drafts (chains or trees) that the method verifies.
std::optional<std::string> unsupported_reason(const BenchMethod& method, const TreeBatch& tree);
KernelLayout layout_of(const BenchMethod& method, const TreeBatch& tree);
Traffic traffic_of(const BenchMethod& method, const TreeBatch& tree, const BenchOutcome& outcome);

/// Returns the mean outcome of trees, from the counts in `BenchVerdict::met`.
BenchOutcome outcome_of(const std::vector<BenchVerdict>& verdicts);

/// Returns the mean outcome from the results or, if `path_tells` is false, from the verdicts on the same
/// requests.
BenchOutcome outcome_of(const BenchMethod& method, const DraftTree& tree, const BenchResults& results,
                        const std::vector<BenchVerdict>& verdicts);

/// Compares results with verdicts; `expected[i]` is the verdict on request i of the results.
DecisionAgreement agreement_of(const BenchMethod& method, const std::vector<BenchVerdict>& expected,
                               std::int32_t vocab, const BenchResults& results);

/// Bytes on the device. No sum overflows for sizes that a batch may have.
struct BenchBytes {
  std::uint64_t target = 0;
  std::uint64_t draft = 0;
  std::uint64_t copied = 0;      ///< destination of the copy: half the logits
  std::uint64_t small = 0;       ///< tokens, addresses, shapes, results
  std::uint64_t workspaces = 0;  ///< of all methods that run
  /// Returns where the draft's rows begin, after the target's: all logits are one allocation.
  std::uint64_t draft_at() const { return (target + 15) / 16 * 16; }
  std::uint64_t logits() const { return draft_at() + draft; }
  std::uint64_t total() const { return logits() + copied + small + workspaces; }
};

BenchBytes bench_bytes(const BenchShape& shape, std::span<const BenchMethod> methods);

}  // namespace speclab
