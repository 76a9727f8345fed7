#include "serving/advisor/tree_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/cost/speedup_curve.hpp"
#include "analysis/theory/tree_search.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "serving/advisor/memory_fit.hpp"

namespace speclab {

SPECLAB_RESULT(TreeRow, "tree", first, last, nodes, levels, top_k, tokens, speedup, chain_gamma,
               chain_speedup);
SPECLAB_RESULT(TreePlan, "tree plan", rank_shares, cost_from, batch, context, fits, fits_reason, best,
               parents, batches, settings, warnings);

namespace {

struct Candidate {
  OptimalTree tree;
  std::vector<int> expanded;  ///< nodes with children, by level; level 0 is the context
  int top_k = 0;

  int nodes() const { return static_cast<int>(tree.parents.size()); }
  int levels() const { return static_cast<int>(expanded.size()); }
};

Candidate candidate_of(OptimalTree tree) {
  Candidate found;
  const std::size_t nodes = tree.parents.size();
  std::vector<int> level(nodes, 0);
  std::vector<int> children(nodes + 1, 0);  // number of children; element 0 is the context
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

TreeCosts costs_at(const TreeQuestion& question, const Operation& at) {
  const double plain_ms = run_ms(question.costs.target, {1, at.batch, at.context});
  TreeCosts costs{{0}, {1}, draft_runs(question.costs) == DraftRuns::a_round};
  for (int n = 1; n <= question.max_nodes; ++n) {
    costs.verify.push_back(verify_cost(question.costs, n, at));
    costs.draft.push_back((costs.one_run ? drafting_ms(question.costs, n, at)
                                         : run_ms(question.costs.draft, {double(n), at.batch, at.context})) /
                          plain_ms);
  }
  return costs;
}

/// The fastest tree and chain; empty if drafting nothing is as fast.
struct BestTrees {
  std::optional<Candidate> tree;
  std::optional<Candidate> chain;
  double tree_speedup = 1;
  double chain_speedup = 1;
};

BestTrees best_at(TreeSearch& search, const TreeQuestion& question, const Operation& at) {
  BestTrees best;
  OptimalTree chain;
  for (int gamma = 1; gamma <= std::min(question.max_levels, question.max_nodes); ++gamma) {
    chain.parents.push_back(gamma - 2);
    chain.expected_tokens += std::pow(question.rank_shares.front(), gamma);
    const Candidate one = candidate_of(chain);
    const double speedup = speedup_of(one, question.costs, at);
    if (speedup <= best.chain_speedup) continue;
    best.chain = one;
    best.chain_speedup = speedup;
  }
  best.tree = best.chain;
  best.tree_speedup = best.chain_speedup;
  const Candidate found = candidate_of(search.best(costs_at(question, at)).tree);
  const double speedup = speedup_of(found, question.costs, at);
  if (speedup > best.tree_speedup) {
    best.tree = found;
    best.tree_speedup = speedup;
  }
  return best;
}

TreeRow row_of(const BestTrees& best, int batch) {
  TreeRow row{.first = batch,
              .last = batch,
              .speedup = best.tree_speedup,
              .chain_gamma = best.chain ? best.chain->nodes() : 0,
              .chain_speedup = best.chain_speedup};
  if (best.tree) {
    row.nodes = best.tree->nodes();
    row.levels = best.tree->levels();
    row.top_k = best.tree->top_k;
    row.tokens = best.tree->tree.expected_tokens;
  }
  return row;
}

/// Returns an earlier choice's speedup at this batch; empty if it loses more than little_loss.
std::optional<double> still_good(const std::optional<Candidate>& chosen, double best, const CostPair& costs,
                                 const Operation& at) {
  const double speedup = chosen ? speedup_of(*chosen, costs, at) : 1;
  return speedup >= (1 - little_loss) * best ? std::optional(speedup) : std::nullopt;
}

std::vector<TreeRow> rows_by_batch(TreeSearch& search, const TreeQuestion& question,
                                   const PlannedBatches& batches) {
  std::vector<TreeRow> rows;
  BestTrees chosen;
  for (int batch = batches.first; batch <= batches.last; ++batch) {
    const Operation at{double(batch), question.at.context};
    const BestTrees best = best_at(search, question, at);
    const auto tree = still_good(chosen.tree, best.tree_speedup, question.costs, at);
    const auto chain = still_good(chosen.chain, best.chain_speedup, question.costs, at);
    if (rows.empty() || !tree || !chain) {
      chosen = best;
      rows.push_back(row_of(best, batch));
    } else {
      rows.back().last = batch;
      rows.back().speedup = std::min(rows.back().speedup, *tree);
      rows.back().chain_speedup = std::min(rows.back().chain_speedup, *chain);
    }
  }
  return rows;
}

}  // namespace

TreePlan plan_tree(const TreeQuestion& question) {
  TreeSearch search(question.max_nodes, question.max_levels, question.rank_shares);
  TreePlan plan;
  plan.rank_shares = question.rank_shares;
  plan.cost_from = question.cost_from;
  plan.batch = question.at.batch;
  if (!known_costs(question.costs).measured()) plan.context = question.at.context;
  const BestTrees best = best_at(search, question, question.at);
  plan.best = row_of(best, static_cast<int>(question.at.batch));
  static_cast<MemoryFit&>(plan) =
      memory_fit(question.costs, question.at, question.memory_share, plan.best.nodes);
  append_notes(question.costs, plan.warnings);
  if (best.tree) {
    plan.parents.assign(best.tree->tree.parents.begin(), best.tree->tree.parents.end());
    const auto more = [](const char* what, int most, const char* option) {
      return fmt::format("The best tree has the most {} considered, {}: more may be better ({}).", what, most,
                         option);
    };
    if (plan.best.nodes == question.max_nodes) {
      plan.warnings.push_back(more("drafted tokens", question.max_nodes, "--max-nodes"));
    } else if (plan.best.levels == question.max_levels) {
      plan.warnings.push_back(more("levels", question.max_levels, "--max-levels"));
    }
    if (!plan.fits_reason) {
      ServedPlan served = served_plan(question, plan.best.levels);
      served.purpose = planned_load(fmt::format("a tree of {} drafted tokens", plan.best.nodes), std::nullopt,
                                    question, question.at);
      plan.settings = tree_settings(served, plan.best.nodes, plan.best.top_k, question.max_batch);
    }
  }
  plan.batches = rows_by_batch(search, question,
                               planned_batches(plan, question.costs, question.at.batch, question.max_batch));
  return plan;
}

}  // namespace speclab
