// The programs that are measured, of chains and of trees, behind one interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bench/bench_shape.hpp"
#include "kernels/verify/agreement.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// What the reference says of a request.
struct BenchVerdict {
  std::vector<std::int32_t> path;  ///< the accepted nodes; of chains, 0 to one below their number
  Token next = invalid_token;
  double margin = 1;  ///< as ReferenceVerdict::margin and TreeReferenceVerdict::margin
  TreeOutcome met;    ///< of trees
};

struct BenchMethod {
  const char* name;  ///< as on the command line; no two have the same
  int capability;    ///< least compute capability of a device that runs it
  /// Of a batch in the host's memory. Methods with the same function have the same verdicts.
  std::vector<BenchVerdict> (*reference)(const TreeBatch&);
  std::optional<Implementation> of_chains;  ///< none: it verifies trees
  TreeMethod of_trees = TreeMethod::recursive_rejection;

  bool branches() const { return !of_chains; }
  /// Whether the accepted path says what was tried and refused: traversal tries other nodes before.
  bool path_tells() const { return of_chains || of_trees == TreeMethod::recursive_rejection; }
  /// The batch to be verified by this method.
  TreeBatch asked_of(TreeBatch tree) const {
    tree.method = of_trees;
    return tree;
  }
};

/// The implementations of chains in their order, then those of trees.
std::span<const BenchMethod> bench_methods();

/// Those of `methods` that are for a workload's drafts: traversal is not for chosen ones.
std::vector<BenchMethod> methods_for(KernelWorkload workload, std::span<const BenchMethod> methods);

/// As those of implementation.hpp and verify_tree.hpp; the batch is one of `shape_batch` for the method's
/// shape of drafts.
std::optional<std::string> unsupported_reason(const BenchMethod& method, const TreeBatch& tree);
KernelLayout layout_of(const BenchMethod& method, const TreeBatch& tree);
Traffic traffic_of(const BenchMethod& method, const TreeBatch& tree, const BenchOutcome& outcome);
std::uint64_t run_emulated(const BenchMethod& method, const TreeBatch& tree);

/// Means of what a reference met of trees.
BenchOutcome outcome_of(const std::vector<BenchVerdict>& verdicts);

/// What the results say of the batch, or, where paths do not tell it, the verdicts on the same requests.
BenchOutcome outcome_of(const BenchMethod& method, const DraftTree& tree, const BenchResults& results,
                        const std::vector<BenchVerdict>& verdicts);

/// `expected[i]` is about request i of the results.
DecisionAgreement agreement_of(const BenchMethod& method, const std::vector<BenchVerdict>& expected,
                               std::int32_t vocab, const BenchResults& results);

/// Bytes on the device, in exact arithmetic (none overflows for sizes that a batch may have).
struct BenchBytes {
  std::uint64_t target = 0;
  std::uint64_t draft = 0;
  std::uint64_t copied = 0;      ///< where the copy goes: half the logits
  std::uint64_t small = 0;       ///< tokens, addresses, shapes, results
  std::uint64_t workspaces = 0;  ///< of all methods that run
  /// Where the draft's rows begin, behind the target's: all logits lie in one piece.
  std::uint64_t draft_at() const { return (target + 15) / 16 * 16; }
  std::uint64_t logits() const { return draft_at() + draft; }
  std::uint64_t total() const { return logits() + copied + small + workspaces; }
};

BenchBytes bench_bytes(const BenchShape& shape, std::span<const BenchMethod> methods);

}  // namespace speclab
