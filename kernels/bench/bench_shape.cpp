#include "kernels/bench/bench_shape.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace speclab {

namespace {

/// Some bytes, so that a pointer to them is not null.
alignas(16) constexpr unsigned char somewhere[16] = {};

template <class T>
T* anything() {
  return const_cast<T*>(reinterpret_cast<const T*>(somewhere));
}

DraftTree chain_of(std::int32_t nodes) {
  std::vector<std::int32_t> parents(static_cast<std::size_t>(nodes));
  std::iota(parents.begin(), parents.end(), -1);
  return DraftTree(std::move(parents));
}

/// Returns the tree of the `nodes` likeliest nodes (see DraftPlan); of equally likely nodes it takes those
/// found first.
DraftTree likeliest_tree(std::int32_t nodes) {
  constexpr double accepted = 0.6;
  struct Candidate {
    double probability;
    std::int32_t number;  ///< counts nodes in the order in which they were found
    std::int32_t parent;

    bool operator<(const Candidate& other) const {
      return std::tuple(probability, -number) < std::tuple(other.probability, -other.number);
    }
  };
  std::priority_queue<Candidate> candidates;
  std::int32_t found = 0;
  candidates.push({accepted, found++, -1});
  std::vector<std::int32_t> parents;
  while (parents.size() < static_cast<std::size_t>(nodes)) {
    const Candidate best = candidates.top();
    candidates.pop();
    const auto node = static_cast<std::int32_t>(parents.size());
    parents.push_back(best.parent);
    candidates.push({best.probability * (1 - accepted), found++, best.parent});  // the next sibling
    candidates.push({best.probability * accepted, found++, node});               // the first child
  }
  return DraftTree(std::move(parents));
}

}  // namespace

DraftPlan draft_plan(const BenchShape& shape) {
  DraftPlan plan;
  plan.tree = info_of(shape.workload).branches ? likeliest_tree(shape.gamma) : chain_of(shape.gamma);
  const auto nodes = static_cast<std::size_t>(shape.gamma);
  plan.draft_row.assign(nodes, 0);
  plan.rank.assign(nodes, 0);
  for (std::int32_t position = 0; position <= shape.gamma; ++position) {
    const std::vector<std::int32_t>& children = plan.tree.children(position - 1);
    if (children.empty()) continue;
    plan.draft_row[static_cast<std::size_t>(position)] = static_cast<std::int32_t>(plan.row_position.size());
    plan.row_position.push_back(position);
    std::int32_t rank = 0;
    for (const std::int32_t child : children) plan.rank[static_cast<std::size_t>(child)] = rank++;
  }
  return plan;
}

TreeBatch shape_batch(const BenchShape& shape) {
  const KernelWorkloadInfo& info = info_of(shape.workload);
  const std::int64_t row = shape.vocab;
  TreeBatch tree;
  VerifyBatch& batch = tree.batch;
  batch.requests = shape.requests;
  batch.gamma = shape.gamma;
  batch.vocab = shape.vocab;
  batch.target = {somewhere, shape.dtype, row * (shape.gamma + 1), row};
  batch.drafted = anything<const Token>();
  batch.addresses = anything<const RandomAddress>();
  batch.accepted = anything<std::int32_t>();
  batch.next = anything<Token>();
  batch.flags = anything<std::uint32_t>();
  // One number serves all rows.
  if (info.filters.top_k > 0) batch.top_k = {anything<const std::int32_t>(), nullptr, 0, 0};
  if (info.filters.top_p < 1) batch.top_p = {anything<const float>(), nullptr, 0, 0};
  if (info.filters.min_p > 0) batch.min_p = {anything<const float>(), nullptr, 0, 0};
  std::int32_t draft_rows = shape.gamma;
  if (info.branches) {
    // One tree serves all requests.
    tree.parents = {anything<const std::int32_t>(), nullptr, 0, 1};
    tree.path = anything<std::int32_t>();
    draft_rows = static_cast<std::int32_t>(draft_plan(shape).row_position.size());
    tree.draft_rows = draft_rows;
    if (!info.chosen) tree.draft_row = {anything<const std::int32_t>(), nullptr, 0, 1};
  }
  if (!info.chosen) batch.draft = {somewhere, shape.dtype, row * draft_rows, row};
  return tree;
}

BenchOutcome expected_outcome(std::int32_t gamma, double acceptance) {
  BenchOutcome expected;
  expected.leaves = 1;
  for (std::int32_t i = 0; i < gamma; ++i) {
    expected.tried += expected.leaves;
    expected.rejecting += expected.leaves * (1 - acceptance);
    expected.leaves *= acceptance;
    expected.accepted += expected.leaves;
  }
  expected.refused = expected.refusing = expected.rejecting;
  return expected;
}

void BenchResults::add(std::vector<std::int32_t> accepted_path, Token token) {
  accepted.push_back(static_cast<std::int32_t>(accepted_path.size()));
  next.push_back(token);
  accepted_path.resize(static_cast<std::size_t>(nodes), -1);
  path.insert(path.end(), accepted_path.begin(), accepted_path.end());
}

std::vector<std::int32_t> BenchResults::path_of(std::int32_t request) const {
  const auto at = static_cast<std::size_t>(request);
  if (accepted[at] < 0 || accepted[at] > nodes) return {};
  std::vector<std::int32_t> found(static_cast<std::size_t>(accepted[at]));
  if (path.empty()) {
    std::iota(found.begin(), found.end(), 0);
  } else {
    const auto first = path.begin() + std::ptrdiff_t{request} * nodes;
    std::copy_n(first, found.size(), found.begin());
  }
  return found;
}

BenchOutcome outcome_of(const DraftTree& tree, const BenchResults& results) {
  BenchOutcome found;
  const auto requests = static_cast<std::int32_t>(results.accepted.size());
  const double share = 1.0 / requests;
  for (std::int32_t request = 0; request < requests; ++request) {
    std::int32_t node = -1;
    for (const std::int32_t accepted : results.path_of(request)) {
      const std::vector<std::int32_t>& children = tree.children(node);
      const auto child = std::find(children.begin(), children.end(), accepted);
      if (child == children.end()) break;
      found.accepted += share;
      found.tried += share;
      found.refused += share * static_cast<double>(child - children.begin());
      found.refusing += child == children.begin() ? 0 : share;
      node = accepted;
    }
    const std::vector<std::int32_t>& children = tree.children(node);
    (children.empty() ? found.leaves : found.rejecting) += share;
    found.tried += children.empty() ? 0 : share;
    found.refusing += children.empty() ? 0 : share;
    found.refused += share * static_cast<double>(children.size());
  }
  return found;
}

}  // namespace speclab
