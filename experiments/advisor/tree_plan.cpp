#include "experiments/advisor/tree_plan.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/cost/device_speed.hpp"
#include "analysis/cost/speedup_curve.hpp"
#include "analysis/theory/optimal_tree.hpp"
#include "experiments/advisor/memory_fit.hpp"
#include "experiments/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(TreeRow, "tree", first, last, nodes, levels, top_k, tokens, speedup, chain_gamma,
               chain_speedup);
SPECLAB_RESULT(TreePlan, "tree plan", rank_shares, cost_from, batch, context, fits, fits_reason, best,
               parents, batches, settings);

namespace {

struct Candidate {
  OptimalTree tree;
  std::vector<int> expanded;  ///< by level from 0, the context's: nodes that have children
  int top_k = 0;

  int nodes() const { return static_cast<int>(tree.parents.size()); }
  int levels() const { return static_cast<int>(expanded.size()); }
};

Candidate candidate_of(OptimalTree tree) {
  Candidate found;
  const std::size_t nodes = tree.parents.size();
  std::vector<int> level(nodes, 0);
  std::vector<int> children(nodes + 1, 0);  // of the context first
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto parent = static_cast<std::size_t>(tree.parents[i] + 1);
    level[i] = parent == 0 ? 1 : level[parent - 1] + 1;
    if (++children[parent] == 1) {
      const auto from = static_cast<std::size_t>(level[i] - 1);
      if (found.expanded.size() <= from) found.expanded.resize(from + 1, 0);
      ++found.expanded[from];
    }
    found.top_k = std::max(found.top_k, children[parent]);
  }
  for (const int wide : found.expanded) found.top_k = std::max(found.top_k, wide);
  found.tree = std::move(tree);
  return found;
}

/// The best tree of every number of nodes and levels: which one is best depends on costs, these do not.
std::vector<Candidate> candidates_of(const TreeQuestion& question) {
  std::vector<Candidate> all;
  for (int levels = 1; levels <= question.max_levels; ++levels) {
    for (int nodes = levels; nodes <= question.max_nodes; ++nodes) {
      Candidate found = candidate_of(optimal_tree(nodes, levels, question.rank_shares));
      // A tree of fewer levels or nodes is another candidate.
      if (found.levels() == levels && found.nodes() == nodes) all.push_back(std::move(found));
    }
  }
  return all;
}

double speedup_of(const Candidate& one, const CostPair& costs, const Operation& at) {
  double draft_ms = 0;
  if (draft_runs(costs) == DraftRuns::a_round) {
    draft_ms = drafting_ms(costs, one.levels(), at);
  } else {
    for (const int wide : one.expanded) draft_ms += run_ms(costs.draft, {double(wide), at.batch, at.context});
  }
  const double plain_ms = run_ms(costs.target, {1, at.batch, at.context});
  return one.tree.expected_tokens / (draft_ms / plain_ms + verify_cost(costs, one.nodes(), at));
}

struct BestTree {
  TreeRow row;
  const Candidate* tree = nullptr;  ///< none: plain decoding
};

/// Of equals the first: fewer levels, then fewer nodes.
BestTree best_at(const std::vector<Candidate>& candidates, const TreeQuestion& question,
                 const Operation& at) {
  BestTree best;
  for (const Candidate& one : candidates) {
    const double speedup = speedup_of(one, question.costs, at);
    const bool chain = one.nodes() == one.levels();
    if (chain && speedup > best.row.chain_speedup) {
      best.row.chain_speedup = speedup;
      best.row.chain_gamma = one.nodes();
    }
    if (speedup > best.row.speedup) {
      best.tree = &one;
      best.row.speedup = speedup;
    }
  }
  if (best.tree != nullptr) {
    best.row.nodes = best.tree->nodes();
    best.row.levels = best.tree->levels();
    best.row.top_k = best.tree->top_k;
    best.row.tokens = best.tree->tree.expected_tokens;
  }
  return best;
}

std::vector<TreeRow> rows_by_batch(const std::vector<Candidate>& candidates, const TreeQuestion& question) {
  double most = std::max<double>(question.max_batch, question.at.batch);
  if (const auto memory = device_memory(question.costs, question.at, question.memory_share)) {
    if (memory->largest_batch) most = std::min(most, std::max(*memory->largest_batch, 0.0));
  }
  std::vector<TreeRow> rows;
  for (int batch = 1; batch <= static_cast<int>(most); ++batch) {
    TreeRow row = best_at(candidates, question, {double(batch), question.at.context}).row;
    row.first = row.last = batch;
    TreeRow* const before = rows.empty() ? nullptr : &rows.back();
    if (before != nullptr && before->nodes == row.nodes && before->levels == row.levels &&
        before->top_k == row.top_k && before->chain_gamma == row.chain_gamma) {
      before->last = batch;
      before->speedup = std::min(before->speedup, row.speedup);
      before->chain_speedup = std::min(before->chain_speedup, row.chain_speedup);
    } else {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

TreePlan plan_tree(const TreeQuestion& question) {
  const std::vector<Candidate> candidates = candidates_of(question);
  TreePlan plan;
  plan.rank_shares = question.rank_shares;
  plan.cost_from = question.cost_from;
  plan.batch = question.at.batch;
  plan.context = question.at.context;
  if (const auto memory = memory_fit(question.costs, question.at, question.memory_share)) {
    plan.fits = memory->fits;
    if (!memory->fits) plan.fits_reason = memory->reason;
  }
  const BestTree best = best_at(candidates, question, question.at);
  plan.best = best.row;
  plan.best.first = plan.best.last = static_cast<int>(question.at.batch);
  if (best.tree != nullptr) {
    plan.parents.assign(best.tree->tree.parents.begin(), best.tree->tree.parents.end());
    if (plan.fits.value_or(true)) {
      ServedPlan served = served_plan(question.target, question.draft, question.method);
      served.gamma = plan.best.levels;
      plan.settings = tree_settings(served, plan.best.nodes, plan.best.top_k, question.max_batch);
    }
  }
  if (!constant(question.costs)) plan.batches = rows_by_batch(candidates, question);
  return plan;
}

}  // namespace speclab
