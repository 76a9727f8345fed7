// Compares trees planned by costs with the search for a tree at constant costs, with chains, and between
// batches.
#include "serving/advisor/tree_plan.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "analysis/theory/optimal_tree.hpp"
#include "analysis/theory/theorems.hpp"
#include "serving/advisor/presets.hpp"

using namespace speclab;

namespace {

TreeQuestion question_of(std::vector<double> shares, CostPair costs) {
  TreeQuestion question;
  question.rank_shares = std::move(shares);
  question.costs = std::move(costs);
  question.max_nodes = 24;
  question.max_levels = 6;
  return question;
}

CostPair on_device(const char* target, const char* draft) {
  Machine machine;
  machine.device = device_named("h100-sxm", "--device");
  machine.devices = 4;
  return {RooflineCost{machine, model_named(target, "--target")},
          RooflineCost{machine, model_named(draft, "--draft")}};
}

}  // namespace

TEST_CASE("at a constant cost of a draft run the tree is the one that the programme of Sequoia chooses") {
  for (const double c : {0.01, 0.05, 0.2, 0.5}) {
    const std::vector<double> shares{0.6, 0.15, 0.06, 0.02};
    // By measured times, verification takes longer with more nodes, and all draft runs take the same time.
    const MeasuredCost verifying(
        std::vector<MeasuredPoint>{{1, 1, 1}, {8, 1, 1.1}, {16, 1, 1.5}, {25, 1, 2.2}});
    const TreePlan plan = plan_tree(question_of(shares, {verifying, ConstantCost{c}}));
    const TreeChoice witness =
        best_tree_size(24, 6, shares, c, [&](std::int32_t nodes) { return verifying.ms(nodes + 1.0, 1); });
    CAPTURE(c);
    CHECK(plan.best.speedup == doctest::Approx(witness.tokens_per_time).epsilon(1e-12));
    CHECK(plan.best.nodes == static_cast<int>(witness.tree.parents.size()));
    CHECK(plan.best.levels == witness.depth);
    CHECK(plan.best.tokens == doctest::Approx(witness.tree.expected_tokens).epsilon(1e-12));
    CHECK(plan.best.speedup >= plan.best.chain_speedup);
  }
}

TEST_CASE("of first choices alone the tree is the best chain of Leviathan et al. 2023") {
  constexpr double alpha = 0.7;
  constexpr double c = 0.1;
  const TreePlan plan = plan_tree(question_of({alpha}, {ConstantCost{1}, ConstantCost{c}}));
  double best = 1;
  for (int gamma = 1; gamma <= 6; ++gamma)
    best = std::max(best, expected_tokens(alpha, gamma) / (gamma * c + 1));
  CHECK(plan.best.speedup == doctest::Approx(best).epsilon(1e-12));
  CHECK(plan.best.nodes == plan.best.chain_gamma);
  CHECK(plan.best.top_k == 1);
  CHECK(plan.batches.empty());  // no cost depends on the batch
}

TEST_CASE("a draft run over several nodes is paid for as such") {
  // A second sibling is accepted as often as the first, which favours wide trees. Drafting three tokens of a
  // sequence takes three times as long as drafting one.
  const MeasuredCost drafting(std::vector<MeasuredPoint>{{1, 1, 0.2}, {3, 1, 0.6}, {25, 1, 5}});
  const std::vector<double> shares{0.4, 0.4};
  const TreePlan dear = plan_tree(question_of(shares, {ConstantCost{1}, drafting}));
  const TreePlan cheap = plan_tree(question_of(shares, {ConstantCost{1}, ConstantCost{0.2}}));
  CHECK(dear.best.speedup < cheap.best.speedup);
  // Computes by hand the speedup of the plan's own tree.
  double draft_ms = 0;
  std::vector<int> level(dear.parents.size());
  for (int at = 0; at < dear.best.levels; ++at) {
    std::vector<int> expanded;
    for (std::size_t i = 0; i < dear.parents.size(); ++i) {
      const int parent = dear.parents[i];
      level[i] = parent < 0 ? 0 : level[static_cast<std::size_t>(parent)] + 1;
      if (level[i] == at && std::find(expanded.begin(), expanded.end(), parent) == expanded.end())
        expanded.push_back(parent);
    }
    draft_ms += drafting.ms(static_cast<double>(expanded.size()), 1);
  }
  CHECK(dear.best.speedup == doctest::Approx(dear.best.tokens / (1 + draft_ms)).epsilon(1e-12));
}

TEST_CASE("where drafting grows with the width the best tree is not the widest of its size") {
  // A draft run over 2 nodes takes 4 times as long as one over a single node. By hand: the context and its
  // likeliest child have three children each, which gives 1 + .95 + .4 * .95 tokens in the time 1 + 2 * .1.
  // Without this cost the best trees of 6 nodes would have two nodes with children in the first level; with
  // it they lose to three nodes in one level.
  const MeasuredCost verifying(std::vector<MeasuredPoint>{{1, 1, 10}, {8, 1, 10}});
  const MeasuredCost drafting(std::vector<MeasuredPoint>{{1, 1, 1}, {2, 1, 4}, {3, 1, 7}});
  TreeQuestion question = question_of({0.4, 0.35, 0.2}, {verifying, drafting});
  question.max_nodes = 6;
  question.max_levels = 2;
  const TreePlan plan = plan_tree(question);
  CHECK(plan.best.nodes == 6);
  CHECK(plan.best.speedup == doctest::Approx((1 + 0.95 + 0.4 * 0.95) / 1.2).epsilon(1e-12));
  CHECK(plan.parents == std::vector<int>{-1, -1, -1, 0, 0, 0});
}

TEST_CASE("trees shrink as the batch grows, and settings have their sizes") {
  TreeQuestion question = question_of({0.62, 0.14, 0.06, 0.03}, on_device("llama-3.1-70b", "llama-3.2-1b"));
  question.method = DraftMethod::eagle3;
  question.target = "org/target";
  question.draft = "org/head";
  const TreePlan plan = plan_tree(question);
  REQUIRE(plan.batches.size() > 2);
  CHECK(plan.batches.front().first == 1);
  for (std::size_t i = 1; i < plan.batches.size(); ++i) {
    CHECK(plan.batches[i].first == plan.batches[i - 1].last + 1);
    CHECK(plan.batches[i].nodes <= plan.batches[i - 1].nodes);
    // Tree and chain are within 1% of their best.
    CHECK(plan.batches[i].speedup >= 0.99 * plan.batches[i].chain_speedup);
  }
  CHECK(plan.batches.front().nodes > plan.batches.back().nodes);
  REQUIRE(plan.settings.size() == 2);
  const std::string sglang = plan.settings[0].lines[0];
  CHECK(sglang.find(fmt::format(
            "--speculative-num-steps {} --speculative-eagle-topk {} --speculative-num-draft-tokens {}",
            plan.best.levels, plan.best.top_k, plan.best.nodes + 1)) != std::string::npos);
  CHECK(plan.settings[1].lines[0].find(fmt::format("max_total_draft_tokens={}", plan.best.nodes)) !=
        std::string::npos);
  question.method = DraftMethod::ngram;
  CHECK(plan_tree(question).settings.empty());
  // The plan says so if it chose the largest tree considered.
  CHECK(plan.best.nodes == question.max_nodes);
  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0].find("--max-nodes") != std::string::npos);
}

TEST_CASE("where no tree pays the plan is plain decoding, without settings") {
  const TreePlan plan = plan_tree(question_of({0.3, 0.1}, {ConstantCost{1}, ConstantCost{0.9}}));
  CHECK(plan.best.nodes == 0);
  CHECK(plan.best.speedup == 1);
  CHECK(plan.settings.empty());
}
