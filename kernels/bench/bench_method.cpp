#include "kernels/bench/bench_method.hpp"

#include <algorithm>

#include "kernels/verify/reference.hpp"
#include "kernels/verify/tree_layout.hpp"
#include "kernels/verify/tree_reference.hpp"

namespace speclab {

namespace {

template <std::vector<ReferenceDecision> (*reference)(const VerifyBatch&)>
std::vector<BenchVerdict> chain_reference(const TreeBatch& tree) {
  std::vector<BenchVerdict> verdicts;
  for (const ReferenceDecision& verdict : reference(tree.batch)) {
    BenchVerdict& added = verdicts.emplace_back(BenchVerdict{{}, verdict.next, verdict.margin, {}});
    for (std::int32_t node = 0; node < verdict.accepted; ++node) added.path.push_back(node);
  }
  return verdicts;
}

template <TreeMethod method>
std::vector<BenchVerdict> tree_reference(const TreeBatch& batch) {
  TreeBatch tree = batch;
  tree.method = method;
  std::vector<BenchVerdict> verdicts;
  for (TreeReferenceDecision& verdict : verify_tree_reference(tree))
    verdicts.push_back({std::move(verdict.path), verdict.next, verdict.margin, verdict.met});
  return verdicts;
}

}  // namespace

std::span<const BenchMethod> bench_methods() {
  static const std::vector<BenchMethod> all = [] {
    std::vector<BenchMethod> methods;
    for (const ImplementationInfo& info : implementations()) {
      const auto reference = info.implementation == Implementation::wagner_sigmoid
                                 ? chain_reference<verify_sigmoid_reference>
                                 : chain_reference<verify_reference>;
      methods.push_back({info.name, info.capability, reference, info.implementation, {}});
    }
    constexpr auto recursive = TreeMethod::recursive_rejection;
    constexpr auto traversal = TreeMethod::traversal;
    methods.push_back({"tree", 90, tree_reference<recursive>, {}, recursive});
    methods.push_back({"traversal", 90, tree_reference<traversal>, {}, traversal});
    methods.push_back({"tree-sums", 90, tree_reference<recursive>, {}, recursive, true});
    methods.push_back({"traversal-sums", 90, tree_reference<traversal>, {}, traversal, true});
    return methods;
  }();
  return all;
}

std::vector<BenchMethod> methods_for(KernelWorkload workload, std::span<const BenchMethod> methods) {
  std::vector<BenchMethod> chosen;
  std::copy_if(methods.begin(), methods.end(), std::back_inserter(chosen),
               [&info = info_of(workload)](const BenchMethod& method) {
                 return method.branches() == info.branches && (method.path_tells() || !info.chosen);
               });
  return chosen;
}

std::optional<std::string> unsupported_reason(const BenchMethod& method, const TreeBatch& tree) {
  return method.branches() ? TreeKernels::unsupported_reason(method.asked_of(tree))
                           : unsupported_reason(*method.of_chains, tree.batch);
}

KernelLayout layout_of(const BenchMethod& method, const TreeBatch& tree) {
  return method.branches() ? TreeKernels::layout(method.asked_of(tree), method.sums_first)
                           : layout_of(*method.of_chains, tree.batch);
}

Traffic traffic_of(const BenchMethod& method, const TreeBatch& tree, const BenchOutcome& outcome) {
  // `shape_batch` gives every node with children a row of the draft.
  const std::int32_t summed = method.sums_first ? tree.draft_row_count() : 0;
  return method.branches() ? TreeKernels::traffic(method.asked_of(tree), outcome, summed)
                           : traffic_of(*method.of_chains, tree.batch, {outcome.accepted, outcome.rejecting});
}

BenchOutcome outcome_of(const std::vector<BenchVerdict>& verdicts) {
  BenchOutcome mean;
  const double share = 1.0 / static_cast<double>(verdicts.size());
  for (const BenchVerdict& verdict : verdicts) {
    mean.accepted += share * static_cast<double>(verdict.path.size());
    mean.add(verdict.met, share);
  }
  return mean;
}

BenchOutcome outcome_of(const BenchMethod& method, const DraftTree& tree, const BenchResults& results,
                        const std::vector<BenchVerdict>& verdicts) {
  return method.path_tells() ? outcome_of(tree, results) : outcome_of(verdicts);
}

DecisionAgreement agreement_of(const BenchMethod& method, const std::vector<BenchVerdict>& expected,
                               std::int32_t vocab, const BenchResults& results) {
  const double band = method.of_chains ? band_of(*method.of_chains, vocab) : decision_band;
  return agreement_of(expected, band, [&](std::size_t i) {
    return results.accepted[i] == static_cast<std::int32_t>(expected[i].path.size()) &&
           results.path_of(static_cast<std::int32_t>(i)) == expected[i].path &&
           results.next[i] == expected[i].next;
  });
}

BenchBytes bench_bytes(const BenchShape& shape, std::span<const BenchMethod> methods) {
  constexpr std::uint64_t vector = 16;
  const TreeBatch tree = shape_batch(shape);
  const auto requests = static_cast<std::uint64_t>(shape.requests);
  const auto gamma = static_cast<std::uint64_t>(shape.gamma);
  const std::uint64_t row =
      static_cast<std::uint64_t>(shape.vocab) * static_cast<std::uint64_t>(dtype_bytes(shape.dtype));
  const std::int32_t draft_rows = tree.batch.certain_drafts() ? 0 : tree.draft_row_count();
  BenchBytes bytes;
  bytes.target = requests * (gamma + 1) * row;
  bytes.draft = requests * static_cast<std::uint64_t>(draft_rows) * row;
  bytes.copied = bytes.logits() / 2 / vector * vector;
  bytes.small = requests * (gamma * sizeof(Token) + sizeof(RandomAddress) + 3 * sizeof(std::int32_t));
  // Counts the path of each request, and four arrays for all requests: parents, ranks, draft rows and their
  // positions.
  if (tree.path != nullptr) bytes.small += (requests + 4) * gamma * sizeof(std::int32_t);
  for (const BenchMethod& method : methods) bytes.workspaces += layout_of(method, tree).workspace_bytes;
  return bytes;
}

}  // namespace speclab
